#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#ifdef __linux__
#include <linux/openat2.h>

int migration_open_beneath(int directory, const char *path, int flags) {
  struct open_how how = {
      .flags = (unsigned)flags | O_CLOEXEC,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
  };
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int migration_open_without_links(int directory, const char *path, int flags, mode_t mode) {
  struct open_how how = {
      .flags = (unsigned)flags | O_CLOEXEC,
      .mode = mode,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
  };
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int migration_rename_exchange(int fromDirectory, const char *from, int toDirectory, const char *to) {
  return renameat2(fromDirectory, from, toDirectory, to, RENAME_EXCHANGE);
}

int migration_rename_exclusive(int fromDirectory, const char *from, int toDirectory, const char *to) {
  return renameat2(fromDirectory, from, toDirectory, to, RENAME_NOREPLACE);
}

int migration_mount_identifier(int file, uint64_t *identifier) {
#ifdef STATX_MNT_ID
  struct statx status;
  if (statx(file, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0) return -1;
  if (status.stx_mask & STATX_MNT_ID) {
    *identifier = status.stx_mnt_id;
    return 0;
  }
#endif
  errno = ENOSYS;
  return -1;
}

int migration_sync_file_system(int file) { return syncfs(file); }

int migration_open_unnamed(int directory, mode_t permissions) {
  return openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, permissions);
}

int migration_open_place(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int migration_make_memory_file(void) {
  int file = memfd_create("migration", MFD_CLOEXEC);
  // Programs refuse a private key that others can read.
  if (file >= 0) fchmod(file, S_IRUSR | S_IWUSR);
  return file;
}

int migration_make_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void migration_raise_event(int event) {
  // It fails only if the counter is at its limit, and then the event is raised already.
  (void)!eventfd_write(event, 1);
}

int migration_mark(int file, off_t number) {
  struct flock range = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = number, .l_len = 1};
  return fcntl(file, F_OFD_SETLK, &range);
}

int migration_remove_marks(int file) {
  struct flock range = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  return fcntl(file, F_OFD_SETLK, &range);
}

int migration_is_marked_elsewhere(int file, off_t number) {
  // A read lock conflicts only with a write lock.
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = number, .l_len = 1};
  if (fcntl(file, F_OFD_GETLK, &range) == -1) return -1;
  return range.l_type != F_UNLCK;
}

ssize_t migration_read_directory(int directory, void *buffer, size_t capacity) {
  return syscall(SYS_getdents64, directory, buffer, capacity);
}

ssize_t migration_list_attributes(int file, char *names, size_t capacity) {
  return flistxattr(file, names, capacity);
}

ssize_t migration_list_link_attributes(const char *path, char *names, size_t capacity) {
  return llistxattr(path, names, capacity);
}

ssize_t migration_get_attribute(int file, const char *name, void *value, size_t capacity) {
  return fgetxattr(file, name, value, capacity);
}

int migration_set_attribute(int file, const char *name, const void *value, size_t count) {
  return fsetxattr(file, name, value, count, 0);
}

int migration_remove_attribute(int file, const char *name) { return fremovexattr(file, name); }
#endif
