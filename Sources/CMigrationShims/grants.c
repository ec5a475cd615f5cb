#define _GNU_SOURCE
#include "grants.h"

#ifdef __linux__
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "mounts.h"

// Only calls that are safe in a signal handler are made: the process is a fork of one with threads.

enum { most_grants = 64, hides = 0x80 };

struct grant {
  const char *path;
  bool is_writable;
  /// The granted file or directory, opened with O_PATH in the mounts of `grants.own`.
  int place;
  bool is_shown;
};

struct grants {
  struct grant list[most_grants];
  unsigned count;
  /// The namespace with the host's mounts, and that of the program.
  int own;
  int program;
};

static int show(const struct grants *all, const struct grant *grant) {
  if (setns(all->own, CLONE_NEWNS) < 0) return errno;
  int copy = copy_mounts(grant->place, "", AT_EMPTY_PATH);
  if (copy < 0) return errno;
  int error = 0;
  if (!grant->is_writable && !close_to_writing(copy, recursive)) error = errno;
  if (error == 0 && setns(all->program, CLONE_NEWNS) < 0) error = errno;
  if (error == 0 && !put_mount(copy, AT_FDCWD, grant->path)) error = errno;
  close(copy);
  return error;
}

static int hide(const struct grants *all, const struct grant *grant) {
  if (setns(all->program, CLONE_NEWNS) < 0) return errno;
  return umount2(grant->path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0 ? errno : 0;
}

static bool lies_in(const struct grant *inner, const struct grant *outer) {
  size_t length = strlen(outer->path);
  return strncmp(inner->path, outer->path, length) == 0 && inner->path[length] == '/';
}

/// Shows or hides a grant. Grants inside it that are shown stay shown, on top of it.
static int change(struct grants *all, unsigned index, bool is_shown) {
  if (index >= all->count) return EINVAL;
  struct grant *grant = &all->list[index];
  if (grant->is_shown == is_shown) return 0;
  for (unsigned inner = all->count; inner-- > index + 1;) {
    if (all->list[inner].is_shown && lies_in(&all->list[inner], grant)) {
      hide(all, &all->list[inner]);
    }
  }
  int error = is_shown ? show(all, grant) : hide(all, grant);
  if (error == 0) grant->is_shown = is_shown;
  for (unsigned inner = index + 1; inner < all->count; inner++) {
    struct grant *other = &all->list[inner];
    if (!other->is_shown || !lies_in(other, grant)) continue;
    // Its mount point may be gone; then it is hidden, as if it had been moved away.
    if (show(all, other) != 0) other->is_shown = false;
  }
  return error;
}

static _Noreturn void serve(struct grants *all, int socket, pid_t supervisor) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != supervisor) _exit(127);
  // If this process kept the program's descriptors, they would not close when the program closes them.
  if (syscall(SYS_close_range, 0, all->list[0].place - 1, 0) < 0) _exit(127);
  for (;;) {
    unsigned char request;
    ssize_t count = recv(socket, &request, sizeof request, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(0);
    int error = change(all, request & ~hides, (request & hides) == 0);
    send(socket, &error, sizeof error, MSG_NOSIGNAL);
  }
}

const char *migration_offer_grants(char *const *grants, pid_t supervisor, int end) {
  struct grants all = {.count = 0};
  for (; grants[0] != NULL; grants += 2) {
    if (all.count == most_grants) {
      errno = E2BIG;
      return "open";
    }
    int place = open(grants[1], O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0) return "open";
    all.list[all.count++] = (struct grant){
      .path = grants[1], .is_writable = grants[0][0] == 'w', .place = place};
  }
  all.own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (all.own < 0 || unshare(CLONE_NEWNS) < 0) return "unshare";
  all.program = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (all.program < 0) return "unshare";
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return "socketpair";
  pid_t keeper = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
  if (keeper < 0) return "fork";
  if (keeper == 0) {
    close(ends[0]);
    serve(&all, ends[1], supervisor);
  }
  if (dup2(ends[0], end) < 0) return "dup2";
  // The rest closes when the program starts.
  return NULL;
}
#endif
