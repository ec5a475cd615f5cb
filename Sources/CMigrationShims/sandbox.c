#define _GNU_SOURCE
#include "sandbox.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: - Landlock

// The numbers and layouts of linux/landlock.h, which may be older than the kernel, or missing.
enum {
  landlock_create_ruleset = 444,
  landlock_add_rule = 445,
  landlock_restrict_self = 446,
  landlock_create_ruleset_version = 1,
  landlock_rule_path_beneath = 1,
};

struct path_beneath {
  uint64_t allowed_access;
  int32_t parent;
} __attribute__((packed));

int migration_landlock_version(void) {
  return (int)syscall(landlock_create_ruleset, NULL, 0, landlock_create_ruleset_version);
}

int migration_make_ruleset(const struct migration_ruleset *ruleset) {
  // An older kernel takes a longer structure as long as what it doesn't know is zero.
  return (int)syscall(landlock_create_ruleset, ruleset, sizeof *ruleset, 0);
}

int migration_allow(int ruleset, int place, uint64_t access) {
  struct path_beneath rule = {.allowed_access = access, .parent = place};
  return (int)syscall(landlock_add_rule, ruleset, landlock_rule_path_beneath, &rule, 0);
}

int migration_restrict_self(int ruleset) {
  return (int)syscall(landlock_restrict_self, ruleset, 0);
}

// MARK: - Capabilities

int migration_limit_capabilities(void) {
  const uint32_t kept = 1 << CAP_CHOWN | 1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH
    | 1 << CAP_FOWNER | 1 << CAP_FSETID;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &header, data) < 0) return -1;
  // Without new privileges the program gets no more than is permitted here.
  data[0].permitted &= kept;
  data[0].effective &= kept;
  data[1].permitted = data[1].effective = 0;
  data[0].inheritable = data[1].inheritable = 0;
  return (int)syscall(SYS_capset, &header, data);
}

// MARK: - System calls

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE

/// When a denied call is denied, by its arguments.
struct condition {
  enum { always, has_any, is_equal } kind;
  unsigned argument;
  uint32_t mask;
  uint32_t value;
};

struct denial {
  unsigned call;
  int error;
  /// All of them must hold.
  struct condition conditions[2];
};

#define ANY(argument, bits) {has_any, argument, bits, 0}
#define EQUAL(argument, mask, value) {is_equal, argument, mask, value}

enum {
  new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER
    | CLONE_NEWPID | CLONE_NEWNET,
  set_identity = S_ISUID | S_ISGID,
  // O_TMPFILE without O_DIRECTORY, which it includes.
  creating = O_CREAT | (O_TMPFILE & ~O_DIRECTORY),
};

// A number from 424 up is the same on every machine, and given here where headers may lack it.
static const struct denial denials[] = {
  // Sockets: the one that was handed over stays.
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
  // Its flags are out of the filter's reach; the C library then falls back to clone.
  {435 /* clone3 */, ENOSYS},
  // Files by other ways than their paths.
  {SYS_open_by_handle_at, EPERM},
  {SYS_name_to_handle_at, EPERM},
  {425 /* io_uring_setup */, EPERM},
  {426 /* io_uring_enter */, EPERM},
  {427 /* io_uring_register */, EPERM},
  // Programs in the kernel, and what watches it.
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
  // Input in the name of the person at the terminal.
  {SYS_ioctl, EPERM, {EQUAL(1, 0xFFFFFFFF, TIOCSTI)}},
  {SYS_ioctl, EPERM, {EQUAL(1, 0xFFFFFFFF, TIOCLINUX)}},
  // Device nodes.
  {SYS_mknodat, EPERM, {EQUAL(2, S_IFMT, S_IFCHR)}},
  {SYS_mknodat, EPERM, {EQUAL(2, S_IFMT, S_IFBLK)}},
  // Files that run as their owner, however they are made.
  {SYS_mknodat, EPERM, {ANY(2, set_identity)}},
  {SYS_fchmod, EPERM, {ANY(1, set_identity)}},
  {SYS_fchmodat, EPERM, {ANY(2, set_identity)}},
  {452 /* fchmodat2 */, EPERM, {ANY(2, set_identity)}},
  {SYS_openat, EPERM, {ANY(2, creating), ANY(3, set_identity)}},
  // Its mode is out of the filter's reach; whoever calls it has a way for older kernels.
  {437 /* openat2 */, ENOSYS},
#ifdef __x86_64__
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

// MARK: - The filter

enum { longest_filter = 8 + denial_count * 8 };

struct filter {
  struct sock_filter code[longest_filter];
  unsigned short count;
};

static void add(struct filter *filter, struct sock_filter instruction) {
  filter->code[filter->count++] = instruction;
}

static void load(struct filter *filter, size_t offset) {
  add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(struct filter *filter, uint32_t action) {
  add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void load_call(struct filter *filter) { load(filter, offsetof(struct seccomp_data, nr)); }

/// Adds a comparison that goes on where it holds, and jumps to an end that is not known yet.
static void require(struct filter *filter, unsigned short test, uint32_t value) {
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, 0));
}

/// Lets what does not hold in the code since `start` go on after it.
static void close_requirements(struct filter *filter, unsigned short start) {
  for (unsigned short index = start; index < filter->count; index++) {
    struct sock_filter *instruction = &filter->code[index];
    if (BPF_CLASS(instruction->code) != BPF_JMP) continue;
    instruction->jf = (unsigned char)(filter->count - index - 1);
  }
}

static void add_condition(struct filter *filter, const struct condition *condition) {
  // Flags and modes have 32 bits, the lower ones on machines of this byte order.
  load(filter, offsetof(struct seccomp_data, args) + condition->argument * sizeof(uint64_t));
  if (condition->kind == has_any) return require(filter, BPF_JSET, condition->mask);
  add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, condition->mask));
  require(filter, BPF_JEQ, condition->value);
}

static void add_denial(struct filter *filter, const struct denial *denial) {
  unsigned short start = filter->count;
  load_call(filter);
  require(filter, BPF_JEQ, denial->call);
  for (int index = 0; index < 2; index++) {
    if (denial->conditions[index].kind == always) break;
    add_condition(filter, &denial->conditions[index]);
  }
  answer(filter, SECCOMP_RET_ERRNO | (uint32_t)denial->error);
  close_requirements(filter, start);
}

static void add_machine(struct filter *filter) {
  load(filter, offsetof(struct seccomp_data, arch));
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0));
  answer(filter, SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
  // The calls of x32 have numbers of their own, and all of them this bit.
  unsigned short start = filter->count;
  load_call(filter);
  require(filter, BPF_JSET, 0x40000000);
  answer(filter, SECCOMP_RET_ERRNO | ENOSYS);
  close_requirements(filter, start);
#endif
}

int migration_filter_self(void) {
  struct filter filter = {.count = 0};
  add_machine(&filter);
  for (int index = 0; index < denial_count; index++) add_denial(&filter, &denials[index]);
  answer(&filter, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {.len = filter.count, .filter = filter.code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

bool migration_can_filter(void) {
  uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}
#else
int migration_filter_self(void) {
  errno = ENOSYS;
  return -1;
}

bool migration_can_filter(void) { return false; }
#endif
#endif
