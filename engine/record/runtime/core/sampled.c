/*
 * sampled.c - `record --sample`: the windows and bursts of log/sample.h, and the hooks of a
 * sampled recording, which take the place of those of hooks.c.
 *
 * A hook in free mode, outside of the sample: three instructions and the return.  The call
 * stack is kept all the same, for the accesses of the next window: to unwind is not safe in a
 * hook.  In controlled mode each access counts for the scheduler, so that the run is that of
 * the whole recording.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hooks.h"

__thread int32_t sample_quiet;

/* Accesses of all threads, counted a step at a time; in a cache line of its own. */
static struct {
	uint64_t accesses;
} sample_clock __attribute__((aligned(64)));

static bool in_window(struct thread *t, uint64_t accesses)
{
	struct thread_sample *s = &t->sample;
	uint64_t window = accesses >> SAMPLE_WINDOW_BITS, of = rt.config.sample;
	if (s->window != window + 1) {
		uint64_t drawn = (window / of + 1) * HASH_FACTOR ^ rt.config.seed * HASH_FACTOR;
		drawn = (drawn ^ drawn >> 31) * 0xbf58476d1ce4e5b9u;
		s->open = window % of == (drawn >> 32) % of;
		s->window = window + 1;
	}
	return s->open;
}

/* Ends the step: its rest will not be made. */
static void end_step(struct thread *t)
{
	uint32_t passed = sample_quiet > 0 ? (uint32_t)sample_quiet : 0;
	uint32_t rest = t->sample.left + passed;
	t->repeated -= passed;
	sample_quiet = 0;
	t->sample.left = 0;
	__atomic_sub_fetch(&sample_clock.accesses, rest, __ATOMIC_RELAXED);
}

static void begin_step(struct thread *t, bool burst)
{
	uint64_t at = __atomic_fetch_add(&sample_clock.accesses, SAMPLE_STEP, __ATOMIC_RELAXED);
	t->sample.left = SAMPLE_STEP;
	t->sample.burst = burst;
	t->unwritten = !burst && !in_window(t, at);
}

bool sample_due(struct thread *t)
{
	struct thread_sample *s = &t->sample;
	sample_quiet = 0;
	if (unlikely(t->gate & (GATE_FOREIGN | GATE_OFF))) {
		sample_quiet = rt.controlled ? 0 : SAMPLE_STEP;
		return rt.controlled;
	}
	if (s->left == 0)
		begin_step(t, false);
	s->left--;
	if (t->unwritten && !rt.controlled) {
		sample_quiet = (int32_t)s->left;
		t->repeated += s->left + 1;
		s->left = 0;
	}
	return !t->unwritten;
}

void sample_renew(struct thread *t)
{
	uint64_t at = __atomic_load_n(&sample_clock.accesses, __ATOMIC_RELAXED);
	if (t->sample.burst || in_window(t, at) != t->unwritten)
		return;
	end_step(t);
	t->unwritten = !t->sample.open;
}

static __attribute__((noinline)) void begin_burst(struct thread *t)
{
	if (t->gate & (GATE_FOREIGN | GATE_OFF))
		return;
	end_step(t);
	begin_step(t, true);
}

/* ---- the hooks ---- */

static __attribute__((noinline)) void sampled_access(void *p, unsigned what, uintptr_t pc)
{
	struct thread *t = me;
	if (sample_due(t))
		hook_access(t, p, what, pc);
	else if (rt.controlled)
		hook_unwritten(t, p, what, pc);
}

#define SAMPLED(name, code, tag, flags) \
	EXPORT void __tsan_##name(void *p); \
	static void sampled_##name(void *p) \
	{ \
		if (unlikely(--sample_quiet < 0)) \
			sampled_access(p, (unsigned)(tag) | (flags) << 8 | (code) << 16, \
			               HOOK_CALLER()); \
	}
#define SAMPLED_PC(name, code, tag) \
	EXPORT void __tsan_##name##_pc(void *p, void *pc); \
	static void sampled_##name##_pc(void *p, void *pc) \
	{ \
		if (unlikely(--sample_quiet < 0)) \
			sampled_access(p, (unsigned)(tag) | (code) << 16, (uintptr_t)pc); \
	}
#define SAMPLED_BOTH(name, code) \
	EXPORT void __tsan_##name(void *p); \
	static void sampled_##name(void *p) \
	{ \
		if (unlikely(--sample_quiet < 0)) \
			sampled_access(p, (unsigned)LOG_READ | (code) << 16, HOOK_CALLER()); \
		if (unlikely(--sample_quiet < 0)) \
			sampled_access(p, (unsigned)LOG_WRITE | (code) << 16, HOOK_CALLER()); \
	}
ACCESS_HOOKS(SAMPLED, SAMPLED_PC, SAMPLED_BOTH, SAMPLED)

EXPORT void __tsan_vptr_update(void **vptr, void *new_value);
static void sampled_vptr_update(void **vptr, void *new_value)
{
	if (*vptr != new_value && unlikely(--sample_quiet < 0))
		sampled_access(vptr, (unsigned)LOG_WRITE | 3u << 16, HOOK_CALLER());
}
SAMPLED(vptr_read, 3, LOG_READ, 0)

EXPORT void __tsan_func_entry(void *call_pc);
static void sampled_func_entry(void *call_pc)
{
	struct thread *t = me;
	uintptr_t function = HOOK_CALLER();
	uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa() - 2 * sizeof(uintptr_t);
	if (unlikely(t->todo & TODO_NOBODY || rt.watched)) {
		hook_entry(t, (uintptr_t)call_pc, function, sp);
		return;
	}
	push_frame(t, (uintptr_t)call_pc, function, sp, false);
	if (unlikely(t->ordinal == 0) && !t->gate)
		log_shown(t);
	uint16_t calls = ++t->calls_of[function >> 4 & (SAMPLE_FUNCTIONS - 1)];
	if (unlikely((calls & (calls - 1)) == 0))
		begin_burst(t);
}

EXPORT void __tsan_func_exit(void *unused);
static void sampled_func_exit(void *unused)
{
	struct thread *t = me;
	uint32_t depth = t->depth;
	if (unlikely(t->todo & TODO_NOBODY || depth == 0))
		return;
	t->depth = --depth;
	if (depth < t->low)
		t->low = depth;
	t->todo |= TODO_FRAMES; /* perhaps for nothing: finding that out costs more */
}

/* ---- their place ---- */

#define PAIR(name) \
	{ (uint8_t *)(uintptr_t)__tsan_##name, (uint8_t *)(uintptr_t)sampled_##name },
#define PAIR_OF(name, ...) PAIR(name)
#define PAIR_PC(name, ...) PAIR(name##_pc)

static const struct {
	uint8_t *hook, *sampled;
} pairs[] = { ACCESS_HOOKS(PAIR_OF, PAIR_PC, PAIR_OF, PAIR_OF) PAIR(vptr_read) PAIR(vptr_update)
	              PAIR(func_entry) PAIR(func_exit) };
enum { PAIR_COUNT = sizeof(pairs) / sizeof(pairs[0]), JUMP = 5 /* bytes */ };

static long protect(uintptr_t low, uintptr_t high, int protection)
{
	return raw_syscall(SYS_mprotect, (long)low, (long)(high - low), protection, 0, 0, 0);
}

/* Replaces each hook by a jump: a test in it would slow down every other recording, and all
 * programs call it by this name. The pages are writable and executable meanwhile, as this
 * code may lie in them. */
void sample_hooks(void)
{
	uintptr_t low = UINTPTR_MAX, high = 0;
	for (size_t i = 0; i < PAIR_COUNT; i++) {
		uintptr_t at = (uintptr_t)pairs[i].hook;
		low = at < low ? at : low;
		high = at > high ? at : high;
	}
	low &= ~(uintptr_t)4095;
	high = (high + JUMP + 4095) & ~(uintptr_t)4095;
	long refused = protect(low, high, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (refused) {
		rt_say("--sample: the system lets no code be changed (error %ld); record without "
		       "--sample",
		       -refused);
		_exit(125);
	}
	for (size_t i = 0; i < PAIR_COUNT; i++) {
		unsigned char *hook = pairs[i].hook;
		int32_t offset = (int32_t)(pairs[i].sampled - (hook + JUMP));
		/* Hidden from the compiler: code is constant to it, and a write undefined. */
		__asm__("" : "+r"(hook));
		hook[0] = 0xe9; /* jmp */
		__builtin_memcpy(hook + 1, &offset, sizeof(offset));
	}
	protect(low, high, PROT_READ | PROT_EXEC);
}
