#ifndef CMIGRATION_FILES_H
#define CMIGRATION_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

/// Opens the file at `path`, following links but never out of `directory` (EXDEV).
int migration_open_beneath(int directory, const char *path, int flags);

/// Opens or makes the file at `path` beneath `directory`, following no link (ELOOP).
int migration_open_without_links(int directory, const char *path, int flags, mode_t mode);

/// Swaps two names in one step (renameat2 with RENAME_EXCHANGE).
int migration_rename_exchange(int fromDirectory, const char *from, int toDirectory, const char *to);

/// Renames without replacing an existing target (renameat2 with RENAME_NOREPLACE).
int migration_rename_exclusive(int fromDirectory, const char *from, int toDirectory, const char *to);

/// Returns the mount through which `file` was opened (statx with STATX_MNT_ID); ENOSYS if the
/// kernel doesn't know it.
int migration_mount_identifier(int file, uint64_t *identifier);

/// Flushes the file system that holds `file`.
int migration_sync_file_system(int file);

/// Opens an unnamed file in `directory`, deleted when it is closed.
int migration_open_unnamed(int directory, mode_t permissions);

/// Opens `path` with O_PATH, following links.
int migration_open_place(const char *path);

/// Makes a file in memory that only its owner may open, deleted when it is closed (memfd_create).
int migration_make_memory_file(void);

/// Makes a file that becomes readable once an event is raised (eventfd).
int migration_make_event(void);

/// Raises an event; it stays raised.
void migration_raise_event(int event);

/// Puts a read lock on byte `number` of `file`, which may be a directory, beside those of others
/// (F_OFD_SETLK).
int migration_mark(int file, off_t number);

/// Removes all such locks of this descriptor of `file`.
int migration_remove_marks(int file);

/// Whether another descriptor holds such a lock on byte `number` of `file`: 1, 0, or -1 for an
/// error.
int migration_is_marked_elsewhere(int file, off_t number);

/// Reads directory records (getdents64) into `buffer`.
ssize_t migration_read_directory(int directory, void *buffer, size_t capacity);

/// Lists the names of extended attributes of `file`, each ended by a zero byte.
ssize_t migration_list_attributes(int file, char *_Nullable names, size_t capacity);

/// Lists the names of extended attributes of what is at `path`, which may be a symbolic link.
ssize_t migration_list_link_attributes(const char *path, char *_Nullable names, size_t capacity);

/// Reads one extended attribute of `file`.
ssize_t migration_get_attribute(int file, const char *name, void *_Nullable value, size_t capacity);

/// Sets one extended attribute of `file`.
int migration_set_attribute(int file, const char *name, const void *_Nullable value, size_t count);

/// Removes one extended attribute of `file`.
int migration_remove_attribute(int file, const char *name);

#pragma clang assume_nonnull end
#endif
