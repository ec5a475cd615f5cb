#ifndef MIGRATION_OUTPUT_H
#define MIGRATION_OUTPUT_H

/// Has standard output written as soon as something is printed.
void migration_stop_buffering_output(void);

#endif
