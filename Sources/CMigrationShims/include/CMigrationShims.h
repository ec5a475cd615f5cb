#ifndef CMIGRATION_SHIMS_H
#define CMIGRATION_SHIMS_H

// Calls that the C library's Swift module hides, or that belong to no portable module.

#include "files.h"
#include "guard.h"
#include "identity.h"
#include "output.h"
#include "piped.h"
#include "process.h"
#include "sandbox.h"

#endif
