#ifndef CMIGRATION_GUARD_H
#define CMIGRATION_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

/// A shell command at one end of a stream; all fields must stay valid until the call returns.
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
  /// The writing end, if the command reads the stream: while the guard has it open, the command
  /// sees no end. -1 if the command writes the stream.
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
/// If the host dies before it reports that the stream is complete, the guard first ends the command
/// and every process that it started, and then closes its end of the stream.
pid_t migration_guard(const struct migration_guarded *guarded);

/// Makes this process the parent of all descendants whose parents end.
int migration_adopt_orphans(void);

/// Stops and then kills all descendants of this process, except `spared` and their descendants,
/// until none is left; returns whether that took at most `limit` milliseconds. A negative `limit`
/// means no limit.
///
/// All are stopped before the first is killed, so that none of them takes the end of another for
/// the end of a stream.
bool migration_end_descendants(const pid_t *_Nullable spared, size_t count, int limit);

#pragma clang assume_nonnull end
#endif
