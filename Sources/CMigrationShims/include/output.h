#ifndef MIGRATION_OUTPUT_H
#define MIGRATION_OUTPUT_H

/// Makes standard output unbuffered.
void migration_stop_buffering_output(void);

#endif
