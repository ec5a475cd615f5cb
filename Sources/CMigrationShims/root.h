#ifndef CMIGRATION_ROOT_H
#define CMIGRATION_ROOT_H

#pragma clang assume_nonnull begin

/// Makes what `steps` say the root directory of this process, which has mounts of its own; returns
/// the call that failed, `mount` for those that others fail by too, or null.
///
/// A step is a word, the absolute path that it makes, and what it makes it of; a null pointer ends
/// them. `d` makes a directory, `f` an empty file, `l` a link, `r` and `w` show a file or a directory
/// that can't, or can, be written. Nothing at `place`, an existing directory, is lost.
const char *_Nullable migration_enter_root(
  const char *place,
  char *_Nullable const *_Nonnull steps
);

#pragma clang assume_nonnull end
#endif
