/*
 * buffers.c - TSO: the buffers of stores.
 *
 * While a thread runs, memory is as it sees it: its stores are there.  When the token goes to
 * another thread they are taken away, the newest first, and laid again, the oldest first, when
 * it comes back.  So loads need nothing, and code that is not instrumented sees its thread's
 * stores. A store is complete at its thread's next hook.
 *
 * A store to the thread's own stack stays in memory, for frames come and go there, and so does
 * one of more than WIDEST bytes; it waits in its place all the same, and arrives, with those
 * before it, when another thread comes there.
 */
#include <string.h>

#include "engine/record/runtime/core/rt.h"
#include "engine/record/runtime/memory/memory.h"

enum { MOST = 512, WIDEST = 16 };

struct waiting {
	uintptr_t address;
	uint64_t ordinal; /* number of its event in its thread */
	size_t size;
	bool there; /* it stays in memory */
	bool gone;  /* its memory has ended since: it arrives nowhere */
	unsigned char before[WIDEST], after[WIDEST];
};

struct buffer {
	uint32_t first, count;
	bool open; /* the newest is being stored */
	struct waiting at[MOST];
};

static struct thread *laid;                  /* the thread whose stores are visible in
                                              * memory, or NULL */
static struct thread *holders[WEAK_THREADS]; /* threads with waiting stores */
static unsigned holder_count, there_count;

static struct waiting *nth(struct buffer *b, uint32_t i)
{
	return &b->at[(b->first + i) % MOST];
}

static void settle(struct thread *t)
{
	struct buffer *b = t->memory.buffer;
	if (!b || !b->open)
		return;
	struct waiting *w = nth(b, b->count - 1);
	if (w->size <= WIDEST)
		memcpy(w->after, (const void *)w->address, w->size);
	b->open = false;
}

static void take_away(struct thread *t)
{
	struct buffer *b = t->memory.buffer;
	if (!b)
		return;
	settle(t);
	for (uint32_t i = b->count; i-- > 0;) {
		struct waiting *w = nth(b, i);
		if (w->there || w->gone)
			continue;
		if (memcmp((const void *)w->address, w->after, w->size) == 0) {
			memcpy((void *)w->address, w->before, w->size);
		} else { /* uninstrumented code has written there */
			w->there = true;
			there_count++;
			memory_note("code that is not instrumented wrote where a store waited");
		}
	}
}

static void lay(struct thread *t)
{
	struct buffer *b = t->memory.buffer;
	for (uint32_t i = 0; b && i < b->count; i++) {
		struct waiting *w = nth(b, i);
		if (w->there || w->gone)
			continue;
		memcpy(w->before, (const void *)w->address, w->size);
		memcpy((void *)w->address, w->after, w->size);
	}
}

void memory_view(struct thread *next)
{
	if (rt.memory != LOG_TSO || laid == next)
		return;
	if (laid)
		take_away(laid);
	laid = next;
	if (next)
		lay(next);
}

/* Writes the record that a store has arrived; the running thread may write another thread's. */
static void buffers_flushed(struct thread *t, uint64_t ordinal)
{
	if (!rt.on)
		return;
	if (me->stream)
		log_value(me);
	log_turn(t);
	log_put(t->stream, log_word(LOG_FLUSH, 0, 0), &ordinal, 1);
}

static void forget_holder(const struct thread *t)
{
	for (unsigned i = 0; i < holder_count; i++)
		if (holders[i] == t) {
			for (; i + 1 < holder_count; i++)
				holders[i] = holders[i + 1];
			holder_count--;
			return;
		}
}

bool memory_arrive(struct thread *t)
{
	struct buffer *b = t ? t->memory.buffer : NULL;
	if (!b || b->count == 0)
		return false;
	struct waiting *w = nth(b, 0);
	if (laid == t) {
		if (b->count == 1)
			settle(t);
	} else if (!w->there && !w->gone) {
		struct thread *over = laid;
		memory_view(NULL);
		memcpy((void *)w->address, w->after, w->size);
		memory_view(over);
	}
	there_count -= w->there;
	uint64_t ordinal = w->ordinal;
	b->first = (b->first + 1) % MOST;
	if (--b->count == 0)
		forget_holder(t);
	buffers_flushed(t, ordinal);
	return true;
}

void buffers_drain(struct thread *t)
{
	struct buffer *b = t->memory.buffer;
	if (!b || b->count == 0)
		return;
	if (replay_strict())
		replay_arrivals(t);
	while (memory_arrive(t))
		;
}

/*
 * buffers_drain where other threads may run in between: the thread waits for its stores. Half
 * of the times others get one turn or several before a store arrives, as many as an outcome may
 * need (rwc: of two threads, one after the other).
 */
void buffers_leave(struct thread *t)
{
	enum { PATIENCES = 5 }; /* powers of two */
	struct buffer *b = t->memory.buffer;
	if (b && b->count && memory_chooses()) {
		unsigned turns = memory_chance(1) ? 0 : 1u << (next_random() >> 33) % PATIENCES;
		while (b->count) {
			if (turns == 0 || memory_chance(0) || !sched_let_others(t))
				memory_arrive(t);
			else
				turns--;
		}
	}
	buffers_drain(t);
}

void buffers_tick(struct thread *t)
{
	if (rt.replay || holder_count == 0)
		return;
	if (!memory_chooses()) {
		while (holder_count)
			memory_arrive(holders[0]);
		return;
	}
	while (holder_count && memory_chance(0))
		memory_arrive(holders[next_random() % holder_count]);
}

static bool overlaps(const struct waiting *w, uintptr_t address, size_t size)
{
	return w->address < address + size && address < w->address + w->size;
}

/* Before `t` accesses these bytes: other threads' waiting stores to them arrive. */
void buffers_touched(const struct thread *t, uintptr_t address, size_t size)
{
	for (unsigned k = 0; there_count && k < holder_count;) {
		struct thread *other = holders[k];
		struct buffer *b = other->memory.buffer;
		uint32_t upto = 0;
		for (uint32_t i = 0; other != t && i < b->count; i++)
			if (nth(b, i)->there && overlaps(nth(b, i), address, size))
				upto = i + 1;
		bool gone = upto == b->count;
		while (upto-- > 0)
			memory_arrive(other);
		k += !gone;
	}
}

/* The thread's own stores to these bytes keep their places in the buffer, as its other stores
 * must not come earlier for it, but arrive nowhere. Of another thread they arrive now. */
void buffers_freed(struct thread *t, uintptr_t address, size_t size)
{
	struct buffer *own = t->memory.buffer;
	if (own && own->open)
		settle(t);
	for (uint32_t i = 0; own && i < own->count; i++) {
		struct waiting *w = nth(own, i);
		if (w->gone || !overlaps(w, address, size))
			continue;
		w->gone = true;
		there_count -= w->there;
		w->there = false;
	}
	for (unsigned k = 0; k < holder_count;) {
		struct thread *other = holders[k];
		if (other == t) {
			k++;
			continue;
		}
		struct buffer *b = other->memory.buffer;
		uint32_t upto = 0;
		for (uint32_t i = 0; i < b->count; i++)
			if (!nth(b, i)->gone && overlaps(nth(b, i), address, size))
				upto = i + 1;
		bool gone = upto == b->count;
		while (upto-- > 0)
			memory_arrive(other);
		k += !gone;
	}
}

void buffers_room(struct thread *t)
{
	struct buffer *b = t->memory.buffer;
	if (!b)
		b = t->memory.buffer = memory_new(sizeof(*b));
	memory_view(t);
	settle(t);
	if (b->count == MOST)
		memory_arrive(t);
	if (b->count == 0 && holder_count == WEAK_THREADS)
		while (memory_arrive(holders[0]))
			;
}

/* Adds the store whose record was just written; `there`: it is made in memory at once. */
void buffers_add(struct thread *t, uintptr_t address, size_t size, bool there)
{
	buffers_room(t);
	struct buffer *b = t->memory.buffer;
	if (b->count == 0)
		holders[holder_count++] = t;
	struct waiting *w = nth(b, b->count++);
	*w = (struct waiting){
		.address = address,
		.ordinal = t->ordinal - 1,
		.size = size,
		.there = there || size > WIDEST ||
		         address - t->life.stack_low < t->life.stack_high - t->life.stack_low,
	};
	there_count += w->there;
	if (!w->there)
		memcpy(w->before, (const void *)address, size);
	b->open = true;
}
