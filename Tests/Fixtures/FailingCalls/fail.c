#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

// A library to load before others: removing a name that holds FAIL_REMOVING fails, and listing extended
// attributes does with the number FAIL_LISTING.

int unlinkat(int directory, const char *name, int flags) {
  const char *failing = getenv("FAIL_REMOVING");
  if (failing && strstr(name, failing)) {
    errno = EIO;
    return -1;
  }
  int (*real)(int, const char *, int) = dlsym(RTLD_NEXT, "unlinkat");
  return real(directory, name, flags);
}

ssize_t flistxattr(int file, char *names, size_t size) {
  const char *failing = getenv("FAIL_LISTING");
  if (failing) {
    errno = atoi(failing);
    return -1;
  }
  ssize_t (*real)(int, char *, size_t) = dlsym(RTLD_NEXT, "flistxattr");
  return real(file, names, size);
}
