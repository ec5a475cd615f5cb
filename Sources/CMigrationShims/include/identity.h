#ifndef CMIGRATION_IDENTITY_H
#define CMIGRATION_IDENTITY_H

#include <stddef.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

/// A user, with all their groups.
struct migration_identity {
  uid_t user;
  gid_t group;
  const gid_t *_Nullable groups;
  size_t group_count;
};

/// Checks as that user whether `path` may be accessed; only for root, and only for the calling
/// thread.
int migration_access_as(
  const struct migration_identity *identity,
  int directory,
  const char *path,
  int mode,
  int flags
);

/// Makes this process, which has one thread, run as that user for good.
int migration_become(const struct migration_identity *identity);

#pragma clang assume_nonnull end
#endif
