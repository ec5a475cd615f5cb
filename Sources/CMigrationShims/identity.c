#define _GNU_SOURCE
#include "identity.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// The C library's calls change all threads of a process; the kernel's change only the calling
// thread.

int migration_become(const struct migration_identity *identity) {
  if (syscall(SYS_setgroups, identity->group_count, identity->groups) < 0) return -1;
  gid_t group = identity->group;
  if (syscall(SYS_setresgid, group, group, group) < 0) return -1;
  uid_t user = identity->user;
  return (int)syscall(SYS_setresuid, user, user, user);
}

/// Gives this thread a user's rights to files; a superuser's rights go with the number.
static int enter(uid_t user, gid_t group, const gid_t *groups, size_t count) {
  if (syscall(SYS_setgroups, count, groups) < 0) return -1;
  syscall(SYS_setfsgid, group);
  syscall(SYS_setfsuid, user);
  // These calls return the previous number, and report no failure.
  if (syscall(SYS_setfsuid, -1) == (long)user && syscall(SYS_setfsgid, -1) == (long)group) return 0;
  errno = EPERM;
  return -1;
}

int migration_access_as(
  const struct migration_identity *identity,
  int directory,
  const char *path,
  int mode,
  int flags
) {
  int count = getgroups(0, NULL);
  if (count < 0) return -1;
  gid_t *before = calloc((size_t)count + 1, sizeof *before);
  if (before == NULL) return -1;
  count = getgroups(count, before);
  int result = -1;
  if (count >= 0) {
    result = enter(identity->user, identity->group, identity->groups, identity->group_count);
    if (result == 0) {
      result = (int)syscall(SYS_faccessat2, directory, path, mode, flags | AT_EACCESS);
    }
    int code = errno;
    // A thread that can't return to its own user must not continue.
    if (enter(geteuid(), getegid(), before, (size_t)count) < 0) abort();
    errno = code;
  }
  free(before);
  return result;
}
#endif
