/*
 * state.c - the state of a thread at an atomic access, on which its next steps depend.
 *
 * A thread's code depends on the registers that a call keeps, its stack, its thread-local
 * memory, other memory, and the access's result. Where an access begins in the same state as an
 * earlier one of its thread, and the thread has changed no memory between the two, its steps
 * between them are without effect: a round of a loop that waits. Exploration leaves such rounds
 * out (memory/rounds.h).
 *
 * The registers are those of the caller of the hook, which core/atomics.c's entries leave in
 * memory_registers before any code of the runtime has changed them. Registers and stack slots
 * that are dead after the call (rt.config.dead) are no part of the state: they may hold the
 * value of a failed round.
 */
#include <errno.h>
#include <link.h>
#include <string.h>
#include <threads.h>

#include "engine/record/runtime/core/rt.h"

enum { REGISTERS = 7, MOST = 1 << 20 }; /* bytes of the stack */

bool memory_states;
/* rbx, rbp, r12 to r15, rsp. */
__thread uint64_t memory_registers[REGISTERS]
        __attribute__((tls_model("initial-exec"), visibility("hidden")));

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * HASH_FACTOR;
	return h ^ h >> 29;
}

static uintptr_t program;

void memory_program(uintptr_t bias)
{
	program = bias;
}

/*
 * The thread-local memory of modules lies at the top of a thread's stack, above its frames, so
 * that a write there is one to the own stack. Its distance from the thread pointer is the same
 * in all threads.
 */
enum { MOST_MODULES = 16, MOST_LOCAL = 1 << 16 /* bytes */ };
static struct {
	uintptr_t below; /* distance of its begin */
	size_t bytes;
} locals[MOST_MODULES];
static unsigned locals_count;
static size_t locals_bytes;

static uintptr_t thread_pointer(void)
{
	uintptr_t fs;
	__asm__("movq %%fs:0, %0" : "=r"(fs));
	return fs;
}

void memory_module(const char *path, uintptr_t below, size_t bytes)
{
	/* the C library's is not all the program's: it has errno, which state() takes */
	if (strstr(path, "/libc.so") || bytes == 0)
		return;
	locals_bytes += bytes;
	if (locals_count == MOST_MODULES)
		locals_bytes = MOST_LOCAL + 1;
	else
		locals[locals_count++] = (typeof(locals[0])){ below, bytes };
}

static uint64_t mix_locals(uint64_t h)
{
	uintptr_t top = thread_pointer();
	for (unsigned i = 0; i < locals_count; i++) {
		const char *p = (const char *)(top - locals[i].below);
		for (size_t at = 0; at < locals[i].bytes; at += sizeof(uint64_t)) {
			uint64_t word = 0;
			size_t left = locals[i].bytes - at;
			__builtin_memcpy(&word, p + at,
			                 left < sizeof(word) ? left : sizeof(word));
			h = mix(h, word);
		}
	}
	return h;
}

/* Dead registers and bytes at the call that returns to `pc`; NULL: unknown. */
static const struct log_dead *dead_at(uintptr_t pc)
{
	unsigned from = 0, to = LOG_DEAD_SITES;
	uintptr_t address = pc - program;
	while (from < to) {
		unsigned i = from + (to - from) / 2;
		const struct log_dead *d = &rt.config.dead[i];
		if (d->address == address)
			return d;
		if (d->address != 0 && d->address < address)
			from = i + 1;
		else
			to = i;
	}
	return NULL;
}

/* A word of the stack, `at` bytes above the stack pointer after the call, without dead bytes.
 */
static uint64_t live_part(const struct log_dead *d, uintptr_t at, uint64_t word)
{
	for (unsigned i = 0; i < d->count; i++) {
		uintptr_t from = d->range[i].from, to = from + d->range[i].bytes;
		if (to <= at || from >= at + 8)
			continue;
		for (uintptr_t b = 0; b < 8; b++)
			if (from <= at + b && at + b < to)
				word &= ~(0xffull << 8 * b);
	}
	return word;
}

/* Counts how often the thread has come back to one of its last states. Looks of a plan may
 * see older stores under a memory model, so they do not show whether it waits for ever. */
static void count_looks(struct thread_memory *m, uint64_t state)
{
	bool planned = rt.replay && rt.memory;
	bool known = false;
	for (unsigned i = 0; i < STATES; i++)
		known |= m->states[i] == state;
	if (!known)
		poll_changed();
	bool again = known && m->changes == poll_changes();
	m->looks = planned ? 0 : again ? m->looks + 1 : known;
	m->failed = again ? m->failed : NULL;
	m->least = again && m->least < m->held ? m->least : m->held;
	m->changes = poll_changes();
	for (unsigned i = STATES - 1; i > 0 && !known; i--)
		m->states[i] = m->states[i - 1];
	if (!known)
		m->states[0] = state;
}

enum { SOME = 2 * STATES };

static void tell(struct thread *t, uint64_t what)
{
	log_before(t);
	log_put(t->stream, log_word(LOG_STATE, 0, 0), &what, 1);
}

void memory_tell(struct thread *t, uint64_t what)
{
	if (memory_states && rt.memory && what != 0)
		tell(t, what);
}

bool memory_waits(const struct thread *t)
{
	return t->memory.looks >= SOME;
}

bool memory_looks_within(const struct thread *t)
{
	return t->memory.looks > 0 && t->memory.held > t->memory.least;
}

void memory_looks_again(struct thread *t)
{
	t->memory.looks = 1;
	t->memory.failed = NULL;
}

bool memory_waits_on(const struct thread *t)
{
	return memory_waits(t) && t->memory.changes == poll_changes() &&
	       !memory_looks_within(t);
}

static void state(struct thread *t, const volatile void *p, unsigned order, uint64_t operand,
                  uint64_t expected)
{
	uintptr_t from = memory_registers[REGISTERS - 1];
	uintptr_t to = t->memory.stack ? t->memory.stack : t->life.stack_high;
	if (from >= to || to - from > MOST || locals_bytes > MOST_LOCAL)
		return;
	uint64_t state = mix(mix(mix((uintptr_t)p, order), operand), expected);
	uintptr_t pc = *(const uintptr_t *)from; /* return address of the hook */
	const struct log_dead *dead = dead_at(pc);
	for (unsigned i = 0; i < REGISTERS; i++)
		state = mix(state, dead && dead->registers >> i & 1 ? 0 : memory_registers[i]);
	const uint64_t *w = (const uint64_t *)from;
	if (dead) { /* of its own frame */
		uintptr_t own = dead->count ? dead->range[dead->count - 1].from +
		                                      dead->range[dead->count - 1].bytes
		                            : 0;
		state = mix(state, *w++);
		for (uintptr_t at = 0; at < own && (uintptr_t)(w + 1) <= to; at += 8)
			state = mix(state, live_part(dead, at, *w++));
	}
	for (; (uintptr_t)(w + 1) <= to; w++)
		state = mix(state, *w);
	if (t->memory.stack != 0)
		state = mix_locals(state);
	state = mix(mix(state, t->memory.specific), (uint64_t)errno);
	count_looks(&t->memory, state);
	t->memory.looked = (uintptr_t)p;
	t->memory.pc = pc;
	tell(t, state);
}

/* Thread-specific data, which the C library keeps, is part of the state. */
static void note_specific(unsigned key, uintptr_t value)
{
	struct thread_memory *m = &me->memory;
	uint64_t about = mix(1, key);
	m->specific ^= mix(about, (uintptr_t)pthread_getspecific(key));
	m->specific ^= mix(about, value);
}

INTERPOSED(pthread_setspecific, tss_set);

int interposed_pthread_setspecific(pthread_key_t key, const void *value)
{
	if (memory_states)
		note_specific(key, (uintptr_t)value);
	return REAL(pthread_setspecific)(key, value);
}

int interposed_tss_set(tss_t key, void *value)
{
	if (memory_states)
		note_specific(key, (uintptr_t)value);
	return REAL(tss_set)(key, value);
}

void memory_state(struct thread *t, const volatile void *p, unsigned order, uint64_t operand,
                  uint64_t expected)
{
	if (memory_states)
		state(t, p, order, operand, expected);
}

static bool is_on_stack(uintptr_t address)
{
	for (unsigned i = 0; i < rt.thread_count && i < MAX_THREADS; i++) {
		const struct thread *t = rt.threads[i];
		if (t && t->life.stack_low <= address && address < t->life.stack_high)
			return true;
	}
	return false;
}

/* A write to the thread's own stack is part of its state. (The last write's place is found by
 * its code, which another thread may have run since, on its own stack.) */
void memory_wrote(struct thread *t)
{
	struct thread_memory *m = &t->memory;
	if (!memory_states || t->pending == m->wrote)
		return;
	m->wrote = t->pending;
	if (!is_on_stack(t->pending_site->address))
		poll_changed();
}

void memory_acquires(struct thread *t, const volatile void *lock, bool exclusive)
{
	if (!memory_states || rt.memory)
		return;
	memory_wrote(t);
	state(t, lock, exclusive, 0, 0);
	t->memory.held++;
	t->memory.section = true;
}

/* One that fails changes nothing that others see. */
void memory_tries(struct thread *t, const volatile void *lock, enum log_wait as, uint64_t seen,
                  bool taken)
{
	if (!memory_states || rt.memory)
		return;
	memory_wrote(t);
	state(t, lock, as, seen, 0);
	if (!taken) {
		t->memory.failed = lock;
		t->memory.failed_for = as;
	}
	t->memory.held += taken;
	t->memory.section = !taken;
}

void memory_releases(struct thread *t)
{
	if (!memory_states || rt.memory || t->memory.held == 0)
		return;
	t->memory.held--;
	t->memory.section = true;
}
