#ifndef CMIGRATION_GRANTS_H
#define CMIGRATION_GRANTS_H

#include <sys/types.h>

#pragma clang assume_nonnull begin

/// Starts a process beside this one, a child of `supervisor` too, that shows what was granted to the
/// program when the program asks for it, and hides it again.
///
/// This process must have namespaces of its own, and gets other mounts than that process. Its
/// descriptor `end` becomes the socket for the requests: a byte each, the number of what was granted,
/// with the highest bit set to hide it. The answer is an `int`, 0 or an error's number.
///
/// `grants` are pairs of a word, `r` or `w`, and an absolute path, ended by a null pointer. What lies
/// in another comes behind it.
///
/// Returns the call that failed; null if none did.
const char *_Nullable migration_offer_grants(
  char *_Nullable const *_Nonnull grants, pid_t supervisor, int end);

#pragma clang assume_nonnull end
#endif
