/*
 * oracle_private.h - the rules of a small trace, for oracle.c and oracle_stuck.c.
 */
#ifndef HEDDLE_ORACLE_PRIVATE_H
#define HEDDLE_ORACLE_PRIVATE_H

#include "tests/property/oracle.h"

enum { MAX_EVENTS = 32, MAX_VARIABLES = 24, MAX_THREADS = 16 };
typedef uint32_t set; /* of events */

static inline set bit(uint32_t e)
{
	return (set)1 << e;
}

struct rules {
	const struct trace *t;
	uint32_t n, threads, variables;
	uint32_t order[MAX_THREADS][MAX_EVENTS]; /* events of each thread */
	uint32_t length[MAX_THREADS], position[MAX_EVENTS];
	set must[MAX_EVENTS];      /* rule 4 (and 5): events that must come before */
	set paired[MAX_EVENTS];    /* of these, by the pairing of an object's operations */
	set freed[MAX_EVENTS];     /* rule 6: events that must not come before */
	set release[MAX_EVENTS];   /* of an acquire: its release, or nothing */
	set rivals[MAX_EVENTS];    /* of an acquire: the other ones that exclude it */
	set destroyed[MAX_EVENTS]; /* of a tryfail: the destruction that it met */
	set holders[MAX_EVENTS];   /* of a tryfail: acquires in whose sections it fails */
	bool empty[MAX_EVENTS];    /* a taketryfail that saw no count */
	set object_posts[MAX_EVENTS], object_takes[MAX_EVENTS];
	uint32_t wait[MAX_EVENTS], waker[MAX_EVENTS]; /* of a wake, or NONE */
	uint8_t writers[MAX_EVENTS][MAX_VARIABLES];   /* observed in the trace; 255 initial */
	uint32_t initial[MAX_VARIABLES];              /* value, if a read shows it; 0 */
	bool use_values, keep_sections;
};

struct state {
	set done, spoiled;
	uint8_t last[MAX_VARIABLES]; /* last writer, 255 none */
};

static inline const struct event *event(const struct rules *r, uint32_t e)
{
	return &r->t->events[e];
}
static inline bool is(const struct rules *r, uint32_t e, enum op op)
{
	return event(r, e)->op == op && !event_inert(event(r, e));
}
static inline bool same_target(const struct rules *r, uint32_t e, uint32_t f)
{
	return event(r, e)->target == event(r, f)->target;
}

/* Freed by g_free. */
struct rules *rules_new(const struct trace *t, bool use_values, bool keep_sections);
bool rules_allow_next(const struct rules *r, const struct state *s, uint32_t e);
void rules_take_next(const struct rules *r, struct state *s, uint32_t e);
/* The next event of a thread after `done`, or NONE. */
uint32_t rules_next(const struct rules *r, set done, uint32_t u);

#endif
