#define _GNU_SOURCE
#include "calls.h"
#include "fault.h"
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// Runs a program and makes one of its calls to the system fail, or all from that one on.
//
//   FaultInjector <report> <start> [-x] <fault> <call> <first> <last> <program> [<argument>...]
//
// The fault is one of none, kill, short, error=<errno> and powerloss=<flags>:<directory>. The calls are
// counted by kind, from the first on that names a path that begins with <start>, without those of
// Dispatch's own; those numbered from <first> to <last> get the fault. With -x no two names can be
// exchanged in one step. The report has a line for each kind with the count of its calls, and how
// many got the fault. This program ends as the other one does, or with 125 if the injector itself
// fails.

static struct plan plan;
static int planned_call, first, last, exchange_is_impossible, has_started, faults;
static const char *start;
static int counts[256];

static void fail(const char *what) {
  fprintf(stderr, "FaultInjector: %s: %s\n", what, strerror(errno));
  exit(125);
}

static void parse_fault(char *text) {
  if (strcmp(text, "kill") == 0) plan.fault = FAULT_KILL;
  if (strcmp(text, "short") == 0) plan.fault = FAULT_SHORT;
  if (strncmp(text, "error=", 6) == 0) {
    plan.fault = FAULT_ERROR;
    plan.error = atoi(text + 6);
  }
  if (strncmp(text, "powerloss=", 10) == 0) {
    char *directory;
    plan.fault = FAULT_POWER_LOSS;
    plan.survivors = strtoul(text + 10, &directory, 10);
    plan.directory = directory + 1;
  }
}

// The calls that the program must ask for: all of them if none fails, because they are counted.
static void choose_calls(char *asked) {
  for (int index = 0; index < call_count; index++) {
    const char *name = calls[index].name;
    asked[index] = plan.fault == FAULT_NONE || index == planned_call ||
      strcmp(name, "openat") == 0 || strcmp(name, "newfstatat") == 0 ||
      (exchange_is_impossible && strcmp(name, "renameat2") == 0);
  }
}

// A message of one byte, and a descriptor beside it.
struct parcel {
  struct msghdr message;
  struct iovec body;
  char byte;
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
};

static void prepare(struct parcel *parcel) {
  *parcel = (struct parcel){0};
  parcel->body.iov_base = &parcel->byte;
  parcel->body.iov_len = sizeof parcel->byte;
  parcel->message.msg_iov = &parcel->body;
  parcel->message.msg_iovlen = 1;
  parcel->message.msg_control = parcel->control;
  parcel->message.msg_controllen = sizeof parcel->control;
}

static void send_descriptor(int socket, int descriptor) {
  struct parcel parcel;
  prepare(&parcel);
  struct cmsghdr *header = CMSG_FIRSTHDR(&parcel.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (sendmsg(socket, &parcel.message, 0) != 1) _exit(125);
}

static int receive_descriptor(int socket) {
  struct parcel parcel;
  int descriptor;
  prepare(&parcel);
  if (recvmsg(socket, &parcel.message, MSG_CMSG_CLOEXEC) != 1) fail("no listener");
  struct cmsghdr *header = CMSG_FIRSTHDR(&parcel.message);
  if (header == NULL) fail("no listener");
  memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

static void run_program(char **arguments, int socket, const char *asked) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int listener = install_filter(asked);
  if (listener < 0) _exit(125);
  send_descriptor(socket, listener);
  fcntl(listener, F_SETFD, FD_CLOEXEC);
  execv(arguments[0], arguments);
  _exit(125);
}

// Whether the call names a path that begins with `start`.
static int names(const char *start, const struct seccomp_notif *call, int index, pid_t process) {
  char path[4096] = {0};
  size_t length = strlen(start);
  if (calls[index].path < 0 || length >= sizeof path) return 0;
  struct iovec here = {path, length};
  struct iovec there = {(void *)call->data.args[calls[index].path], length};
  process_vm_readv(process, &here, 1, &there, 1, 0);
  return memcmp(path, start, length) == 0;
}

// Whether Dispatch looks at the state of a thread, in /proc/<number>/stat. It does so after a
// second with work left, and ends the program if it can't.
static int is_of_dispatch(const struct seccomp_notif *call, int index, pid_t process) {
  return names("/proc/", call, index, process) && !names("/proc/self/", call, index, process);
}

static void answer(const struct seccomp_notif *call, pid_t process, int listener) {
  struct seccomp_notif_resp response = {.id = call->id};
  response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  int index = find_call(call->data.nr);
  if (!has_started) has_started = names(start, call, index, process);
  if (has_started && !is_of_dispatch(call, index, process)) {
    counts[index]++;
    if (index == planned_call && counts[index] >= first && counts[index] <= last) {
      faults++;
      if (!make_fault(&plan, call, process, &response)) return;
    }
  }
  if (exchange_is_impossible && call->data.nr == SYS_renameat2 && call->data.args[4] & 2) {
    response.flags = 0;
    response.error = -EINVAL;
  }
  // Fails if a signal ended the caller meanwhile.
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void answer_all(pid_t process, int listener) {
  struct pollfd question = {listener, POLLIN, 0};
  while (poll(&question, 1, -1) >= 0 || errno == EINTR) {
    if (question.revents & POLLIN) {
      struct seccomp_notif call = {0};
      if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0) answer(&call, process, listener);
    } else if (question.revents & POLLHUP) {
      return;
    }
  }
}

static void write_report(const char *path) {
  FILE *report = fopen(path, "we");
  if (report == NULL) fail(path);
  for (int index = 0; index < call_count; index++) {
    if (counts[index] > 0) fprintf(report, "%s %d\n", calls[index].name, counts[index]);
  }
  fprintf(report, "faults %d\n", faults);
  fclose(report);
}

int main(int count, char **arguments) {
  const char *report = arguments[1];
  char asked[256];
  int sockets[2], status;
  if (count < 8) return 125;
  start = arguments[2];
  exchange_is_impossible = strcmp(arguments[3], "-x") == 0;
  arguments += 3 + exchange_is_impossible;
  parse_fault(arguments[0]);
  planned_call = find_call_named(arguments[1]);
  first = atoi(arguments[2]);
  last = atoi(arguments[3]);
  choose_calls(asked);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) fail("socketpair");
  pid_t process = fork();
  if (process == 0) run_program(arguments + 4, sockets[1], asked);
  close(sockets[1]);
  answer_all(process, receive_descriptor(sockets[0]));
  if (waitpid(process, &status, 0) != process) fail("waitpid");
  write_report(report);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  signal(WTERMSIG(status), SIG_DFL);
  kill(getpid(), WTERMSIG(status));
  return 128 + WTERMSIG(status);
}
