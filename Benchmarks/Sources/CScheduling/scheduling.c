#define _GNU_SOURCE
#include "CScheduling.h"

#include <sched.h>

int scheduling_allows(int processor) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_ISSET(processor, &allowed);
}

int scheduling_place(pid_t thread, int processor) {
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(processor, &chosen);
  return sched_setaffinity(thread, sizeof chosen, &chosen);
}
