#ifndef CMIGRATION_DESCENDANTS_H
#define CMIGRATION_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// A child whose status is kept when it is collected.
struct migration_child {
  pid_t process;
  int status;
};

/// Whether `/proc` shows this process under its own number.
bool migration_sees_processes(void);

/// Ends all descendants of this process but `spared` and theirs, as `migration_end_descendants`
/// does, and keeps the status of `child`, which may be null.
bool migration_end_all(
  const pid_t *spared,
  size_t count,
  int limit,
  struct migration_child *child
);

#endif
