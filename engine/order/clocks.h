/*
 * clocks.h - vector clocks in rows that are shared, not copied: a thread's clock changes
 * only where an edge from another thread tells it something new, and all events up to the
 * next such place share one row.
 *
 * Time is the event's id: row[u] is one more than the last event of thread u that is known,
 * so "e is known" is row[thread of e] > e and needs no position in the thread.  A row has
 * one plane for orders that are composed with program order, two for those composed with
 * happens-before (CP, WCP): plane 0 is what happens before, plane 1 what the order itself
 * puts before.  A row's own thread's component in plane 0 means nothing (the event's id
 * says it).
 *
 * Rows are never written to once somebody else may hold their number.  Nothing is counted:
 * who streams calls clocks_sweep when clocks_crowded says so, with the rows still in use.
 * Knows nothing of what the edges mean.
 */
#ifndef HEDDLE_CLOCKS_H
#define HEDDLE_CLOCKS_H

#include "engine/base/base.h"

struct clocks {
	uint32_t threads, planes;
	uint32_t width;  /* cells a row */
	uint32_t *cells; /* rows, one after the other; row 0 is all zero */
	uint32_t rows, capacity;
	uint32_t *now;     /* by thread: its row at the event that is being looked at */
	uint32_t *made_at; /* by thread: the event whose edges made that row, NONE if sealed */
	uint32_t *told_at; /* by thread: the last event that an edge told something new */
	/* Nobody asks for a row that was not held: the thread's own changes in place until it
	 * is.  Few rows are then in use, and these lie in the cache. */
	bool in_place;
	uint32_t *free_rows, free_count;
	uint32_t crowded; /* rows at which a sweep is due */
	uint8_t *marks;   /* during a sweep */
	uint32_t marked;  /* how many times clocks_mark was called in it */
};

/* An event to which edges may lead back: itself and what it knew. */
struct point {
	uint32_t event, row;
};
#define NO_POINT ((struct point){ NONE, 0 })

void clocks_init(struct clocks *c, uint32_t threads, uint32_t planes);
void clocks_release(struct clocks *c);

static inline const uint32_t *clocks_row(const struct clocks *c, uint32_t row)
{
	return c->cells + (size_t)row * c->width;
}
/* What happened before the event that thread `t` is at (plane 0), or what the order itself
 * puts before it (the last plane). */
static inline const uint32_t *clocks_now(const struct clocks *c, uint32_t t)
{
	return clocks_row(c, c->now[t]);
}
static inline const uint32_t *clocks_strong(const struct clocks *c, uint32_t t)
{
	return clocks_now(c, t) + (c->planes - 1) * c->threads;
}

uint32_t clocks_make_room(struct clocks *c);
static inline uint32_t clocks_row_new(struct clocks *c)
{
	return c->free_count > 0 ? c->free_rows[--c->free_count] : clocks_make_room(c);
}

/*
 * Thread `to` learns at event `at`, by an edge, what `from` (an event of thread
 * `from_thread`) knew and did.  A `base` edge is one of the order itself, which plane 1
 * takes with all of plane 0; any other carries plane 1 on.  True when that was new.
 */
bool clocks_join(struct clocks *c, uint32_t to, uint32_t at, uint32_t from_thread,
                 struct point from, bool base);
/* The same in short, of clocks with one plane that do not change in place, where it is new. */
static inline void clocks_tell(struct clocks *c, uint32_t to, uint32_t at, uint32_t from_thread,
                               struct point from)
{
	uint32_t made = clocks_row_new(c), threads = c->threads;
	uint32_t *row = c->cells + (size_t)made * c->width;
	const uint32_t *known = clocks_row(c, c->now[to]), *other = clocks_row(c, from.row);

	for (uint32_t u = 0; u < threads; u++)
		row[u] = MAX(known[u], other[u]);
	row[from_thread] = MAX(row[from_thread], from.event + 1);
	c->now[to] = made;
	c->made_at[to] = c->told_at[to] = at;
}
/* The thread's row as it is now is held by somebody: the next join makes a new one. */
static inline uint32_t clocks_hold(struct clocks *c, uint32_t t)
{
	c->made_at[t] = NONE;
	return c->now[t];
}

/* Free the rows that nobody marks. */
static inline bool clocks_crowded(const struct clocks *c)
{
	return c->rows - c->free_count >= c->crowded;
}
void clocks_sweep_begin(struct clocks *c); /* marks the threads' own rows */
static inline void clocks_mark(struct clocks *c, uint32_t row)
{
	c->marks[row] = 1;
	c->marked++;
}
void clocks_sweep_end(struct clocks *c);

#endif
