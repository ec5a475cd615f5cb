#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// A library to load before others: names in a directory lose their capitals, as on a file system
// that folds case and lists folded names.

static const char *fold(int directory, const char *name, char *folded) {
  if (directory == AT_FDCWD) return name;
  int index = 0;
  for (; name[index] && index < PATH_MAX - 1; index++) folded[index] = (char)tolower(name[index]);
  folded[index] = 0;
  return folded;
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

int openat(int directory, const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  char name[PATH_MAX];
  return REAL(int, "openat", int, const char *, int, ...)(
      directory, fold(directory, path, name), flags, mode);
}

int mkdirat(int directory, const char *path, mode_t mode) {
  char name[PATH_MAX];
  return REAL(int, "mkdirat", int, const char *, mode_t)(
      directory, fold(directory, path, name), mode);
}

int fstatat(int directory, const char *path, struct stat *status, int flags) {
  char name[PATH_MAX];
  return REAL(int, "fstatat", int, const char *, struct stat *, int)(
      directory, fold(directory, path, name), status, flags);
}

int unlinkat(int directory, const char *path, int flags) {
  char name[PATH_MAX];
  return REAL(int, "unlinkat", int, const char *, int)(directory, fold(directory, path, name), flags);
}

int linkat(int directory, const char *path, int other, const char *link, int flags) {
  char name[PATH_MAX], folded[PATH_MAX];
  return REAL(int, "linkat", int, const char *, int, const char *, int)(
      directory, fold(directory, path, name), other, fold(other, link, folded), flags);
}

// openat2 has no function of its own: it is called by its number.
long syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long values[6];
  for (int index = 0; index < 6; index++) values[index] = va_arg(arguments, long);
  va_end(arguments);
  char name[PATH_MAX];
  if (number == SYS_openat2) values[1] = (intptr_t)fold((int)values[0], (char *)values[1], name);
  return REAL(long, "syscall", long, ...)(
      number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
