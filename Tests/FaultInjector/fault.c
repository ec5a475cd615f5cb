#define _GNU_SOURCE
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN: one number for all.
#define SHUT_DOWN _IOR('X', 125, unsigned)

static int take_descriptor(pid_t process, int number) {
  int handle = syscall(SYS_pidfd_open, process, 0);
  int copy = syscall(SYS_pidfd_getfd, handle, number, 0);
  close(handle);
  return copy;
}

// Takes the first half of what a gathering write was given; returns its bytes.
static ssize_t gather_half(pid_t process, const __u64 *given, char **bytes) {
  struct iovec pieces[UIO_MAXIOV];
  struct iovec here = {pieces, given[2] * sizeof *pieces};
  struct iovec there = {(void *)given[1], here.iov_len};
  if (given[2] > UIO_MAXIOV || process_vm_readv(process, &here, 1, &there, 1, 0) < 0) return -1;
  size_t count = 0;
  for (size_t i = 0; i < given[2]; i++) count += pieces[i].iov_len;
  *bytes = malloc(count + 1);
  // Never zero bytes: the caller would try forever.
  struct iovec target = {*bytes, (count + 1) / 2};
  return process_vm_readv(process, &target, 1, pieces, given[2], 0);
}

// Writes or reads the first half of the request, in place of the caller.
static void transfer_half(
  const struct seccomp_notif *call,
  pid_t process,
  struct seccomp_notif_resp *answer
) {
  const __u64 *given = call->data.args;
  size_t count = given[2] / 2;
  char *bytes = malloc(count + 1);
  int file = take_descriptor(process, given[0]);
  struct iovec here = {bytes, count}, there = {(void *)given[1], count};
  ssize_t result = -1;
  switch (call->data.nr) {
    case SYS_write:
      if (process_vm_readv(process, &here, 1, &there, 1, 0) < 0) break;
      result = write(file, bytes, count);
      break;
    case SYS_writev:
      free(bytes);
      bytes = NULL;
      result = gather_half(process, given, &bytes);
      if (result >= 0) result = write(file, bytes, result);
      break;
    case SYS_pwrite64:
      if (process_vm_readv(process, &here, 1, &there, 1, 0) < 0) break;
      result = pwrite(file, bytes, count, given[3]);
      break;
    case SYS_read:
    case SYS_pread64:
      result = call->data.nr == SYS_read ? read(file, bytes, count)
                                         : pread(file, bytes, count, given[3]);
      here.iov_len = there.iov_len = result > 0 ? result : 0;
      if (result > 0 && process_vm_writev(process, &here, 1, &there, 1, 0) < 0) result = -1;
      break;
  }
  answer->val = result < 0 ? 0 : result;
  answer->error = result < 0 ? -errno : 0;
  close(file);
  free(bytes);
}

static int can_be_halved(const struct seccomp_notif *call) {
  switch (call->data.nr) {
    case SYS_write: case SYS_pwrite64: case SYS_read: case SYS_pread64:
      return call->data.args[2] > 1;
    case SYS_writev:
      return 1;
    default:
      return 0;
  }
}

static void lose_power(const struct plan *plan) {
  int directory = open(plan->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (ioctl(directory, SHUT_DOWN, &plan->survivors) != 0) _exit(125);
  close(directory);
}

int make_fault(
  const struct plan *plan,
  const struct seccomp_notif *call,
  pid_t process,
  struct seccomp_notif_resp *answer
) {
  switch (plan->fault) {
    case FAULT_NONE:
      return 1;
    case FAULT_ERROR:
      answer->flags = 0;
      answer->error = -plan->error;
      return 1;
    case FAULT_SHORT:
      if (!can_be_halved(call)) return 1;
      answer->flags = 0;
      transfer_half(call, process, answer);
      return 1;
    case FAULT_POWER_LOSS:
      lose_power(plan);
      break;
    case FAULT_KILL:
      break;
  }
  kill(process, SIGKILL);
  return 0;
}
