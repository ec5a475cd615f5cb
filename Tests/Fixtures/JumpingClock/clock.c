#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

// A library to load before others: the wall clock is an hour ahead at one look, and an hour behind
// at the next. If CLOCK_OFFSET is set, it is off by that many seconds. Clocks that can't be set
// don't change.

static long jump(void) {
  static atomic_uint looks;
  const char *offset = getenv("CLOCK_OFFSET");
  if (offset) return atol(offset);
  return atomic_fetch_add(&looks, 1) % 2 ? -3600 : 3600;
}

int clock_gettime(clockid_t clock, struct timespec *result) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(clock, result);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) result->tv_sec += jump();
  return code;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
  (void)zone;
  struct timespec now;
  int code = clock_gettime(CLOCK_REALTIME, &now);
  result->tv_sec = now.tv_sec;
  result->tv_usec = now.tv_nsec / 1000;
  return code;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
