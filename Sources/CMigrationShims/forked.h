#ifndef CMIGRATION_FORKED_H
#define CMIGRATION_FORKED_H

// Code that a forked process runs before it becomes another program, or instead. It only makes
// calls that are safe in a signal handler.

/// Reports to the host which call failed, and exits.
_Noreturn void migration_fail(int failures, const char *call);

/// Closes all descriptors but `files`, which get the numbers from 0 up.
///
/// `failures` is the index in `files` of the one that failures are written to.
void migration_keep_only(int *files, unsigned count, unsigned failures);

/// Gives all signals their default effect, including those that the C library reserves for itself.
void migration_reset_signals(void);

/// Opens a descriptor that becomes readable when a child has ended; negative for an error.
int migration_open_signals(void);

#endif
