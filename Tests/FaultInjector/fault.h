#include <linux/seccomp.h>
#include <sys/types.h>

// How a call fails.

enum fault { FAULT_NONE, FAULT_ERROR, FAULT_KILL, FAULT_SHORT, FAULT_POWER_LOSS };

struct plan {
  enum fault fault;
  // The error that the call returns, for FAULT_ERROR.
  int error;
  // What survives FAULT_POWER_LOSS on a file system, and a directory on it.
  unsigned survivors;
  const char *directory;
};

// Makes the call fail as planned, and fills in the answer to it; returns 0 if the caller is gone.
int make_fault(
  const struct plan *plan,
  const struct seccomp_notif *call,
  pid_t process,
  struct seccomp_notif_resp *answer
);
