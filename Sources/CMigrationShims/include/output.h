#ifndef MIGRATION_OUTPUT_H
#define MIGRATION_OUTPUT_H

/// Has standard output written line by line, and what is left of it where a signal ends the process.
void migration_write_output_in_lines(void);

/// Writes what waits to be written to standard output.
void migration_flush_output(void);

/// Writes what waits to be written to standard output, unless another thread is at it.
void migration_try_to_flush_output(void);

#endif
