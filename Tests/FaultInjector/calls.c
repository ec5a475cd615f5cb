#include "calls.h"

#include <string.h>
#include <sys/syscall.h>

const struct call calls[] = {
  {"openat", SYS_openat, 1},
  {"openat2", SYS_openat2, 1},
  {"newfstatat", SYS_newfstatat, 1},
  {"close", SYS_close, -1},
  {"copy_file_range", SYS_copy_file_range, -1},
  {"fallocate", SYS_fallocate, -1},
  {"fchmod", SYS_fchmod, -1},
  {"fchmodat", SYS_fchmodat, 1},
  {"fchmodat2", 452, 1},
  {"fcntl", SYS_fcntl, -1},
  {"fdatasync", SYS_fdatasync, -1},
  {"fgetxattr", SYS_fgetxattr, -1},
  {"flistxattr", SYS_flistxattr, -1},
  {"flock", SYS_flock, -1},
  {"fsetxattr", SYS_fsetxattr, -1},
  {"fstat", SYS_fstat, -1},
  {"fstatfs", SYS_fstatfs, -1},
  {"fsync", SYS_fsync, -1},
  {"ftruncate", SYS_ftruncate, -1},
  {"getcwd", SYS_getcwd, -1},
  {"getdents64", SYS_getdents64, -1},
  {"ioctl", SYS_ioctl, -1},
  {"lgetxattr", SYS_lgetxattr, 0},
  {"linkat", SYS_linkat, 1},
  {"llistxattr", SYS_llistxattr, 0},
  {"lseek", SYS_lseek, -1},
  {"lsetxattr", SYS_lsetxattr, 0},
  {"mkdirat", SYS_mkdirat, 1},
  {"pread64", SYS_pread64, -1},
  {"pwrite64", SYS_pwrite64, -1},
  {"pwritev", SYS_pwritev, -1},
  {"read", SYS_read, -1},
  {"readlinkat", SYS_readlinkat, 1},
  {"readv", SYS_readv, -1},
  {"renameat", SYS_renameat, 1},
  {"renameat2", SYS_renameat2, 1},
  {"sendfile", SYS_sendfile, -1},
  {"statx", SYS_statx, 1},
  {"symlinkat", SYS_symlinkat, 0},
  {"syncfs", SYS_syncfs, -1},
#ifdef SYS_unlink
  {"unlink", SYS_unlink, 0},
#endif
  {"unlinkat", SYS_unlinkat, 1},
  {"utimensat", SYS_utimensat, 1},
  {"write", SYS_write, -1},
  {"writev", SYS_writev, -1},
};

const int call_count = sizeof calls / sizeof calls[0];

int find_call(int number) {
  for (int index = 0; index < call_count; index++) {
    if (calls[index].number == number) return index;
  }
  return -1;
}

int find_call_named(const char *name) {
  for (int index = 0; index < call_count; index++) {
    if (strcmp(calls[index].name, name) == 0) return index;
  }
  return -1;
}
