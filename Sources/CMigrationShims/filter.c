#define _GNU_SOURCE
#include "sandbox.h"

#ifdef __linux__
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE
#include "denials.h"

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

/// Adds a comparison that continues if it holds, and otherwise jumps to an end that isn't known
/// yet.
static void require(struct filter *filter, unsigned short test, uint32_t value) {
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, 0));
}

/// Makes comparisons in the code since `start` jump to its end if they fail.
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
  // The calls of x32 have their own numbers, all with this bit set.
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
