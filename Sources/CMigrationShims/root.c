#define _GNU_SOURCE
#include "root.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Only calls that are safe in a signal handler are made: the process is a copy of one with threads.

// The numbers and layouts of linux/mount.h, which may be older than the kernel.
enum {
  call_open_tree = 428,
  call_move_mount = 429,
  call_mount_setattr = 442,
  open_tree_clone = 1,
  move_mount_from_descriptor = 4,
  attribute_read_only = 1,
  recursive = 0x8000,
};

struct attributes {
  uint64_t set;
  uint64_t cleared;
  uint64_t propagation;
  uint64_t namespace;
};

enum { most_parts = 1024 };

static bool makes(char *const *step, char kind) { return step[0][0] == kind; }

static bool makes_part(char *const *step) { return makes(step, 'r') || makes(step, 'w'); }

static bool close_to_writing(int mount, unsigned flags) {
  struct attributes attributes = {.set = attribute_read_only};
  return syscall(call_mount_setattr, mount, "", AT_EMPTY_PATH | flags, &attributes, sizeof attributes)
    == 0;
}

/// Copies the mounts of all parts, while nothing hides one of them.
static const char *copy_parts(char *const *steps, int *copies) {
  unsigned count = 0;
  for (char *const *step = steps; step[0] != NULL; step += 3) {
    if (!makes_part(step)) continue;
    if (count == most_parts) {
      errno = E2BIG;
      return "open_tree";
    }
    unsigned flags = open_tree_clone | recursive | O_CLOEXEC;
    int copy = (int)syscall(call_open_tree, AT_FDCWD, step[2], flags);
    if (copy < 0) return "open_tree";
    if (makes(step, 'r') && !close_to_writing(copy, recursive)) return "mount_setattr";
    copies[count++] = copy;
  }
  return NULL;
}

static const char *make(int root, char *const *step, const int **copy) {
  const char *path = step[1] + 1;
  if (makes(step, 'd')) return mkdirat(root, path, 0755) < 0 ? "mount" : NULL;
  if (makes(step, 'l')) return symlinkat(step[2], root, path) < 0 ? "mount" : NULL;
  if (makes(step, 'f')) return mknodat(root, path, S_IFREG | 0444, 0) < 0 ? "mount" : NULL;
  int mount = *(*copy)++;
  if (syscall(call_move_mount, mount, "", root, path, move_mount_from_descriptor) < 0) {
    return "move_mount";
  }
  close(mount);
  return NULL;
}

/// Makes `root` the root of all mounts, so that nothing is above it, and lets go of the former one.
static const char *turn_to(int root) {
  if (fchdir(root) < 0) return "mount";
  if (syscall(SYS_pivot_root, ".", ".") < 0) return "pivot_root";
  if (umount2(".", MNT_DETACH) < 0) return "umount2";
  return chdir("/") < 0 ? "mount" : NULL;
}

const char *migration_enter_root(const char *place, char *const *steps) {
  int copies[most_parts];
  const char *failed = copy_parts(steps, copies);
  if (failed != NULL) return failed;
  if (mount("none", place, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0) return "mount";
  int root = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return "mount";
  mode_t mask = umask(0);
  const int *copy = copies;
  for (char *const *step = steps; step[0] != NULL && failed == NULL; step += 3) {
    failed = make(root, step, &copy);
  }
  umask(mask);
  if (failed != NULL) return failed;
  if (!close_to_writing(root, 0)) return "mount_setattr";
  failed = turn_to(root);
  close(root);
  return failed;
}
#endif
