#define _GNU_SOURCE
#include "include/piped.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "forked.h"

/// Gives every signal that isn't ignored its default effect, and also SIGPIPE and SIGXFSZ, which
/// the command ignores.
static void take_signals(void) {
  for (int number = 1; number < NSIG; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) < 0) continue;
    bool is_of_writes = number == SIGPIPE || number == SIGXFSZ;
    if (action.sa_handler == SIG_IGN && !is_of_writes) continue;
    signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void
become(char *const *arguments, const int *files, unsigned count, int failures, pid_t parent) {
  // Above the numbers that are given out.
  int teller = fcntl(failures, F_DUPFD_CLOEXEC, (int)count);
  if (teller < 0) migration_fail(failures, "fcntl");
  int moved[8];
  for (unsigned index = 0; index < count; index++) {
    moved[index] = fcntl(files[index], F_DUPFD_CLOEXEC, (int)count);
    if (moved[index] < 0) migration_fail(teller, "fcntl");
  }
  for (unsigned index = 0; index < count; index++) {
    if (dup2(moved[index], (int)index) < 0) migration_fail(teller, "dup2");
  }
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0) migration_fail(teller, "prctl");
  // The parent may have ended before this process asked for the signal.
  if (getppid() != parent) _exit(127);
  take_signals();
  execvp(arguments[0], arguments);
  migration_fail(teller, "execvp");
}

pid_t migration_start_piped(
  char *const *arguments,
  const int *files,
  unsigned count,
  int failures
) {
  if (count > 8) {
    errno = EINVAL;
    return -1;
  }
  sigset_t all, before;
  sigfillset(&all);
  // Blocked until the program begins, so that no handler of this process runs in it.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = getpid();
  pid_t process = fork();
  if (process == 0) become(arguments, files, count, failures, parent);
  int code = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return process;
}
#endif
