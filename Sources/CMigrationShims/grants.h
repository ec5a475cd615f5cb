#ifndef CMIGRATION_GRANTS_H
#define CMIGRATION_GRANTS_H

#include <sys/types.h>

#pragma clang assume_nonnull begin

/// Starts a process beside this one, also a child of `supervisor`, that mounts what was granted to
/// the program when the program asks for it, and unmounts it again.
///
/// This process must have namespaces of its own, and gets other mounts than that process. Its
/// descriptor `end` becomes the socket for the requests. A request is a byte: the number of the
/// grant, with the highest bit set to hide it. The answer is an `int`: 0 or an error number.
///
/// `grants` are pairs of a word, `r` or `w`, and an absolute path, ended by a null pointer. A grant
/// inside another one comes after it.
///
/// Returns the name of the call that failed; null if none did.
const char *_Nullable migration_offer_grants(
  char *_Nullable const *_Nonnull grants, pid_t supervisor, int end);

#pragma clang assume_nonnull end
#endif
