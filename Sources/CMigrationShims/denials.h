#ifndef CMIGRATION_DENIALS_H
#define CMIGRATION_DENIALS_H

// The system calls that a filter denies, and with which error.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/// When a denied call is denied, by its arguments.
struct condition {
  enum { always, has_any, is_equal } kind;
  unsigned argument;
  uint32_t mask;
  uint32_t value;
};

struct denial {
  unsigned call;
  /// The error that the caller gets; 0 to pretend that the call succeeded.
  int error;
  /// All of them must hold.
  struct condition conditions[2];
};

#define ANY(argument, bits) {has_any, argument, bits, 0}
#define EQUAL(argument, mask, value) {is_equal, argument, mask, value}
/// Any number except 0, which means the caller. It may also name one of the caller's threads, but
/// the filter can't tell.
#define OTHER(argument) ANY(argument, 0xFFFFFFFF)

enum {
  new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER
    | CLONE_NEWPID | CLONE_NEWNET,
  set_identity = S_ISUID | S_ISGID,
  // O_TMPFILE without O_DIRECTORY, which it includes.
  creating = O_CREAT | (O_TMPFILE & ~O_DIRECTORY),
  // From linux/ioprio.h and linux/prctl.h, which may be older.
  ioprio_process = 1,
  prctl_sched_core = 62,
};

// Numbers from 424 up are the same on every machine; they are given here because headers may lack
// them.
static const struct denial denials[] = {
  // Sockets: the process keeps the one that it was given.
  {SYS_socket, EPERM},
  {SYS_socketpair, EPERM},
  {SYS_bind, EPERM},
  {SYS_connect, EPERM},
  {SYS_listen, EPERM},
  {SYS_accept, EPERM},
  {SYS_accept4, EPERM},
  // Other processes.
  {SYS_ptrace, EPERM},
  {SYS_process_vm_readv, EPERM},
  {SYS_process_vm_writev, EPERM},
  {438 /* pidfd_getfd */, EPERM},
  {440 /* process_madvise */, EPERM},
  {448 /* process_mrelease */, EPERM},
  {SYS_kcmp, EPERM},
  {SYS_get_robust_list, EPERM, {OTHER(0)}},
  {SYS_migrate_pages, EPERM, {OTHER(0)}},
  {SYS_move_pages, EPERM, {OTHER(0)}},
  // Ways out of the program's group, which is killed as a whole. Shells and others make a group for
  // each process that they start, and some start none if that fails.
  {SYS_setpgid, 0},
  {SYS_setsid, 0},
  // Limits: a limit on processor time kills a process.
  {SYS_prlimit64, EPERM, {OTHER(0)}},
  // Priorities and processors, also of groups and users.
  {SYS_setpriority, EPERM, {ANY(0, ~(uint32_t)PRIO_PROCESS)}},
  {SYS_setpriority, EPERM, {OTHER(1)}},
  {SYS_ioprio_set, EPERM, {ANY(0, ~(uint32_t)ioprio_process)}},
  {SYS_ioprio_set, EPERM, {OTHER(1)}},
  // The C library names the threads that it starts by number, and starts none if these calls fail.
  {SYS_sched_setscheduler, 0, {OTHER(0)}},
  {SYS_sched_setparam, 0, {OTHER(0)}},
  {SYS_sched_setattr, 0, {OTHER(0)}},
  {SYS_sched_setaffinity, 0, {OTHER(0)}},
  {SYS_prctl, EPERM, {EQUAL(0, 0xFFFFFFFF, prctl_sched_core)}},
  // Objects that processes share by number or name, and that outlive them.
  {SYS_shmget, EPERM},
  {SYS_shmat, EPERM},
  {SYS_shmctl, EPERM},
  {SYS_semget, EPERM},
  {SYS_semop, EPERM},
  {SYS_semtimedop, EPERM},
  {SYS_semctl, EPERM},
  {SYS_msgget, EPERM},
  {SYS_msgsnd, EPERM},
  {SYS_msgrcv, EPERM},
  {SYS_msgctl, EPERM},
  {SYS_mq_open, EPERM},
  {SYS_mq_unlink, EPERM},
  // Mounts and roots.
  {SYS_mount, EPERM},
  {SYS_umount2, EPERM},
  {428 /* open_tree */, EPERM},
  {429 /* move_mount */, EPERM},
  {430 /* fsopen */, EPERM},
  {431 /* fsconfig */, EPERM},
  {432 /* fsmount */, EPERM},
  {433 /* fspick */, EPERM},
  {442 /* mount_setattr */, EPERM},
  {467 /* open_tree_attr */, EPERM},
  {SYS_pivot_root, EPERM},
  {SYS_chroot, EPERM},
  // Namespaces.
  {SYS_unshare, EPERM},
  {SYS_setns, EPERM},
  {SYS_clone, EPERM, {ANY(0, new_namespaces)}},
  // The filter can't see its flags; the C library then falls back to clone.
  {435 /* clone3 */, ENOSYS},
  // Ways to files other than their paths.
  {SYS_open_by_handle_at, EPERM},
  {SYS_name_to_handle_at, EPERM},
  {425 /* io_uring_setup */, EPERM},
  {426 /* io_uring_enter */, EPERM},
  {427 /* io_uring_register */, EPERM},
  {469 /* file_setattr */, EPERM},
  // Changes to files by path, which nothing else confines here.
  {SYS_inotify_init1, EPERM},
  {SYS_inotify_add_watch, EPERM},
  {SYS_fanotify_init, EPERM},
  {SYS_fanotify_mark, EPERM},
  // Programs in the kernel, and calls that watch it.
  {SYS_bpf, EPERM},
  {SYS_perf_event_open, EPERM},
  {SYS_userfaultfd, EPERM},
  {SYS_init_module, EPERM},
  {SYS_finit_module, EPERM},
  {SYS_delete_module, EPERM},
  {SYS_kexec_load, EPERM},
  {SYS_kexec_file_load, EPERM},
  // Keys.
  {SYS_keyctl, EPERM},
  {SYS_add_key, EPERM},
  {SYS_request_key, EPERM},
  // The machine.
  {SYS_reboot, EPERM},
  {SYS_swapon, EPERM},
  {SYS_swapoff, EPERM},
  {SYS_sethostname, EPERM},
  {SYS_setdomainname, EPERM},
  {SYS_settimeofday, EPERM},
  {SYS_clock_settime, EPERM},
  {SYS_clock_adjtime, EPERM},
  {SYS_adjtimex, EPERM},
  {SYS_quotactl, EPERM},
  {443 /* quotactl_fd */, EPERM},
  {SYS_acct, EPERM},
  {SYS_syslog, EPERM},
  // Input on behalf of the person at the terminal.
  {SYS_ioctl, EPERM, {EQUAL(1, 0xFFFFFFFF, TIOCSTI)}},
  {SYS_ioctl, EPERM, {EQUAL(1, 0xFFFFFFFF, TIOCLINUX)}},
  // Device nodes.
  {SYS_mknodat, EPERM, {EQUAL(2, S_IFMT, S_IFCHR)}},
  {SYS_mknodat, EPERM, {EQUAL(2, S_IFMT, S_IFBLK)}},
  // Files that run as their owner, by every call that makes them.
  {SYS_mknodat, EPERM, {ANY(2, set_identity)}},
  {SYS_fchmod, EPERM, {ANY(1, set_identity)}},
  {SYS_fchmodat, EPERM, {ANY(2, set_identity)}},
  {452 /* fchmodat2 */, EPERM, {ANY(2, set_identity)}},
  {SYS_openat, EPERM, {ANY(2, creating), ANY(3, set_identity)}},
  // The filter can't see its mode; callers fall back to the call of older kernels.
  {437 /* openat2 */, ENOSYS},
#ifdef __x86_64__
  {SYS_inotify_init, EPERM},
  {SYS_iopl, EPERM},
  {SYS_ioperm, EPERM},
  {SYS_mknod, EPERM, {EQUAL(1, S_IFMT, S_IFCHR)}},
  {SYS_mknod, EPERM, {EQUAL(1, S_IFMT, S_IFBLK)}},
  {SYS_mknod, EPERM, {ANY(1, set_identity)}},
  {SYS_chmod, EPERM, {ANY(1, set_identity)}},
  {SYS_creat, EPERM, {ANY(1, set_identity)}},
  {SYS_open, EPERM, {ANY(1, creating), ANY(2, set_identity)}},
#endif
};

enum { denial_count = sizeof denials / sizeof denials[0] };

#endif
