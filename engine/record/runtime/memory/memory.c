/*
 * memory.c - the entry points of memory.h: each model's action at an event.
 */
#include <malloc.h>
#include <string.h>

#include "engine/record/runtime/core/rt.h"
#include "views.h"

static unsigned laziness; /* of this run: one choice in 1 << laziness chances */

void memory_init(void)
{
	rt.memory = rt.controlled ? rt.config.memory : LOG_SC;
	memory_states = rt.controlled && rt.config.flags & LOG_EXPLORE;
	laziness = 1 + (unsigned)(rt.config.seed * HASH_FACTOR >> 40) % 7;
}

bool memory_chooses(void)
{
	return !rt.replay && rt.config.strategy != STRATEGY_FIRST &&
	       !(rt.config.flags & LOG_EXPLORE);
}

bool memory_chance(unsigned shift)
{
	return (next_random() >> 32 & ((1u << (shift ? shift : laziness)) - 1)) == 0;
}

void memory_note(const char *what)
{
	static const char *said[8];
	for (unsigned i = 0; i < 8; i++) {
		if (said[i] == what)
			return;
		if (said[i])
			continue;
		said[i] = what;
		log_note("memory", what);
		return;
	}
}

void *memory_new(size_t bytes)
{
	enum { CHUNK = 1 << 20 };
	static char *at, *end;
	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > CHUNK / 4)
		return rt_pages(bytes);
	if (at == NULL || (size_t)(end - at) < bytes) {
		at = rt_pages(CHUNK);
		if (!at)
			rt_die(SIGKILL);
		end = at + CHUNK;
	}
	char *p = at;
	at += bytes;
	return p;
}

void memory_before(struct thread *t, enum log_tag tag, const void *p, size_t size)
{
	log_value(t);
	if (rt.memory != LOG_TSO)
		return;
	buffers_tick(t);
	buffers_touched(t, (uintptr_t)p, size);
	t->memory.buffers = tag == LOG_WRITE && !rt.waiting;
	if (t->memory.buffers)
		buffers_room(t);
}

void memory_logged(struct thread *t, enum log_tag tag, unsigned order, const void *p,
                   size_t size)
{
	bool write = tag == LOG_WRITE || tag == LOG_AWRITE;
	if (rt.memory == LOG_RC11) {
		if (tag == LOG_READ || tag == LOG_WRITE)
			stores_plain(t, write, (uintptr_t)p, size);
		return;
	}
	bool waits = t->memory.buffers;
	t->memory.buffers = false;
	if (!write || (tag == LOG_AWRITE && order == 5))
		return;
	buffers_add(t, (uintptr_t)p, size, !waits);
}

void memory_call(struct thread *t)
{
	if (rt.memory == LOG_TSO)
		buffers_leave(t);
}

void memory_point(struct thread *t)
{
	if (rt.memory == LOG_TSO && memory_chooses())
		buffers_leave(t);
}

void memory_end(struct thread *t)
{
	if (rt.memory == LOG_TSO && rt.on)
		buffers_leave(t);
}

void memory_left(struct thread *t)
{
	while (rt.memory == LOG_TSO && memory_arrive(t))
		;
}

/* The operations that synchronise memory (POSIX, "Memory Synchronization"). Under TSO no other
 * call empties the buffer: what a function of the C library does within is no event that
 * exploration or a checker could know of. */
#define BIT(tag) (1ull << LOG_##tag)
#define SYNCHRONISES \
	(BIT(ACQ) | BIT(REL) | BIT(RACQ) | BIT(RREL) | BIT(TRYFAIL) | BIT(TAKETRYFAIL) | \
	 BIT(WAIT) | BIT(WAKE) | BIT(SIGNAL) | BIT(BROADCAST) | BIT(ARRIVE) | BIT(DEPART) | \
	 BIT(POST) | BIT(TAKE) | BIT(FORK) | BIT(JOIN) | BIT(SND) | BIT(RCV))

void memory_gone(struct thread *t, uintptr_t address, size_t size)
{
	if (rt.memory == LOG_TSO)
		buffers_freed(t, address, size);
	else
		stores_forget(address, size);
}

void memory_again(struct thread *t)
{
	t->memory.again = true;
}

void memory_event(struct thread *t, enum log_tag tag, uintptr_t object)
{
	bool again = t->memory.again;
	t->memory.again = false;
	if (again || !(SYNCHRONISES >> tag & 1))
		return;
	if (rt.memory == LOG_TSO)
		buffers_drain(t);
	else
		views_event(t, tag, object);
}

void memory_fence(struct thread *t, unsigned order)
{
	if (rt.memory == LOG_RC11)
		stores_fence(t, order);
	else if (order == 5)
		buffers_leave(t);
}

void memory_wide(struct thread *t)
{
	memory_note("atomics of 16 bytes were sequentially consistent");
	if (rt.memory == LOG_TSO)
		buffers_leave(t);
	else
		stores_wide(t);
}
