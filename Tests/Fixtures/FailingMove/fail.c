#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

// A library to load before others: the first move is denied, and the second change of a mode fails.

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

int renameat2(int from, const char *name, int to, const char *new_name, unsigned int flags) {
  static int count;
  if (++count == 1) {
    errno = EACCES;
    return -1;
  }
  return REAL(int, "renameat2", int, const char *, int, const char *, unsigned int)(
      from, name, to, new_name, flags);
}

int fchmodat(int directory, const char *name, mode_t mode, int flags) {
  static int count;
  if (++count == 2) {
    errno = EIO;
    return -1;
  }
  return REAL(int, "fchmodat", int, const char *, mode_t, int)(directory, name, mode, flags);
}
