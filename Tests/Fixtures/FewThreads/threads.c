#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// A library to load before others: of the process's threads, besides the first, no more than
// THREAD_LIMIT run at once, and the program itself, apart from libraries, starts no more than
// THREAD_STARTS. Like the system, it refuses further threads with EAGAIN.

static atomic_int running;

struct work {
  void *(*routine)(void *);
  void *argument;
};

static void finish(void *argument) {
  (void)argument;
  atomic_fetch_sub(&running, 1);
}

static void *run(void *argument) {
  struct work work = *(struct work *)argument;
  free(argument);
  void *result;
  pthread_cleanup_push(finish, NULL);
  result = work.routine(work.argument);
  pthread_cleanup_pop(1);
  return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                   void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!real) {
    real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
        RTLD_NEXT, "pthread_create");
  }
  static atomic_int started;
  const char *starts = getenv("THREAD_STARTS");
  Dl_info caller;
  if (starts && dladdr(__builtin_return_address(0), &caller) &&
      strcmp(caller.dli_fname, program_invocation_name) == 0 &&
      atomic_fetch_add(&started, 1) >= atoi(starts)) {
    return EAGAIN;
  }
  const char *limit = getenv("THREAD_LIMIT");
  if (limit && atomic_fetch_add(&running, 1) >= atoi(limit)) {
    atomic_fetch_sub(&running, 1);
    return EAGAIN;
  }
  struct work *work = malloc(sizeof *work);
  *work = (struct work){routine, argument};
  return real(thread, attributes, run, work);
}
