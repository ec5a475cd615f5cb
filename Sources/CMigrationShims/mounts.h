#ifndef CMIGRATION_MOUNTS_H
#define CMIGRATION_MOUNTS_H

#ifdef __linux__
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

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

struct mount_attributes {
  uint64_t set;
  uint64_t cleared;
  uint64_t propagation;
  uint64_t namespace;
};

static inline bool close_to_writing(int mount, unsigned flags) {
  struct mount_attributes attributes = {.set = attribute_read_only};
  unsigned place = AT_EMPTY_PATH | flags;
  return syscall(call_mount_setattr, mount, "", place, &attributes, sizeof attributes) == 0;
}

/// Copies the mounts at `path`, relative to `directory`; the caller attaches the copy.
static inline int copy_mounts(int directory, const char *path, unsigned flags) {
  return (int)syscall(
    call_open_tree, directory, path, open_tree_clone | recursive | O_CLOEXEC | flags);
}

/// Attaches a copy at `path`, relative to `directory`.
static inline bool put_mount(int copy, int directory, const char *path) {
  return syscall(call_move_mount, copy, "", directory, path, move_mount_from_descriptor) == 0;
}
#endif
#endif
