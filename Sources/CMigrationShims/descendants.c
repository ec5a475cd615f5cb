#define _GNU_SOURCE
#include "descendants.h"
#include "guard.h"

#ifdef __linux__
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A forked process calls these too, so they only make calls that are safe in a signal handler, and
// allocate no memory.

struct place {
  pid_t parent;
  char state;
};

struct search {
  pid_t self;
  const pid_t *spared;
  size_t count;
  struct migration_child *child;
  /// The signal that every descendant gets.
  int signal;
};

static size_t put_number(char *text, unsigned number) {
  char digits[10];
  size_t count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  for (size_t index = 0; index < count; index++) text[index] = digits[count - 1 - index];
  return count;
}

/// Reads the parent and the state of a process; returns whether the process exists.
static bool read_place(pid_t process, struct place *place) {
  char path[32] = "/proc/";
  size_t length = 6 + put_number(path + 6, (unsigned)process);
  for (const char *end = "/stat"; *end; end++) path[length++] = *end;
  path[length] = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[512];
  ssize_t count = read(file, text, sizeof text);
  close(file);
  // The name before them, in parentheses, may contain any character.
  ssize_t index = count - 1;
  while (index >= 0 && text[index] != ')') index--;
  if (index < 0 || index + 4 >= count) return false;
  place->state = text[index + 2];
  place->parent = 0;
  for (index += 4; index < count && text[index] >= '0' && text[index] <= '9'; index++) {
    place->parent = place->parent * 10 + (text[index] - '0');
  }
  return true;
}

static bool is_descendant(const struct search *search, pid_t process, struct place *place) {
  if (process == search->self || !read_place(process, place)) return false;
  struct place above = *place;
  for (pid_t ancestor = process;;) {
    for (size_t index = 0; index < search->count; index++) {
      if (search->spared[index] == ancestor) return false;
    }
    ancestor = above.parent;
    if (ancestor == search->self) return true;
    if (ancestor <= 1 || !read_place(ancestor, &above)) return false;
  }
}

/// Sends the signal to exactly this process: another process may have its number by now.
static void send_signal(const struct search *search, pid_t process) {
  int file = (int)syscall(SYS_pidfd_open, process, 0);
  struct place place;
  // Kernels before 5.3 have no descriptors for processes.
  if (file < 0 && is_descendant(search, process, &place)) kill(process, search->signal);
  if (file < 0) return;
  if (is_descendant(search, process, &place)) {
    syscall(SYS_pidfd_send_signal, file, search->signal, NULL, 0);
  }
  close(file);
}

static void collect(const struct search *search, pid_t process) {
  int status;
  if (waitpid(process, &status, WNOHANG) != process) return;
  struct migration_child *child = search->child;
  if (child != NULL && child->process == process) *child = (struct migration_child){0, status};
}

/// Whether the signal has not taken effect yet.
static bool is_left(const struct search *search, const struct place *place) {
  bool has_ended = place->state == 'Z' || place->state == 'X';
  if (search->signal == SIGKILL) return !has_ended || place->parent == search->self;
  return !has_ended && place->state != 'T' && place->state != 't';
}

/// Goes once through all processes; returns whether a descendant is left.
static bool pass(const struct search *search) {
  int directory = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return true;
  bool any = false;
  _Alignas(8) char records[8192];
  long count;
  while ((count = syscall(SYS_getdents64, directory, records, sizeof records)) > 0) {
    for (long offset = 0; offset < count;) {
      // linux_dirent64 (getdents(2)): the length at 16, the name at 19.
      const char *record = records + offset;
      const char *name = record + 19;
      offset += *(const uint16_t *)(const void *)(record + 16);
      pid_t process = 0;
      while (*name >= '0' && *name <= '9') process = process * 10 + (*name++ - '0');
      struct place place;
      if (*name != 0 || process == 0 || !is_descendant(search, process, &place)) continue;
      if (place.state == 'Z' && place.parent == search->self) collect(search, process);
      // A process whose first thread has ended is in that state too, so it gets the signal.
      bool is_left_now = is_left(search, &place);
      if (is_left_now || place.state == 'Z') send_signal(search, process);
      any = any || is_left_now;
    }
  }
  close(directory);
  return any;
}

static int64_t milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// A process that can't be stopped in this time is inside a system call, and stops at its end.
static const int64_t stop_limit = 1000;

bool migration_end_all(
  const pid_t *spared,
  size_t count,
  int limit,
  struct migration_child *child
) {
  int64_t begin = milliseconds();
  struct search search = {getpid(), spared, count, child, SIGSTOP};
  while (pass(&search) && milliseconds() - begin < stop_limit) poll(NULL, 0, 1);
  search.signal = SIGKILL;
  while (pass(&search)) {
    if (limit >= 0 && milliseconds() - begin > limit) return false;
    poll(NULL, 0, 1);
  }
  return true;
}

bool migration_end_descendants(const pid_t *spared, size_t count, int limit) {
  return migration_end_all(spared, count, limit, NULL);
}

bool migration_sees_processes(void) {
  char text[16];
  char number[16];
  ssize_t count = readlink("/proc/self", text, sizeof text);
  size_t length = put_number(number, (unsigned)getpid());
  if (count != (ssize_t)length) return false;
  for (size_t index = 0; index < length; index++) {
    if (text[index] != number[index]) return false;
  }
  return true;
}

int migration_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1); }
#endif
