#define _GNU_SOURCE
#include "sandbox.h"

#ifdef __linux__
#include <linux/capability.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: - Landlock

// The numbers and layouts of linux/landlock.h, which may be missing, or older than the kernel.
enum {
  landlock_create_ruleset = 444,
  landlock_add_rule = 445,
  landlock_restrict_self = 446,
  landlock_create_ruleset_version = 1,
  landlock_rule_path_beneath = 1,
};

struct path_beneath {
  uint64_t allowed_access;
  int32_t parent;
} __attribute__((packed));

int migration_landlock_version(void) {
  return (int)syscall(landlock_create_ruleset, NULL, 0, landlock_create_ruleset_version);
}

int migration_make_ruleset(const struct migration_ruleset *ruleset) {
  // An older kernel accepts a longer structure as long as the part that it doesn't know is zero.
  return (int)syscall(landlock_create_ruleset, ruleset, sizeof *ruleset, 0);
}

int migration_allow(int ruleset, int place, uint64_t access) {
  struct path_beneath rule = {.allowed_access = access, .parent = place};
  return (int)syscall(landlock_add_rule, ruleset, landlock_rule_path_beneath, &rule, 0);
}

int migration_restrict_self(int ruleset) {
  return (int)syscall(landlock_restrict_self, ruleset, 0);
}

// MARK: - Capabilities

int migration_limit_capabilities(void) {
  const uint32_t kept = 1 << CAP_CHOWN | 1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH
    | 1 << CAP_FOWNER | 1 << CAP_FSETID;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &header, data) < 0) return -1;
  // Without new privileges, the program gets no more than this.
  data[0].permitted &= kept;
  data[0].effective &= kept;
  data[1].permitted = data[1].effective = 0;
  data[0].inheritable = data[1].inheritable = 0;
  return (int)syscall(SYS_capset, &header, data);
}
#endif
