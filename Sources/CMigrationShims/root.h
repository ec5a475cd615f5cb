#ifndef CMIGRATION_ROOT_H
#define CMIGRATION_ROOT_H

#pragma clang assume_nonnull begin

/// Makes a root directory for this process by `steps`; the process must have its own mounts.
/// Returns the call that failed, `mount` for failures that other users of mounts have too, or null.
///
/// A step is a word, the absolute path that it makes, and its source; a null pointer ends the
/// steps. `d` makes a directory, `f` an empty file, `l` a link. `r` and `w` show a file or a
/// directory read-only or writable. Nothing at `place`, an existing directory, is lost.
const char *_Nullable migration_enter_root(
  const char *place,
  char *_Nullable const *_Nonnull steps
);

#pragma clang assume_nonnull end
#endif
