#define _GNU_SOURCE
#include "process.h"
#include "forked.h"
#include "grants.h"
#include "root.h"
#include "sandbox.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Between the forks and the program, only calls that are safe in a signal handler are made, because
// another thread of the host may have held any lock at the moment of the fork.

void migration_return_freed_memory(void) {
#ifdef __GLIBC__
  // Without it the threshold rises to the largest block that was freed (mallopt(3)).
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  // Each further arena reserves 64 MiB of addresses.
  struct rlimit addresses;
  bool is_limited =
    getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  if (is_limited) mallopt(M_ARENA_MAX, 1);
#endif
}

int migration_dumpable(void) { return prctl(PR_GET_DUMPABLE); }

int migration_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable); }

int migration_allowed_processors(void) {
  // The kernel refuses a mask that is smaller than its own (sched_getaffinity(2), 'EINVAL').
  for (int bits = CPU_SETSIZE; bits <= 1 << 20; bits *= 2) {
    cpu_set_t *mask = CPU_ALLOC(bits);
    if (mask == NULL) return -1;
    size_t size = CPU_ALLOC_SIZE(bits);
    int result = sched_getaffinity(0, size, mask);
    int error = errno;
    int count = result == 0 ? CPU_COUNT_S(size, mask) : -1;
    CPU_FREE(mask);
    if (result == 0 || error != EINVAL) return count;
  }
  return -1;
}

static void *pass(void *gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

int migration_try_threads(int count) {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  if (threads == NULL) return ENOMEM;
  int error = 0, started = 0;
  pthread_mutex_lock(&gate);
  while (started < count && error == 0) {
    error = pthread_create(&threads[started], NULL, pass, &gate);
    if (error == 0) started += 1;
  }
  pthread_mutex_unlock(&gate);
  for (int index = 0; index < started; index += 1) pthread_join(threads[index], NULL);
  free(threads);
  return error;
}

int migration_make_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int migration_make_sockets(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

// MARK: - The program

/// The descriptors of the program, and those that close when it starts.
enum {
  child_input,
  child_output,
  child_error,
  child_connection,
  child_grants,
  child_failures,
  child_group,
  child_ruleset,
};

static void write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text, strlen(text)) < 0) migration_fail(child_failures, "unshare");
  close(file);
}

/// Gives this process its own mounts, as a user other than root may have them.
static void enter_namespaces(const struct migration_program *program) {
  if (program->user_map == NULL) {
    if (unshare(CLONE_NEWNS) < 0) migration_fail(child_failures, "unshare");
  } else {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) migration_fail(child_failures, "unshare");
    // A host that holds keys can't be inspected, and its forks could then not write these files.
    int dumpable = migration_dumpable();
    if (dumpable == 0) migration_set_dumpable(1);
    write_file("/proc/self/uid_map", program->user_map);
    // Without this, no user but root may map a group (user_namespaces(7)).
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/gid_map", program->group_map);
    if (dumpable == 0) migration_set_dumpable(0);
  }
  // From now on, mounts on either side don't appear on the other.
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) migration_fail(child_failures, "mount");
}

/// Shows directories at other paths to this process only.
static void mount_directories(char *const *mounts) {
  for (; mounts[0] != NULL; mounts += 2) {
    if (mount(mounts[0], mounts[1], NULL, MS_BIND | MS_REC, NULL) < 0) migration_fail(child_failures, "mount");
  }
}

/// Gives this process its own root directory.
static void enter_root(const struct migration_program *program) {
  const char *call = migration_enter_root(program->directory, program->root);
  if (call != NULL) migration_fail(child_failures, call);
  // The old descriptor is of the former root, where the program could still change the mode.
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || dup2(null, child_input) < 0) migration_fail(child_failures, "mount");
  close(null);
}

/// Whether something was granted that can be shown and hidden.
static bool has_grants(const struct migration_program *program) {
  return program->root != NULL && program->grants[0] != NULL;
}

static void change_mounts(const struct migration_program *program, pid_t supervisor) {
  if (program->root == NULL && program->mounts[0] == NULL) return;
  enter_namespaces(program);
  if (program->root == NULL) return mount_directories(program->mounts);
  if (has_grants(program)) {
    const char *call = migration_offer_grants(program->grants, supervisor, child_grants);
    if (call != NULL) migration_fail(child_failures, call);
  }
  enter_root(program);
}

static void confine(const struct migration_program *program) {
  if (program->is_confined && migration_limit_capabilities() < 0) migration_fail(child_failures, "capset");
  if (program->ruleset >= 0 && migration_restrict_self(child_ruleset) < 0) {
    migration_fail(child_failures, "landlock_restrict_self");
  }
  if (program->is_filtered && migration_filter_self() < 0) migration_fail(child_failures, "seccomp");
}

/// Moves this process into the cgroup that bounds its memory and its number of processes.
static void enter_bounds(const struct migration_program *program) {
  if (program->group >= 0 && write(child_group, "0", 1) != 1) migration_fail(child_failures, "cgroup.procs");
  if (program->memory_limit > 0) {
    struct rlimit limit = {program->memory_limit, program->memory_limit};
    if (setrlimit(RLIMIT_DATA, &limit) < 0) migration_fail(child_failures, "setrlimit");
  }
  if (program->task_limit > 0) {
    struct rlimit limit = {program->task_limit, program->task_limit};
    if (setrlimit(RLIMIT_NPROC, &limit) < 0) migration_fail(child_failures, "setrlimit");
  }
}

static void set_limits(pid_t supervisor) {
  if (setpgid(0, 0) < 0) migration_fail(child_failures, "setpgid");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) migration_fail(child_failures, "prctl");
  if (getppid() != supervisor) _exit(127);
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) < 0) migration_fail(child_failures, "setrlimit");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) migration_fail(child_failures, "prctl");
}

static _Noreturn void run(const struct migration_program *program, int *files, pid_t supervisor) {
  unsigned count = program->ruleset >= 0 ? child_ruleset + 1 : child_ruleset;
  migration_keep_only(files, count, child_failures);
  // If nothing is granted, it is open on /dev/null.
  for (unsigned file = child_grants; file < count; file++) {
    if (fcntl((int)file, F_SETFD, FD_CLOEXEC) < 0) migration_fail(child_failures, "fcntl");
  }
  // This comes before the sandbox, which would forbid it. The signal for the parent's death comes
  // after the change of credentials, which clears it.
  change_mounts(program, supervisor);
  if (program->identity != NULL && migration_become(program->identity) < 0) {
    migration_fail(child_failures, "setresuid");
  }
  set_limits(supervisor);
  enter_bounds(program);
  if (chdir(program->directory) < 0) migration_fail(child_failures, "chdir");
  confine(program);
  sigset_t none;
  sigemptyset(&none);
  if (sigprocmask(SIG_SETMASK, &none, NULL) < 0) migration_fail(child_failures, "sigprocmask");
  execve(program->executable, program->arguments, program->environment);
  migration_fail(child_failures, "execve");
}

// MARK: - The supervisor

/// The descriptors of the supervisor; those from `host_failures` on belong to the program only.
enum {
  host_control = 3,
  host_signals,
  host_children,
  host_failures,
  host_connection,
  host_output,
  host_group,
  host_ruleset,
};

static void tell_host(int status) { send(host_control, &status, sizeof status, MSG_NOSIGNAL); }

static bool has_host_asked(void) {
  struct pollfd request = {.fd = host_control, .events = POLLIN};
  return poll(&request, 1, 0) > 0;
}

/// Collects the program's orphaned children; returns whether the program has ended, or must end.
static bool is_over(pid_t program) {
  for (;;) {
    siginfo_t ended = {.si_pid = 0};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) < 0) return true;
    if (ended.si_pid == 0) return false;
    if (ended.si_pid == program) return true;
    waitpid(ended.si_pid, NULL, 0);
    // Children may end faster than they are collected.
    if (has_host_asked()) return true;
  }
}

/// Collects processes that have ended and reports the program's status; returns whether any process
/// is left.
static bool collect(pid_t *program, int *program_status) {
  for (;;) {
    int status;
    pid_t process = waitpid(-1, &status, WNOHANG);
    if (process <= 0) return process == 0;
    if (process != *program) continue;
    tell_host(status);
    *program_status = status;
    *program = 0;
  }
}

static bool is_child(pid_t process) {
  siginfo_t info;
  return waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// Kills the children that the kernel lists: numbers with a space after each.
///
/// A number that is cut at the end of the buffer is killed in the next round.
static void kill_children(void) {
  char list[4096];
  ssize_t count = pread(host_children, list, sizeof list, 0);
  pid_t process = 0;
  for (ssize_t index = 0; index < count; index++) {
    if (list[index] >= '0' && list[index] <= '9') {
      process = process * 10 + (list[index] - '0');
      continue;
    }
    // /proc may belong to another process namespace, and so may the numbers.
    if (process > 0 && is_child(process)) kill(process, SIGKILL);
    process = 0;
  }
}

static void wait_for_signal(int timeout) {
  struct pollfd request = {.fd = host_signals, .events = POLLIN};
  struct signalfd_siginfo signal;
  if (poll(&request, 1, timeout) > 0) {
    while (read(host_signals, &signal, sizeof signal) > 0) continue;
  }
}

/// Kills until no process is left: orphans become children of this process.
static _Noreturn void finish(pid_t program) {
  // Kills a group as a whole, so that no process is born between two kills. A filtered program
  // can't leave its group, and the group's number stays taken until its first process is collected.
  kill(-program, SIGKILL);
  int status = 0;
  while (collect(&program, &status)) {
    kill_children();
    wait_for_signal(10);
  }
  tell_host(status);
  // If it ended unasked, the host might take it for another child of its own.
  struct pollfd request = {.fd = host_control, .events = POLLIN};
  while (poll(&request, 1, -1) < 0) continue;
  _exit(0);
}

static _Noreturn void watch(pid_t program) {
  while (!is_over(program)) {
    struct pollfd requests[] = {
      {.fd = host_control, .events = POLLIN},
      {.fd = host_signals, .events = POLLIN},
    };
    if (poll(requests, 2, -1) < 0) continue;
    if (requests[0].revents != 0) break;
    wait_for_signal(0);
  }
  finish(program);
}

/// Closes everything that belongs to the host: its locks must end when it ends.
static void leave_host(const struct migration_program *program) {
  int failures = program->failures;
  migration_reset_signals();
  // A session of its own: signals of a terminal don't reach it.
  if (setsid() < 0) migration_fail(failures, "setsid");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) migration_fail(failures, "prctl");
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) migration_fail(failures, "open");
  int signals = migration_open_signals();
  if (signals < 0) migration_fail(failures, "signalfd");
  int children = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (children < 0) migration_fail(failures, "open");
  int files[] = {
    null, null, null,
    [host_control] = program->control,
    [host_signals] = signals,
    [host_children] = children,
    [host_failures] = failures,
    [host_connection] = program->connection,
    [host_output] = program->output,
    // If there is none, its number is taken by a descriptor that reads nothing.
    [host_group] = program->group >= 0 ? program->group : null,
    [host_ruleset] = program->ruleset,
  };
  migration_keep_only(files, program->ruleset >= 0 ? host_ruleset + 1 : host_ruleset, host_failures);
}

static _Noreturn void supervise(const struct migration_program *program) {
  leave_host(program);
  pid_t supervisor = getpid();
  pid_t child = fork();
  if (child < 0) migration_fail(host_failures, "fork");
  if (child == 0) {
    int files[] = {
      0, host_output, host_output, host_connection, 0, host_failures, host_group, host_ruleset,
    };
    run(program, files, supervisor);
  }
  // The child does so too: whichever comes first, the child is in its own group before it can be
  // killed.
  setpgid(child, child);
  // This process must keep no descriptor or directory that hides the end of a stream or keeps a
  // file system mounted.
  if (syscall(SYS_close_range, host_failures, ~0U, 0) < 0 || chdir("/") < 0) finish(child);
  watch(child);
}

pid_t migration_start(const struct migration_program *program) {
  sigset_t all, before;
  sigfillset(&all);
  // Blocked as long as the supervisor lives, so that no handler of the host runs in it.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t supervisor = fork();
  if (supervisor == 0) supervise(program);
  int code = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return supervisor;
}
#endif

void migration_name_thread(const char *name) {
  prctl(PR_SET_NAME, name);
}
