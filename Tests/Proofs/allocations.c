#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// A library to load before others: the allocations of a process are counted, and the one that has the
// number ALLOCATION_FAULT fails, with ALLOCATION_FAULT_LASTS=1 every one after it too. At a regular end
// the count is written to the file ALLOCATION_REPORT.
//
// The C library's own functions do the work, by the names that it keeps for those who replace them.

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_ulong count;
static unsigned long fault;
static int lasts;

__attribute__((constructor)) static void prepare(void) {
  const char *number = getenv("ALLOCATION_FAULT");
  const char *duration = getenv("ALLOCATION_FAULT_LASTS");
  lasts = duration && *duration == '1';
  fault = number ? strtoul(number, NULL, 10) : 0;
  // What the dynamic linker allocated is not counted.
  atomic_store(&count, 0);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("ALLOCATION_REPORT");
  if (!path) return;
  char text[32];
  int length = snprintf(text, sizeof text, "%lu\n", atomic_load(&count));
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, text, length) != length) unlink(path);
  close(file);
}

static int fails(void) {
  unsigned long number = atomic_fetch_add(&count, 1) + 1;
  if (!fault || number < fault || (number > fault && !lasts)) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) {
  return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  return fails() ? NULL : __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  // Freeing never fails.
  if (size == 0) return __libc_realloc(block, size);
  return fails() ? NULL : __libc_realloc(block, size);
}

void *reallocarray(void *block, size_t number, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(number, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(block, bytes);
}

void *memalign(size_t alignment, size_t size) {
  return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  void *made = memalign(alignment, size);
  if (!made) return ENOMEM;
  *block = made;
  return 0;
}
