#define _GNU_SOURCE
#include "root.h"

#ifdef __linux__
#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "mounts.h"

// Only calls that are safe in a signal handler are made: the process is a fork of one with threads.

enum { most_parts = 1024 };

static bool makes(char *const *step, char kind) { return step[0][0] == kind; }

static bool makes_part(char *const *step) { return makes(step, 'r') || makes(step, 'w'); }

/// Copies the mounts of all parts before any of them is hidden.
static const char *copy_parts(char *const *steps, int *copies) {
  unsigned count = 0;
  for (char *const *step = steps; step[0] != NULL; step += 3) {
    if (!makes_part(step)) continue;
    if (count == most_parts) {
      errno = E2BIG;
      return "open_tree";
    }
    int copy = copy_mounts(AT_FDCWD, step[2], 0);
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
  if (!put_mount(mount, root, path)) return "move_mount";
  close(mount);
  return NULL;
}

/// Makes `root` the root of all mounts, so that nothing is above it, and unmounts the former one.
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
