#ifndef CSAMPLE_SHIMS_H
#define CSAMPLE_SHIMS_H

#include <stddef.h>

#pragma clang assume_nonnull begin

/// Sets one extended attribute of the entry at `path`; a symbolic link is not followed.
int sample_set_attribute(
    const char *path, const char *name, const void *_Nullable value, size_t count);

#pragma clang assume_nonnull end
#endif
