#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

static const int ends[] = {SIGABRT, SIGBUS,  SIGFPE,  SIGHUP,  SIGILL, SIGINT,
                           SIGQUIT, SIGSEGV, SIGSYS,  SIGTERM, SIGTRAP};

static struct sigaction earlier[NSIG];

void migration_flush_output(void) { fflush(stdout); }

void migration_try_to_flush_output(void) {
    // No handler and no helper may wait for a thread that will never go on.
    if (ftrylockfile(stdout) != 0) return;
    fflush_unlocked(stdout);
    funlockfile(stdout);
}

static void flush_and_end(int number) {
    int error = errno;
    migration_try_to_flush_output();
    sigaction(number, &earlier[number], NULL);
    // It comes once this handler has returned.
    raise(number);
    errno = error;
}

void migration_write_output_in_lines(void) {
    fflush(stdout);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t index = 0; index < sizeof ends / sizeof ends[0]; index++) {
        struct sigaction action = {0};
        int number = ends[index];
        if (sigaction(number, NULL, &earlier[number]) != 0) continue;
        if (earlier[number].sa_handler == SIG_IGN) continue;
        action.sa_handler = flush_and_end;
        action.sa_flags = SA_ONSTACK;
        sigaction(number, &action, NULL);
    }
}
