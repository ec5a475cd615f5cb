#pragma once

#include <sys/types.h>

/// Whether this process may run on a processor.
int scheduling_allows(int processor);

/// Lets a thread run on one processor only; returns 0, or -1 with `errno`.
int scheduling_place(pid_t thread, int processor);
