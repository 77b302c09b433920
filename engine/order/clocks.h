/*
 * clocks.h - vector clocks, shared rather than copied: a thread's clock changes only at an edge
 * that adds to it, and all events up to the next such edge share one clock.
 *
 * Times are event ids: clock[u] is one more than the last event of thread u that happens
 * before, so "e happens before" is clock[thread of e] > e, without e's position in its thread.
 * A clock has one plane for orders composed with program order and two for those composed with
 * happens-before (CP, WCP): plane 0 is happens-before, plane 1 the order itself. The component
 * of the clock's own thread in plane 0 is unused (the event's id has it).
 *
 * Clocks are named by index and immutable once another holder may have the index. They have no
 * reference counts: streaming callers call causality_sweep when clocks_sweep_due, and mark
 * those in use.
 */
#ifndef HEDDLE_CLOCKS_H
#define HEDDLE_CLOCKS_H

#include "engine/base/base.h"

struct clocks {
	uint32_t threads, planes;
	uint32_t width;  /* components of a clock */
	uint32_t *cells; /* all clocks; clock 0 is all zero */
	uint32_t count, capacity;
	uint32_t *now;       /* by thread: its clock at the current event */
	uint32_t *made_at;   /* by thread: event whose edges made that clock; NONE: immutable */
	uint32_t *joined_at; /* by thread: last event whose edges changed its clock */
	/* A thread's clock is changed in place until clocks_hold: few clocks are in use then,
	 * and these stay in the cache. */
	bool in_place;
	uint32_t *unused, unused_count;
	uint32_t sweep_at; /* number of clocks at which a sweep is due */
	uint8_t *marks;    /* during a sweep */
	uint32_t marked;   /* calls of clocks_mark during a sweep */
};

/* Source of edges: an event and its vector clock. */
struct point {
	uint32_t event, clock;
};
#define NO_POINT ((struct point){ NONE, 0 })

void clocks_init(struct clocks *c, uint32_t threads, uint32_t planes);
void clocks_release(struct clocks *c);

static inline const uint32_t *clocks_at(const struct clocks *c, uint32_t clock)
{
	return c->cells + (size_t)clock * c->width;
}
/* Vector clock of the current event of thread `t`: plane 0, happens-before; _strong: the last
 * plane, the order itself. */
static inline const uint32_t *clocks_now(const struct clocks *c, uint32_t t)
{
	return clocks_at(c, c->now[t]);
}
static inline const uint32_t *clocks_strong(const struct clocks *c, uint32_t t)
{
	return clocks_now(c, t) + (c->planes - 1) * c->threads;
}

uint32_t clocks_make_room(struct clocks *c);
static inline uint32_t clocks_new(struct clocks *c)
{
	return c->unused_count > 0 ? c->unused[--c->unused_count] : clocks_make_room(c);
}

/* Join at event `at` of thread `to` with the source `from` of thread `from_thread`. A `base`
 * edge belongs to the order itself, so plane 1 joins with plane 0 of the source; another edge
 * joins plane 1 with plane 1. True when the clock changed. */
bool clocks_join(struct clocks *c, uint32_t to, uint32_t at, uint32_t from_thread,
                 struct point from, bool base);
/* clocks_join for one plane, not in place, where the caller knows that the clock changes. */
static inline void clocks_join_new(struct clocks *c, uint32_t to, uint32_t at,
                                   uint32_t from_thread, struct point from)
{
	uint32_t made = clocks_new(c), threads = c->threads;
	uint32_t *clock = c->cells + (size_t)made * c->width;
	const uint32_t *known = clocks_at(c, c->now[to]), *other = clocks_at(c, from.clock);

	for (uint32_t u = 0; u < threads; u++)
		clock[u] = MAX(known[u], other[u]);
	clock[from_thread] = MAX(clock[from_thread], from.event + 1);
	c->now[to] = made;
	c->made_at[to] = c->joined_at[to] = at;
}
/* Make the thread's current clock immutable and return it; the next join makes a new one. */
static inline uint32_t clocks_hold(struct clocks *c, uint32_t t)
{
	c->made_at[t] = NONE;
	return c->now[t];
}

/* Free the clocks that are not marked. */
static inline bool clocks_sweep_due(const struct clocks *c)
{
	return c->count - c->unused_count >= c->sweep_at;
}
void clocks_sweep_begin(struct clocks *c); /* marks the threads' own count */
static inline void clocks_mark(struct clocks *c, uint32_t clock)
{
	c->marks[clock] = 1;
	c->marked++;
}
void clocks_sweep_end(struct clocks *c);

#endif
