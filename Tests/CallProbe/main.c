#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Makes the system calls that a sandbox must deny, and prints the result of each: its name, the
// error, and the error that the sandbox must give. The arguments are chosen so that no call harms
// the machine, and none gives that error to the superuser without a sandbox.

// A process, group, user and key that don't exist.
enum { nobody = 0x7FFFFFFF };

struct call {
  const char *name;
  long number;
  int error;
  long arguments[5];
};

static const struct call calls[] = {
  {"socket", SYS_socket, EPERM, {AF_UNIX, SOCK_STREAM}},
  {"socketpair", SYS_socketpair, EPERM, {AF_UNIX, SOCK_STREAM}},
  {"bind", SYS_bind, EPERM, {-1}},
  {"connect", SYS_connect, EPERM, {-1}},
  {"listen", SYS_listen, EPERM, {-1}},
  {"accept", SYS_accept, EPERM, {-1}},
  {"accept4", SYS_accept4, EPERM, {-1}},
  {"ptrace", SYS_ptrace, EPERM, {-1}},
  {"process_vm_readv", SYS_process_vm_readv, EPERM, {-1, 0, 0, 0, 0}},
  {"process_vm_writev", SYS_process_vm_writev, EPERM, {-1, 0, 0, 0, 0}},
  {"pidfd_getfd", 438, EPERM, {-1, -1}},
  {"setpgid", SYS_setpgid, 0, {nobody}},
  {"process_madvise", 440, EPERM, {-1}},
  {"process_mrelease", 448, EPERM, {-1, -1}},
  {"kcmp", SYS_kcmp, EPERM, {nobody, nobody}},
  {"get_robust_list", SYS_get_robust_list, EPERM, {nobody}},
  {"migrate_pages", SYS_migrate_pages, EPERM, {nobody}},
  {"move_pages", SYS_move_pages, EPERM, {nobody}},
  {"prlimit64 of a process", SYS_prlimit64, EPERM, {nobody, RLIMIT_CPU}},
  {"setpriority of a process", SYS_setpriority, EPERM, {PRIO_PROCESS, nobody}},
  {"setpriority of a group", SYS_setpriority, EPERM, {PRIO_PGRP, nobody}},
  {"setpriority of a user", SYS_setpriority, EPERM, {PRIO_USER, nobody}},
  {"ioprio_set of a process", SYS_ioprio_set, EPERM, {1, nobody}},
  {"ioprio_set of a user", SYS_ioprio_set, EPERM, {3, nobody}},
  {"sched_setscheduler of a process", SYS_sched_setscheduler, 0, {nobody}},
  {"sched_setparam of a process", SYS_sched_setparam, 0, {nobody}},
  {"sched_setattr of a process", SYS_sched_setattr, 0, {nobody}},
  {"sched_setaffinity of a process", SYS_sched_setaffinity, 0, {nobody}},
  {"prctl of core scheduling", SYS_prctl, EPERM, {62, -1}},
  {"shmget", SYS_shmget, EPERM, {nobody}},
  {"shmat", SYS_shmat, EPERM, {-1}},
  {"shmctl", SYS_shmctl, EPERM, {-1}},
  {"semget", SYS_semget, EPERM, {nobody}},
  {"semop", SYS_semop, EPERM, {-1}},
  {"semtimedop", SYS_semtimedop, EPERM, {-1}},
  {"semctl", SYS_semctl, EPERM, {-1}},
  {"msgget", SYS_msgget, EPERM, {nobody}},
  {"msgsnd", SYS_msgsnd, EPERM, {-1}},
  {"msgrcv", SYS_msgrcv, EPERM, {-1}},
  {"msgctl", SYS_msgctl, EPERM, {-1}},
  {"mq_open", SYS_mq_open, EPERM, {1}},
  {"mq_unlink", SYS_mq_unlink, EPERM, {1}},
  {"mount", SYS_mount, EPERM, {1, 1, 1}},
  {"umount2", SYS_umount2, EPERM, {1}},
  {"open_tree", 428, EPERM, {-1, 1}},
  {"move_mount", 429, EPERM, {-1, 1, -1, 1}},
  {"fsopen", 430, EPERM, {1}},
  {"fsconfig", 431, EPERM, {-1}},
  {"fsmount", 432, EPERM, {-1}},
  {"fspick", 433, EPERM, {-1, 1}},
  {"mount_setattr", 442, EPERM, {-1, 1}},
  {"open_tree_attr", 467, EPERM, {-1, 1}},
  {"pivot_root", SYS_pivot_root, EPERM, {1, 1}},
  {"chroot", SYS_chroot, EPERM, {1}},
  {"unshare", SYS_unshare, EPERM, {0}},
  {"setns", SYS_setns, EPERM, {-1}},
  // Sharing handlers without memory is invalid.
  {"clone of namespace", SYS_clone, EPERM, {CLONE_NEWUTS | CLONE_SIGHAND}},
  {"clone of user", SYS_clone, EPERM, {CLONE_NEWUSER | CLONE_SIGHAND}},
  {"clone3", 435, ENOSYS, {0}},
  {"open_by_handle_at", SYS_open_by_handle_at, EPERM, {-1, 1}},
  {"name_to_handle_at", SYS_name_to_handle_at, EPERM, {-1, 1, 1, 1}},
  {"io_uring_setup", 425, EPERM, {1, 1}},
  {"io_uring_enter", 426, EPERM, {-1}},
  {"io_uring_register", 427, EPERM, {-1}},
  {"file_setattr", 469, EPERM, {-1, 1, 0, 0, -1}},
  {"inotify_init1", SYS_inotify_init1, EPERM, {-1}},
  {"inotify_add_watch", SYS_inotify_add_watch, EPERM, {-1, 1}},
  {"fanotify_init", SYS_fanotify_init, EPERM, {-1}},
  {"fanotify_mark", SYS_fanotify_mark, EPERM, {-1, -1}},
  {"bpf", SYS_bpf, EPERM, {-1}},
  {"perf_event_open", SYS_perf_event_open, EPERM, {1}},
  {"userfaultfd", SYS_userfaultfd, EPERM, {-1}},
  {"init_module", SYS_init_module, EPERM, {1, 0, 1}},
  {"finit_module", SYS_finit_module, EPERM, {-1}},
  {"delete_module", SYS_delete_module, EPERM, {1}},
  {"kexec_load", SYS_kexec_load, EPERM, {0, 0, 0, -1}},
  {"kexec_file_load", SYS_kexec_file_load, EPERM, {-1, -1, 0, 0, -1}},
  {"keyctl", SYS_keyctl, EPERM, {-1}},
  {"add_key", SYS_add_key, EPERM, {1, 1}},
  {"request_key", SYS_request_key, EPERM, {1, 1}},
  {"reboot", SYS_reboot, EPERM, {0}},
  {"swapon", SYS_swapon, EPERM, {1, -1}},
  {"swapoff", SYS_swapoff, EPERM, {1}},
  {"sethostname", SYS_sethostname, EPERM, {1, -1}},
  {"setdomainname", SYS_setdomainname, EPERM, {1, -1}},
  {"settimeofday", SYS_settimeofday, EPERM, {1, 1}},
  {"clock_settime", SYS_clock_settime, EPERM, {-1, 1}},
  {"clock_adjtime", SYS_clock_adjtime, EPERM, {0, 1}},
  {"adjtimex", SYS_adjtimex, EPERM, {1}},
  {"quotactl", SYS_quotactl, EPERM, {-1, 1}},
  {"quotactl_fd", 443, EPERM, {-1}},
  {"acct", SYS_acct, EPERM, {1}},
  {"syslog", SYS_syslog, EPERM, {-1}},
  {"ioctl TIOCSTI", SYS_ioctl, EPERM, {-1, TIOCSTI}},
  {"ioctl TIOCLINUX", SYS_ioctl, EPERM, {-1, TIOCLINUX}},
  {"mknodat of a character device", SYS_mknodat, EPERM, {-1, 1, S_IFCHR | 0600}},
  {"mknodat of a block device", SYS_mknodat, EPERM, {-1, 1, S_IFBLK | 0600}},
  {"mknodat of a set-user-id file", SYS_mknodat, EPERM, {-1, 1, S_IFREG | S_ISUID}},
  {"fchmod of set-user-id", SYS_fchmod, EPERM, {-1, S_ISUID | 0755}},
  {"fchmod of set-group-id", SYS_fchmod, EPERM, {-1, S_ISGID | 0755}},
  {"fchmodat of set-user-id", SYS_fchmodat, EPERM, {-1, 1, S_ISUID | 0755}},
  {"fchmodat2 of set-user-id", 452, EPERM, {-1, 1, S_ISUID | 0755}},
  {"openat of set-user-id", SYS_openat, EPERM, {-1, 1, O_CREAT, S_ISUID | 0755}},
  {"openat of unnamed set-user-id", SYS_openat, EPERM, {-1, 1, O_TMPFILE, S_ISUID | 0755}},
  {"openat2", 437, ENOSYS, {-1, 1}},
#ifdef __x86_64__
  {"inotify_init", SYS_inotify_init, EPERM},
  {"iopl", SYS_iopl, EPERM, {-1}},
  {"ioperm", SYS_ioperm, EPERM, {-1, -1, 0}},
  {"mknod of a character device", SYS_mknod, EPERM, {1, S_IFCHR | 0600}},
  {"mknod of a block device", SYS_mknod, EPERM, {1, S_IFBLK | 0600}},
  {"mknod of a set-user-id file", SYS_mknod, EPERM, {1, S_IFREG | S_ISUID}},
  {"chmod of set-user-id", SYS_chmod, EPERM, {1, S_ISUID | 0755}},
  {"creat of set-user-id", SYS_creat, EPERM, {1, S_ISUID | 0755}},
  {"open of set-user-id", SYS_open, EPERM, {1, O_CREAT, S_ISUID | 0755}},
#endif
  // A call that looks denied but isn't.
  {"clone", SYS_clone, EINVAL, {CLONE_SIGHAND}},
  {"prlimit64", SYS_prlimit64, 0, {0, RLIMIT_CPU}},
  {"setpriority", SYS_setpriority, 0, {PRIO_PROCESS, 0, 19}},
  {"sched_setscheduler", SYS_sched_setscheduler, EINVAL, {0, 0, 0}},
  {"sched_setaffinity", SYS_sched_setaffinity, EINVAL, {0}},
  {"prctl", SYS_prctl, EINVAL, {-1}},
  {"ioctl", SYS_ioctl, EBADF, {-1, TIOCGWINSZ}},
  {"fchmod", SYS_fchmod, EBADF, {-1, 0755}},
  {"openat", SYS_openat, EFAULT, {-1, 1, O_CREAT, 0755}},
  {"openat without creating", SYS_openat, EFAULT, {-1, 1, O_DIRECTORY, S_ISUID}},
  {"mknodat of a FIFO", SYS_mknodat, EFAULT, {-1, 1, S_IFIFO | 0600}},
};

static void probe(const struct call *call) {
  const long *given = call->arguments;
  long result = syscall(call->number, given[0], given[1], given[2], given[3], given[4]);
  printf("%s: %d %d\n", call->name, result < 0 ? errno : 0, call->error);
}

static void *do_nothing(void *argument) { return argument; }

/// Starts a thread with attributes that the C library applies by the thread's number.
static int start_thread(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  cpu_set_t processors;
  sched_getaffinity(0, sizeof processors, &processors);
  pthread_attr_setaffinity_np(&attributes, sizeof processors, &processors);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, do_nothing, NULL);
  return error != 0 ? error : pthread_join(thread, NULL);
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "foreign") == 0) {
#ifdef __x86_64__
    long process;
    // getpid of the 32-bit interface.
    __asm__ volatile("int $0x80" : "=a"(process) : "a"(20) : "memory");
    printf("%d\n", process == getpid());
#endif
    return 0;
  }
  if (count == 2 && strcmp(arguments[1], "thread") == 0) {
    printf("%d\n", start_thread());
    return 0;
  }
  for (size_t index = 0; index < sizeof calls / sizeof calls[0]; index++) probe(&calls[index]);
  return 0;
}
