#define _GNU_SOURCE
#include "guard.h"
#include "descendants.h"
#include "forked.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Like the supervisor of programs, the guard only makes calls that are safe in a signal handler.

/// The descriptors of the shell, and one that closes when it starts.
enum { shell_input, shell_output, shell_error, shell_failures, shell_files };

/// The descriptors of the guard; those from `guard_failures` on are the shell's alone.
enum {
  guard_control = 3,
  guard_signals,
  guard_held,
  guard_failures,
  guard_stream,
  guard_output,
  guard_files,
};

static void tell_host(int word, int status) {
  struct migration_guard_message message = {.word = word, .status = status};
  send(guard_control, &message, sizeof message, MSG_NOSIGNAL);
}

static _Noreturn void run_shell(const struct migration_guarded *guarded) {
  bool reads = guarded->held >= 0;
  // All numbers from 0 to 2 are open on /dev/null here.
  int files[] = {
    reads ? guard_stream : 0, reads ? guard_output : guard_stream, guard_output, guard_failures,
  };
  migration_keep_only(files, shell_files, shell_failures);
  if (fcntl(shell_failures, F_SETFD, FD_CLOEXEC) < 0) migration_fail(shell_failures, "fcntl");
  if (setpgid(0, 0) < 0) migration_fail(shell_failures, "setpgid");
  sigset_t none;
  sigemptyset(&none);
  if (sigprocmask(SIG_SETMASK, &none, NULL) < 0) migration_fail(shell_failures, "sigprocmask");
  char *arguments[] = {"sh", "-c", (char *)guarded->command, NULL};
  execve("/bin/sh", arguments, guarded->environment);
  migration_fail(shell_failures, "execve");
}

static _Noreturn void end_command(struct migration_child *shell) {
  migration_end_all(NULL, 0, -1, shell);
  tell_host(migration_command_over, shell->status);
  // The stream ends here, and no process is left to see it.
  _exit(0);
}

/// Collects processes that have ended; returns whether any are left.
static bool collect(struct migration_child *shell) {
  for (;;) {
    int status;
    pid_t process = waitpid(-1, &status, WNOHANG);
    if (process == shell->process && process > 0) {
      *shell = (struct migration_child){0, status};
    } else if (process <= 0) {
      return process == 0;
    }
  }
}

static _Noreturn void watch(struct migration_child shell) {
  bool is_complete = false;
  while (collect(&shell)) {
    struct pollfd requests[] = {
      {.fd = guard_control, .events = POLLIN},
      {.fd = guard_signals, .events = POLLIN},
    };
    if (poll(requests, 2, -1) < 0) continue;
    struct signalfd_siginfo signal;
    while (read(guard_signals, &signal, sizeof signal) > 0) continue;
    if (requests[0].revents == 0) continue;
    char word = 0;
    ssize_t count = recv(guard_control, &word, 1, 0);
    if (count == 1 && word == migration_stream_complete) {
      is_complete = true;
      close(guard_held);
      tell_host(migration_stream_closed, 0);
    } else if (count <= 0 && is_complete) {
      // The command has the whole stream, and nobody waits for its end.
      _exit(0);
    } else {
      end_command(&shell);
    }
  }
  tell_host(migration_command_over, shell.status);
  _exit(0);
}

/// Closes everything that belongs to the host.
static void leave_host(const struct migration_guarded *guarded) {
  int failures = guarded->failures;
  migration_reset_signals();
  // A session of its own: signals of a terminal or to the host's group don't reach it.
  if (setsid() < 0) migration_fail(failures, "setsid");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) migration_fail(failures, "prctl");
  if (!migration_sees_processes()) {
    errno = ENOENT;
    migration_fail(failures, "readlink /proc/self");
  }
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) migration_fail(failures, "open");
  int signals = migration_open_signals();
  if (signals < 0) migration_fail(failures, "signalfd");
  int files[guard_files] = {
    null, null, null,
    [guard_control] = guarded->control,
    [guard_signals] = signals,
    [guard_held] = guarded->held >= 0 ? guarded->held : null,
    [guard_failures] = failures,
    [guard_stream] = guarded->stream,
    [guard_output] = guarded->output,
  };
  migration_keep_only(files, guard_files, guard_failures);
}

static _Noreturn void guard(const struct migration_guarded *guarded) {
  leave_host(guarded);
  struct migration_child shell = {.process = fork()};
  if (shell.process < 0) migration_fail(guard_failures, "fork");
  if (shell.process == 0) run_shell(guarded);
  setpgid(shell.process, shell.process);
  // If the guard kept these ends of the stream and of the messages, it would not notice that the
  // command closed its own.
  if (syscall(SYS_close_range, guard_failures, ~0U, 0) < 0) end_command(&shell);
  watch(shell);
}

pid_t migration_guard(const struct migration_guarded *guarded) {
  sigset_t all, before;
  sigfillset(&all);
  // Blocked as long as the guard lives, so that no handler of the host runs in it.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t process = fork();
  if (process == 0) guard(guarded);
  int code = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return process;
}
#endif
