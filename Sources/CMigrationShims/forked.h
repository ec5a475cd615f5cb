#ifndef CMIGRATION_FORKED_H
#define CMIGRATION_FORKED_H

// What a forked process does before it becomes another program, or instead of that. Only calls that
// are safe in a signal handler are made.

/// Tells the host which call failed, and ends.
_Noreturn void migration_fail(int failures, const char *call);

/// Closes all descriptors but `files`, which get the numbers from 0 up.
///
/// `failures` is the index of the one among them that failures are told to.
void migration_keep_only(int *files, unsigned count, unsigned failures);

/// Gives all signals their default effect, those that the C library keeps to itself included.
void migration_reset_signals(void);

/// Opens what can be read from when a child has ended; below zero for an error.
int migration_open_signals(void);

#endif
