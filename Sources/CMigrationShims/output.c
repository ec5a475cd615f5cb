#include "output.h"

#include <stdio.h>

void migration_stop_buffering_output(void) {
    fflush(stdout);
    setvbuf(stdout, NULL, _IONBF, 0);
}
