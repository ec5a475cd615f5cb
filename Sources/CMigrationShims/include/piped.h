#ifndef CMIGRATION_PIPED_H
#define CMIGRATION_PIPED_H

#include <sys/types.h>

#pragma clang assume_nonnull begin

/// Starts a program, found by `PATH`, that gets `SIGTERM` when the calling thread ends; returns its
/// process.
///
/// It stays in the process group and on the terminal of this process, and begins with no signal
/// blocked. The `count` descriptors in `files` become its first ones; it inherits the others. If it
/// can't be started, a `migration_failure` is written to `failures`.
pid_t migration_start_piped(
  char *_Nullable const *_Nonnull arguments,
  const int *files,
  unsigned count,
  int failures
);

#pragma clang assume_nonnull end
#endif
