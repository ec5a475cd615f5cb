#ifndef CMIGRATION_PROCESS_H
#define CMIGRATION_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "identity.h"

#pragma clang assume_nonnull begin

/// How a program is started; all fields must stay valid until the call returns.
struct migration_program {
  const char *executable;
  char *_Nullable const *_Nonnull arguments;
  char *_Nullable const *_Nonnull environment;
  const char *directory;
  /// Pairs of a directory and another that shows it to this program only, ended by a null pointer.
  char *_Nullable const *_Nonnull mounts;
  /// The steps that make a root directory for the program, which ignores the pairs above; null for
  /// none.
  char *_Nullable const *_Nullable root;
  /// Pairs of `r` or `w` and a path, ended by a null pointer: files that are shown in that root
  /// while the program asks for them through its descriptor 4 (`migration_offer_grants`).
  char *_Nullable const *_Nonnull grants;
  /// The maps of a user namespace in which either is done; null if none is needed.
  const char *_Nullable user_map;
  const char *_Nullable group_map;
  /// The supervisor's end of the sockets that tie it to the host.
  int control;
  /// Where a `migration_failure` is written; closed without one when the program has started.
  int failures;
  /// Descriptor 3 of the program.
  int connection;
  /// The program's standard output and standard error.
  int output;
  /// Whether a superuser's process keeps only the privileges over files.
  bool is_confined;
  /// The Landlock ruleset that confines its files; -1 for none.
  int ruleset;
  /// Whether its system calls are filtered.
  bool is_filtered;
  /// The file to which it writes `0` to join a cgroup; -1 for none.
  int group;
  /// The bytes of its data segments and private memory (RLIMIT_DATA); 0 for no limit.
  uint64_t memory_limit;
  /// The processes and threads that its user may have (RLIMIT_NPROC); 0 for no limit.
  uint64_t task_limit;
  /// The user that it runs as; null for the host's user.
  const struct migration_identity *_Nullable identity;
};

/// The call that failed when a program was started.
struct migration_failure {
  /// A string of this process; it has the same address in forked children.
  const char *_Nullable call;
  int code;
};

/// Forks a supervisor that runs the program; returns the supervisor's process. The supervisor kills
/// every process that the program started when the program ends, when the host shuts its end of the
/// control sockets, or when the host dies.
///
/// It sends the program's wait status, an `int`, over the control socket when the program has
/// ended, and again when no process is left. It ends once the host has shut its end.
pid_t migration_start(const struct migration_program *program);

/// Makes a pipe; both ends are closed when another program replaces this one.
int migration_make_pipe(int ends[_Nonnull 2]);

/// Makes a pair of connected stream sockets; both are closed when another program replaces this
/// one.
int migration_make_sockets(int ends[_Nonnull 2]);

/// Names the calling thread; the system keeps the first 15 bytes.
void migration_name_thread(const char *name);

/// Makes glibc return blocks of 128 KiB and more to the system when they are freed, which it would
/// otherwise stop doing, and reserve few addresses if a process may use few.
void migration_return_freed_memory(void);

/// Whether the process may leave a core dump and be inspected by other processes of its user
/// (PR_GET_DUMPABLE); negative if that can't be known.
int migration_dumpable(void);

/// Sets whether it may.
int migration_set_dumpable(int dumpable);

/// How many processors the affinity mask of this thread allows; -1 if that can't be known.
int migration_allowed_processors(void);

/// Starts `count` threads that all live at the same time, and ends them; returns 0, or the error of the one that
/// can't be started.
int migration_try_threads(int count);

#pragma clang assume_nonnull end
#endif
