/*
 * stub.c - linked into a program by `heddle cc`: the instrumentation's functions, which do
 * nothing until the recording runtime has been loaded beside them. So the program also runs
 * alone, at nearly full speed and with no library of ours.
 *
 * Each function jumps through a slot. A constructor looks for the runtime's functions of the
 * same names and fills the slots in; the names here are hidden, so that every shared library
 * built this way has its own. Depends on the runtime's names alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/record/abi.h"
#include "engine/record/stub/join.h"

typedef unsigned __int128 a128;

static long nothing(void)
{
	return 0;
}

/* The jump keeps the return address: the runtime sees the program as its caller.  Weak, for
 * programs that bring their own. */
#define JUMP_NAMED(symbol, name, fallback) \
	static void *slot_##name __attribute__((used)) = (void *)fallback; \
	__asm__(".pushsection .text\n.weak " symbol "\n.hidden " symbol "\n.type " symbol \
	        ", @function\n" symbol ":\n\tjmp *slot_" #name "(%rip)\n.size " symbol \
	        ", .-" symbol "\n.popsection\n");
#define JUMP(name, fallback) JUMP_NAMED("__tsan_" #name, name, fallback)

#define EACH_SIZE(F, prefix) F(prefix##1) F(prefix##2) F(prefix##4) F(prefix##8) F(prefix##16)
#define WITH_PC(F, kind) \
	F(kind##1_pc) \
	F(kind##2_pc) F(kind##4_pc) F(kind##8_pc) F(kind##16_pc) F(kind##_range_pc)
/* clang-format off: a list */
#define PLAIN(F) \
	WITH_PC(F, read) \
	WITH_PC(F, write) \
	EACH_SIZE(F, read) \
	EACH_SIZE(F, write) \
	EACH_SIZE(F, unaligned_read) \
	EACH_SIZE(F, unaligned_write) \
	EACH_SIZE(F, volatile_read) \
	EACH_SIZE(F, volatile_write) \
	EACH_SIZE(F, unaligned_volatile_read) \
	EACH_SIZE(F, unaligned_volatile_write) \
	EACH_SIZE(F, read_write) \
	EACH_SIZE(F, unaligned_read_write) \
	F(read_range) \
	F(write_range) \
	F(vptr_read) \
	F(vptr_update) \
	F(func_entry) \
	F(func_exit) \
	F(ignore_thread_begin) \
	F(ignore_thread_end) \
	F(acquire) \
	F(release) \
	F(mutex_create) \
	F(mutex_destroy) \
	F(mutex_pre_lock) \
	F(mutex_post_lock) \
	F(mutex_pre_unlock) \
	F(mutex_post_unlock) \
	F(atomic_signal_fence)
/* clang-format on */
#define PLAIN_JUMP(name) JUMP(name, nothing)
PLAIN(PLAIN_JUMP)

static void fence(int order)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
JUMP(atomic_thread_fence, fence)

static void *copy(char *to, const char *from, size_t n)
{
	void *result = to;
	if (to < from)
		while (n-- > 0)
			*(volatile char *)to++ = *from++;
	else
		while (n-- > 0)
			((volatile char *)to)[n] = from[n];
	return result;
}
static void *fill(char *p, int c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((volatile char *)p)[i] = c;
	return p;
}
JUMP(memcpy, copy)
JUMP(memmove, copy)
JUMP(memset, fill)

/* Atomics have their effect also without a runtime. */
#define FETCH(bits, type, name, expression) \
	static type do##bits##_##name(volatile type *p, type v, int order) \
	{ \
		type old = *p, seen; \
		while ((seen = __sync_val_compare_and_swap(p, old, (type)(expression))) != \
		       old) \
			old = seen; \
		return old; \
	} \
	JUMP(atomic##bits##_##name, do##bits##_##name)
#define ATOMIC(bits, type) \
	static type do##bits##_load(const volatile type *p, int order) \
	{ \
		return bits == 128 ? __sync_val_compare_and_swap((volatile type *)p, 0, 0) \
		                   : *p; \
	} \
	static void do##bits##_store(volatile type *p, type v, int order) \
	{ \
		type old = *p, seen; \
		while ((seen = __sync_val_compare_and_swap(p, old, v)) != old) \
			old = seen; \
	} \
	static int do##bits##_cas(volatile type *p, type *expected, type v, int order, \
	                          int failure) \
	{ \
		type old = *expected, seen = __sync_val_compare_and_swap(p, old, v); \
		*expected = seen; \
		return seen == old; \
	} \
	static type do##bits##_val(volatile type *p, type expected, type v, int order, \
	                           int failure) \
	{ \
		return __sync_val_compare_and_swap(p, expected, v); \
	} \
	JUMP(atomic##bits##_load, do##bits##_load) \
	JUMP(atomic##bits##_store, do##bits##_store) \
	JUMP(atomic##bits##_compare_exchange_strong, do##bits##_cas) \
	JUMP(atomic##bits##_compare_exchange_weak, do##bits##_cas) \
	JUMP(atomic##bits##_compare_exchange_val, do##bits##_val) \
	FETCH(bits, type, exchange, v) \
	FETCH(bits, type, fetch_add, old + v) \
	FETCH(bits, type, fetch_sub, old - v) \
	FETCH(bits, type, fetch_and, old &v) \
	FETCH(bits, type, fetch_or, old | v) \
	FETCH(bits, type, fetch_xor, old ^ v) \
	FETCH(bits, type, fetch_nand, ~(old & v))
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
ATOMIC(128, a128)

/* clang-format off: a list */
#define ATOMIC_NAMES(F, bits) \
	F(atomic##bits##_load) \
	F(atomic##bits##_store) \
	F(atomic##bits##_compare_exchange_strong) \
	F(atomic##bits##_compare_exchange_weak) \
	F(atomic##bits##_compare_exchange_val) \
	F(atomic##bits##_exchange) \
	F(atomic##bits##_fetch_add) \
	F(atomic##bits##_fetch_sub) \
	F(atomic##bits##_fetch_and) \
	F(atomic##bits##_fetch_or) \
	F(atomic##bits##_fetch_xor) \
	F(atomic##bits##_fetch_nand)
/* clang-format on */

static void barrier_begins(uint64_t *barrier, unsigned count)
{
	__atomic_store_n(barrier, count % ABI_BARRIER_STEP, __ATOMIC_SEQ_CST);
}
static void barrier_waits(uint64_t *barrier)
{
	uint64_t old = __atomic_fetch_add(barrier, ABI_BARRIER_STEP, __ATOMIC_SEQ_CST);
	uint64_t round = abi_barrier_round(old), now = old + ABI_BARRIER_STEP;
	while (abi_barrier_round(now) == round) {
		sched_yield();
		now = __atomic_load_n(barrier, __ATOMIC_SEQ_CST);
	}
}
JUMP(testonly_barrier_init, barrier_begins)
JUMP(testonly_barrier_wait, barrier_waits)

/* Functions that programs may call beside the hooks: those that the runtime acts upon, and
 * those without effect. */
#define ACTING(name) JUMP_NAMED(#name, name, nothing)
ABI_ACTING(ACTING)
#define IDLE(name) \
	".weak " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ":\n"
#define SYSCALL(name) \
	IDLE(__sanitizer_syscall_pre_impl_##name) IDLE(__sanitizer_syscall_post_impl_##name)
__asm__(".pushsection .text\n" ABI_IDLE(IDLE)
                ABI_SYSCALLS(SYSCALL) "\txor %eax, %eax\n\tret\n.popsection\n");

#define UNALIGNED(bits) \
	static uint##bits##_t load##bits(const void *p) \
	{ \
		uint##bits##_t v; \
		__builtin_memcpy(&v, p, sizeof(v)); \
		return v; \
	} \
	static void store##bits(void *p, uint##bits##_t v) \
	{ \
		__builtin_memcpy(p, &v, sizeof(v)); \
	} \
	JUMP_NAMED("__sanitizer_unaligned_load" #bits, __sanitizer_unaligned_load##bits, \
	           load##bits) \
	JUMP_NAMED("__sanitizer_unaligned_store" #bits, __sanitizer_unaligned_store##bits, \
	           store##bits)
UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)

#define NAMED(name) { #name, &slot_##name },
#define NAMED_UNALIGNED(bits) \
	NAMED(__sanitizer_unaligned_load##bits) NAMED(__sanitizer_unaligned_store##bits)
#define NAME(name) { "__tsan_" #name, &slot_##name },
static const struct {
	const char *name;
	void **slot;
} slots[] = { PLAIN(NAME) NAME(atomic_thread_fence) NAME(testonly_barrier_init) NAME(
	testonly_barrier_wait) NAME(memcpy) NAME(memmove) NAME(memset) ATOMIC_NAMES(NAME, 8)
	              ATOMIC_NAMES(NAME, 16) ATOMIC_NAMES(NAME, 32) ATOMIC_NAMES(NAME, 64)
	                      ATOMIC_NAMES(NAME, 128) ABI_ACTING(NAMED) NAMED_UNALIGNED(16)
	                              NAMED_UNALIGNED(32) NAMED_UNALIGNED(64) };

__attribute__((constructor(101))) static void connect_runtime(int argc, char **argv, char **env)
{
	if (!dlsym(RTLD_DEFAULT, "heddle_runtime")) {
		join_too_late(env);
		return;
	}
	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		void *f = dlsym(RTLD_DEFAULT, slots[i].name);
		if (f)
			*slots[i].slot = f;
	}
}

/* Every instrumented object has a constructor that calls this. */
__attribute__((visibility("hidden"))) void __tsan_init(void);
void __tsan_init(void)
{
}
