#ifndef CMIGRATION_SANDBOX_H
#define CMIGRATION_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The rights that a Landlock ruleset governs, as the kernel takes them; everything that no rule
/// allows is denied.
struct migration_ruleset {
  uint64_t file_access;
  uint64_t network_access;
  uint64_t scopes;
};

/// The version of Landlock's interface that this kernel has; -1 for none.
int migration_landlock_version(void);

/// Makes a Landlock ruleset and returns its descriptor.
int migration_make_ruleset(const struct migration_ruleset *ruleset);

/// Allows `access` to the file `place`, and to everything beneath it if it is a directory.
int migration_allow(int ruleset, int place, uint64_t access);

/// Confines this process for good to what the ruleset allows.
int migration_restrict_self(int ruleset);

/// Leaves a superuser's process only the privileges over files; call it when the process can't gain
/// new privileges.
int migration_limit_capabilities(void);

/// Whether this kernel can filter system calls and the filter knows this machine.
bool migration_can_filter(void);

/// Denies this process for good the system calls that reach beyond its files.
int migration_filter_self(void);

#pragma clang assume_nonnull end
#endif
