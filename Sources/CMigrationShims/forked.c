#define _GNU_SOURCE
#include "forked.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"

_Noreturn void migration_fail(int failures, const char *call) {
  struct migration_failure failure = {.call = call, .code = errno};
  ssize_t count = write(failures, &failure, sizeof failure);
  _exit(count < 0 ? 126 : 127);
}

void migration_keep_only(int *files, unsigned count, unsigned failures) {
  int teller = files[failures];
  // Above the numbers that are given out first.
  for (unsigned index = 0; index < count; index++) {
    files[index] = fcntl(files[index], F_DUPFD_CLOEXEC, (int)count);
    if (files[index] < 0) migration_fail(teller, "fcntl");
  }
  for (unsigned index = 0; index < count; index++) {
    if (dup2(files[index], (int)index) < 0) migration_fail(files[failures], "dup2");
  }
  if (syscall(SYS_close_range, count, ~0U, 0) < 0) migration_fail((int)failures, "close_range");
}

void migration_reset_signals(void) {
  // Zeros mean the default in the kernel's structure on every machine.
  static const unsigned long action[8];
  for (int number = 1; number < NSIG; number++) {
    syscall(SYS_rt_sigaction, number, action, NULL, (NSIG - 1) / 8);
  }
}

int migration_open_signals(void) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  return signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
}
#endif
