/*
 * trampolines.c - the small functions that replace missing code's functions in import tables.
 *
 * They all jump to missing_call: it records the call, calls the real function with a copy of
 * the arguments on the stack, and records the return. It has a frame like any other, so
 * exceptions and debuggers find their way through it.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "missing_private.h"

enum {
	MAX_TARGETS = 1 << 14,
	STACK_ARGUMENTS = 256, /* bytes */
	STUB = 16,
	STUBS = 4096 / STUB - 1, /* on a page, whose first place holds the address they jump
	                          * to */
};

static struct target {
	uintptr_t real;
	unsigned mask;
	const struct ordered *order; /* a modelled library's function; or NULL */
	const char *name;
} targets[MAX_TARGETS];
static unsigned target_count;

/* ---- a call ---- */

/* The frame of missing_call, from its lowest address on. */
struct call {
	uint64_t vectors[32]; /* xmm0-7 or ymm0-7 */
	uint64_t unused[5];
	uint64_t region; /* 1 + its index; 0: go to the function and forget it */
	uint64_t bytes;  /* bytes of arguments on the stack */
	uint64_t real, r10, rax;
	uint64_t arguments[6]; /* rdi rsi rdx rcx r8 r9 */
	uint64_t bp, pc;
	uint64_t stack[];
};

void missing_call(void);
void missing_enter(unsigned index, struct call *c);
void missing_leave(struct call *c);
uint8_t missing_wide; /* the processor has vectors of 32 bytes */

/* clang-format off */
#define VECTORS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define SAVE_16(n) "\tmovaps %xmm" #n ", 32*" #n "(%rsp)\n"
#define SAVE_32(n) "\tvmovups %ymm" #n ", 32*" #n "(%rsp)\n"
#define LOAD_16(n) "\tmovaps 32*" #n "(%rsp), %xmm" #n "\n"
#define LOAD_32(n) "\tvmovups 32*" #n "(%rsp), %ymm" #n "\n"
#define EITHER(narrow, wide, label) \
	"\tcmpb $0, missing_wide(%rip)\n\tjne " label "1f\n" narrow \
	"\tjmp " label "2f\n" label "1:\n" wide label "2:\n"
__asm__(".pushsection .text\n"
	".globl missing_call\n.hidden missing_call\n.type missing_call, @function\n"
	"missing_call:\n"
	"\t.cfi_startproc\n"
	"\tpushq %rbp\n"
	"\t.cfi_def_cfa_offset 16\n\t.cfi_offset 6, -16\n"
	"\tmovq %rsp, %rbp\n"
	"\t.cfi_def_cfa_register 6\n"
	"\tsubq $384, %rsp\n"
	"\tmovq %rdi, -48(%rbp)\n\tmovq %rsi, -40(%rbp)\n\tmovq %rdx, -32(%rbp)\n"
	"\tmovq %rcx, -24(%rbp)\n\tmovq %r8, -16(%rbp)\n\tmovq %r9, -8(%rbp)\n"
	"\tmovq %rax, -56(%rbp)\n\tmovq %r10, -64(%rbp)\n"
	EITHER(VECTORS(SAVE_16), VECTORS(SAVE_32), "1")
	"\tmovl %r11d, %edi\n\tmovq %rsp, %rsi\n"
	"\tcall missing_enter\n"
	EITHER(VECTORS(LOAD_16), VECTORS(LOAD_32), "2")
	"\tmovq -80(%rbp), %rcx\n"
	"\tsubq %rcx, %rsp\n"
	"\tshrq $3, %rcx\n"
	"\tleaq 16(%rbp), %rsi\n\tmovq %rsp, %rdi\n"
	"\trep movsq\n"
	"\tmovq -48(%rbp), %rdi\n\tmovq -40(%rbp), %rsi\n\tmovq -32(%rbp), %rdx\n"
	"\tmovq -24(%rbp), %rcx\n\tmovq -16(%rbp), %r8\n\tmovq -8(%rbp), %r9\n"
	"\tmovq -56(%rbp), %rax\n\tmovq -64(%rbp), %r10\n"
	"\tmovq -72(%rbp), %r11\n"
	"\tcmpq $0, -88(%rbp)\n"
	"\tje 33f\n"
	"\tcall *%r11\n"
	".globl missing_return\n.hidden missing_return\nmissing_return:\n"
	"\tleaq -384(%rbp), %rsp\n"
	"\tmovq %rax, -56(%rbp)\n\tmovq %rdx, -32(%rbp)\n"
	EITHER(SAVE_16(0) SAVE_16(1), SAVE_32(0) SAVE_32(1), "4")
	"\tmovq %rsp, %rdi\n"
	"\tcall missing_leave\n"
	EITHER(LOAD_16(0) LOAD_16(1), LOAD_32(0) LOAD_32(1), "5")
	"\tmovq -56(%rbp), %rax\n\tmovq -32(%rbp), %rdx\n"
	"\t.cfi_remember_state\n"
	"\tleave\n"
	"\t.cfi_def_cfa 7, 8\n"
	"\tret\n"
	"\t.cfi_restore_state\n"
	"33:\n"
	"\tleave\n"
	"\t.cfi_def_cfa 7, 8\n"
	"\tjmp *%r11\n"
	"\t.cfi_endproc\n"
	".size missing_call, .-missing_call\n.popsection\n");
/* clang-format on */
_Static_assert(offsetof(struct call, bp) == 384, "as missing_call has it");
_Static_assert(offsetof(struct call, region) == 384 - 88, "as missing_call has it");

__attribute__((used)) void missing_enter(unsigned index, struct call *c)
{
	const struct target *target = &targets[index];
	uintptr_t sp = (uintptr_t)c->stack;
	c->real = target->real;
	c->region = c->bytes = 0;
	int error = errno;
	struct thread *t = rt.on ? recording() : NULL;
	if (t && target->order)
		order_call(t, target->order, target->name, c->arguments);
	if (!t || target->order)
		return;
	bool own = sp >= t->life.stack_low && sp < t->life.stack_high;
	/* a call that was left by an unseen way */
	while (own && t->missing.region_count &&
	       t->missing.regions[t->missing.region_count - 1].sp <= sp)
		region_pop(t);
	sched_point(t); /* threads may meet in the library's function */
	struct region r = {
		.sp = sp, .function = target->real, .pc = c->pc, .mask = target->mask
	};
	for (unsigned i = 0; i < 6; i++)
		r.arguments[i] = c->arguments[i];
	if (region_push(t, &r)) {
		c->region = t->missing.region_count;
		c->bytes = STACK_ARGUMENTS;
		if (!own)
			c->bytes = 64;
		else if (t->life.stack_high - sp < STACK_ARGUMENTS)
			c->bytes = (t->life.stack_high - sp) & ~15ul;
	}
	errno = error;
}

__attribute__((used)) void missing_leave(struct call *c)
{
	struct thread *t = me;
	int error = errno;
	if (t->missing.region_count < c->region)
		return;
	if (unlikely(t->gate) && !hook_slow(t)) {
		t->missing.region_count = c->region - 1;
		region_update(t);
		return;
	}
	while (t->missing.region_count > c->region)
		region_pop(t);
	region_cut(t, t->missing.regions[c->region - 1].depth);
	log_before(t); /* the call continues, as a function that it called was left by a jump */
	if (t->missing.region_count == c->region)
		region_pop(t);
	errno = error;
}

/* ---- the functions ---- */

/* Makes a small function that passes on to missing_call with the number of a target. NULL:
 * none is left. */
static void *stub_of(unsigned index)
{
	static uint8_t *page;
	static unsigned used = STUBS;
	if (used == STUBS) {
		page = rt_pages(4096);
		used = 0;
		if (!page)
			return NULL;
		void (*to)(void) = missing_call;
		memcpy(page, &to, sizeof(to));
	}
	uint8_t *stub = page + STUB * (1 + used++);
	int32_t offset = (int32_t)(page - (stub + 12));
	if (raw_syscall(SYS_mprotect, (long)page, 4096, PROT_READ | PROT_WRITE, 0, 0, 0) < 0)
		return NULL;
	stub[0] = 0x41; /* mov $index, %r11d */
	stub[1] = 0xbb;
	memcpy(stub + 2, &index, 4);
	stub[6] = 0xff; /* jmp *page(%rip) */
	stub[7] = 0x25;
	memcpy(stub + 8, &offset, 4);
	raw_syscall(SYS_mprotect, (long)page, 4096, PROT_READ | PROT_EXEC, 0, 0, 0);
	return stub;
}

void *trampoline_for(uintptr_t real, unsigned mask, const struct ordered *order,
                     const char *name)
{
	static void *stubs[MAX_TARGETS];
	for (unsigned k = 0; k < target_count; k++)
		if (targets[k].real == real)
			return stubs[k];
	if (target_count == MAX_TARGETS)
		return NULL;
	targets[target_count] = (struct target){ real, mask, order, name };
	unsigned i = target_count++;
	return stubs[i] = stub_of(i);
}

void trampolines_init(void)
{
	missing_wide = __builtin_cpu_supports("avx") != 0;
}
