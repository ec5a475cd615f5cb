#ifndef CMIGRATION_PROCESS_H
#define CMIGRATION_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "identity.h"

#pragma clang assume_nonnull begin

/// What a program is started with; all of it stays as it is until the call returns.
struct migration_program {
  const char *executable;
  char *_Nullable const *_Nonnull arguments;
  char *_Nullable const *_Nonnull environment;
  const char *directory;
  /// Pairs of a directory and another that shows it to the program alone, ended by a null pointer.
  char *_Nullable const *_Nonnull mounts;
  /// The steps that make a root of its own, in which these pairs have no say; null for none.
  char *_Nullable const *_Nullable root;
  /// Pairs of `r` or `w` and a path, ended by a null pointer: what is shown in that root while the
  /// program asks for it by its descriptor 4 (`migration_offer_grants`).
  char *_Nullable const *_Nonnull grants;
  /// The maps of a user namespace in which either is done; null where none is needed.
  const char *_Nullable user_map;
  const char *_Nullable group_map;
  /// The supervisor's end of the sockets that tie it to the host.
  int control;
  /// Where a `migration_failure` is written; closed without one when the program has started.
  int failures;
  /// What becomes descriptor 3 of the program.
  int connection;
  /// What becomes its standard output and its standard error.
  int output;
  /// Whether it keeps of a superuser's privileges those over files alone.
  bool is_confined;
  /// The Landlock ruleset that confines its files; -1 for none.
  int ruleset;
  /// Whether its system calls are filtered.
  bool is_filtered;
  /// Where it puts itself in a cgroup by writing `0`; -1 for none.
  int group;
  /// The bytes of its data segments and private memory (RLIMIT_DATA); 0 for no limit.
  uint64_t memory_limit;
  /// The processes and threads that its user may have (RLIMIT_NPROC); 0 for no limit.
  uint64_t task_limit;
  /// Whom it runs as; null for the host's own user.
  const struct migration_identity *_Nullable identity;
};

/// The call that kept a program from being started.
struct migration_failure {
  /// A string of this process, which its forked children have at the same address.
  const char *_Nullable call;
  int code;
};

/// Forks a supervisor that runs the program, and kills all that is left of it when it ends, when
/// the host shuts its end of the control sockets, or dies; returns the supervisor's process.
///
/// It sends the program's wait status, an `int`, over the control socket when the program has
/// ended, and once more when nobody is left; then it ends, as soon as the host has shut its end.
pid_t migration_start(const struct migration_program *program);

/// Makes a pipe; the program that replaces this one has neither of its ends.
int migration_make_pipe(int ends[_Nonnull 2]);

/// Makes a pair of connected stream sockets; the program that replaces this one has neither.
int migration_make_sockets(int ends[_Nonnull 2]);

/// Names the calling thread; the system takes 15 bytes of the name.
void migration_name_thread(const char *name);

/// Gives blocks of 128 KiB and more back to the system when they are freed, where glibc would come to keep
/// them, and reserves few addresses where a process may use few.
void migration_return_freed_memory(void);

/// Whether the process may leave a core dump, and others of its user may look into it
/// (PR_GET_DUMPABLE); below zero where that is not known.
int migration_dumpable(void);

/// Says whether it may.
int migration_set_dumpable(int dumpable);

/// How many processors the affinity mask of this thread allows; -1 if that can't be known.
int migration_allowed_processors(void);

/// Starts `count` threads that all live at the same time, and ends them; returns 0, or the error of the one that
/// can't be started.
int migration_try_threads(int count);

#pragma clang assume_nonnull end
#endif
