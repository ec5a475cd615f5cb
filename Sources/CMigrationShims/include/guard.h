#ifndef CMIGRATION_GUARD_H
#define CMIGRATION_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

/// A shell command at one end of a stream; all of it stays as it is until the call returns.
struct migration_guarded {
  /// The command for the shell.
  const char *command;
  char *_Nullable const *_Nonnull environment;
  /// The guard's end of the sockets that tie it to the host.
  int control;
  /// Where a `migration_failure` is written; closed without one when the shell has started.
  int failures;
  /// The command's end of the stream's pipe.
  int stream;
  /// The end that is written, where the command reads the stream: as long as the guard has it, the
  /// command sees no end. -1 where the command writes the stream.
  int held;
  /// The command's standard error, and its standard output if that is not the stream.
  int output;
};

/// The words that a guard and its host send to each other.
enum migration_guard_word {
  /// To the guard: the stream is whole; let the command see its end.
  migration_stream_complete = 'c',
  /// To the guard: end the command, which must not see an end.
  migration_stream_cancelled = 'x',
  /// To the host: the guard has closed its end of the stream.
  migration_stream_closed = 'k',
  /// To the host: no process of the command is left.
  migration_command_over = 'e',
};

/// A word of the guard's to the host.
struct migration_guard_message {
  int word;
  /// With `migration_command_over`, the shell's wait status.
  int status;
};

/// Forks a guard that runs the command in a session of its own; returns the guard's process.
///
/// If the host dies before it says that the stream is complete, the guard ends the command and all
/// that it started, and closes its end of the stream after that.
pid_t migration_guard(const struct migration_guarded *guarded);

/// Makes this process the parent of all descendants whose parents end.
int migration_adopt_orphans(void);

/// Stops all descendants of this process but `spared` and theirs, then kills them, until none is
/// left; returns whether that took at most `limit` milliseconds, where that is not below zero.
///
/// Nobody runs between the first end and the last, so that nobody takes one's end for the end of a
/// stream.
bool migration_end_descendants(const pid_t *_Nullable spared, size_t count, int limit);

#pragma clang assume_nonnull end
#endif
