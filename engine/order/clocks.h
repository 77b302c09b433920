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
 *
 * With few threads a clock is an array. With many (CLOCKS_WIDE) an array for each clock would
 * be memory of the square of the threads that ever lived, so a clock is a tree (wide_clocks.c)
 * that shares all parts that are equal with the clocks it was joined from; the tree of threads
 * of which nothing is known is empty.
 */
#ifndef HEDDLE_CLOCKS_H
#define HEDDLE_CLOCKS_H

#include "engine/order/wide_clocks.h"
#include "engine/trace/sync_point.h"

struct clocks {
	uint32_t threads, planes;
	bool wide;
	uint32_t width;  /* words of a clock: components; wide: a root for each plane */
	uint32_t *cells; /* all clocks; clock 0 is all zero */
	struct wide_nodes nodes;
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
struct edge_source {
	uint32_t event, clock;
};
#define NO_POINT ((struct edge_source){ NONE, 0 })

void clocks_init(struct clocks *c, uint32_t threads, uint32_t planes);
/* Raise the number of threads. The new threads' components are 0 in every clock, and their own
 * clocks are empty. Every clock keeps its number. */
void clocks_grow(struct clocks *c, uint32_t threads);
void clocks_release(struct clocks *c);

static inline const uint32_t *clocks_at(const struct clocks *c, uint32_t clock)
{
	return c->cells + (size_t)clock * c->width;
}
/* The component of a clock for a thread: plane 0, happens-before; _strong: the last plane, the
 * order itself. */
static inline uint32_t clocks_time(const struct clocks *c, uint32_t clock, uint32_t thread)
{
	const uint32_t *at = clocks_at(c, clock);

	return G_UNLIKELY(c->wide) ? wide_time(&c->nodes, at[0], thread) : at[thread];
}
static inline uint32_t clocks_strong_time(const struct clocks *c, uint32_t clock,
                                          uint32_t thread)
{
	const uint32_t *at = clocks_at(c, clock);

	return G_UNLIKELY(c->wide) ? wide_time(&c->nodes, at[c->planes - 1], thread)
	                           : at[(c->planes - 1) * c->threads + thread];
}
/* The component in the clock of thread `t`'s current event. */
static inline uint32_t clocks_now_time(const struct clocks *c, uint32_t t, uint32_t thread)
{
	return clocks_time(c, c->now[t], thread);
}
/* to[u] := the larger of to[u] and the strong component for u, of all threads. Wide, it costs
 * the number of components that are not 0. */
void clocks_join_into(const struct clocks *c, uint32_t clock, uint32_t *to);

static inline struct clock_view clocks_view(const struct clocks *c, uint32_t clock)
{
	const uint32_t *at = clocks_at(c, clock);

	if (G_UNLIKELY(c->wide))
		return (struct clock_view){ NULL, &c->nodes, at[c->planes - 1] };
	return (struct clock_view){ at + (c->planes - 1) * c->threads, NULL, 0 };
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
                 struct edge_source from, bool base);
/* A clock of one plane of what happens before an event that comes after all points. */
uint32_t clocks_joined(struct clocks *c, const struct sync_point *points, uint32_t count);
/* The same of two planes, for each point the clock of all others: made[i], and made[count] of
 * all. Of these, plane 0 alone counts. */
void clocks_joined_others(struct clocks *c, const struct sync_point *points, uint32_t count,
                          uint32_t *made);
/* Frees clocks of clocks_joined_others, which nothing else holds. */
void clocks_give_back(struct clocks *c, const uint32_t *clocks, uint32_t count);
/* Join with such a clock; it belongs to the order itself. */
bool clocks_join_joined(struct clocks *c, uint32_t to, uint32_t at, uint32_t clock);
/* clocks_join for one plane, not in place, where the caller knows that the clock changes. */
static inline void clocks_join_new(struct clocks *c, uint32_t to, uint32_t at,
                                   uint32_t from_thread, struct edge_source from)
{
	if (G_UNLIKELY(c->wide)) {
		c->made_at[to] = NONE;
		clocks_join(c, to, at, from_thread, from, false);
		return;
	}
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
	return c->count - c->unused_count >= c->sweep_at ||
	       c->nodes.count - c->nodes.unused_count >= c->nodes.sweep_at;
}
void clocks_sweep_begin(struct clocks *c); /* marks the threads' own count */
static inline void clocks_mark(struct clocks *c, uint32_t clock)
{
	c->marks[clock] = 1;
	c->marked++;
}
void clocks_sweep_end(struct clocks *c);

#endif
