/*
 * sections.h - what the two rules over critical sections share: sections.c keeps who holds
 * what and has rule (b), guards.c has rule (a).
 *
 * A section has a serial number.  Where it ends is written down once, under that number, so
 * what is kept about its accesses is the number alone, and is kept while it lasts.
 */
#ifndef HEDDLE_SECTIONS_H
#define HEDDLE_SECTIONS_H

#include "engine/order/clocks.h"
#include "engine/trace/event.h"

struct ending {       /* of a section */
	uint32_t end; /* one more than its release, an event; NONE: it never ends */
	uint32_t thread;
};
/* A section that a thread is in, exclusive and on a lock without shared ones. */
struct inside {
	uint32_t key;
	uint32_t serial, end;
};
/* In the place of a key: it is in several such sections, or it is not so simple. */
enum { NESTED_KEY = -2, NO_KEY = -1 };

/* A section that accessed a variable: serial * 2 + wrote. */
#define TOUCH(serial, wrote) ((serial) << 1 | (wrote))
enum { NEAR = 7, SPILLED = UINT8_MAX };

/*
 * One variable under one lock in one mode.  Exclusive sections that write it are ordered
 * one after the other by rule (a) itself, so the last one stands for all before it, and
 * the readers since then are in `near`.  Shared sections do not exclude each other: there
 * all are in `near`, the last of each thread and kind.
 */
struct guard {
	uint32_t key; /* as held has it; 0 unused */
	uint32_t variable;
	uint32_t write;     /* serial; 0 none */
	uint32_t write_end; /* as struct ending has it */
	uint32_t write_thread : 24;
	uint32_t count : 8;  /* of near; SPILLED: near[0] is an index of spills */
	uint32_t near[NEAR]; /* touches, the oldest first */
};
/* With what others keep of the variable, so that one cache line has all that an access needs.
 */
struct line {
	uint64_t room[2]; /* for who walks; all zero at first */
	struct guard guard;
};
_Static_assert(sizeof(struct line) == 64, "a cache line");

struct holding;
struct rule_a;
struct rule_b;
struct sections {
	const struct trace *t;
	struct line *first;  /* by variable: the lock that it was first accessed under */
	struct ending *list; /* by serial; 0 is known to all */
	uint32_t *rows;      /* by serial: the row of the release */
	uint32_t count, capacity;
	struct inside *inside;   /* by thread */
	struct holding *holding; /* by thread */
	bool *is_shared;         /* by object: has a shared section begun on it? */
	uint64_t threads;
	bool overlap; /* --lenient took locks from their holders, who may go on */
	struct rule_a *rule_a;
	struct rule_b *rule_b; /* NULL: without */
};

/* sections_quiet where a thread is in several sections. */
bool sections_quiet_nested(struct sections *s, const struct clocks *clocks,
                           const struct event *x);
/* Does a plain access of the guard's variable, inside of a section on its lock, learn nothing?
 * Then all is done that it takes. */
static inline __attribute__((always_inline)) bool
guard_quiet(const struct sections *s, struct guard *guard, struct inside in,
            const uint32_t *known, const struct event *x)
{
	uint32_t touch = TOUCH(in.serial, 0);

	if (guard->write == in.serial)
		return true;
	/* Since this section began nobody else has been here. */
	if (x->op == OP_READ && guard->count > 0 && guard->near[guard->count - 1] == touch)
		return true;
	if (guard->write_thread != x->thread && known[guard->write_thread] < guard->write_end)
		return false;
	if (x->op == OP_READ) {
		if (guard->count == NEAR)
			return false;
		guard->near[guard->count++] = touch;
		return true;
	}
	for (uint32_t i = 0; i < guard->count; i++) {
		const struct ending *reader = &s->list[guard->near[i] >> 1];

		if (reader->thread != x->thread && known[reader->thread] < reader->end)
			return false;
	}
	guard->write = in.serial;
	guard->write_end = in.end;
	guard->write_thread = x->thread;
	guard->count = 0;
	return true;
}

/*
 * Most accesses inside of a section learn nothing: what conflicts with them is known.  This
 * does for such a plain access of one variable all that sections_access would; false: that
 * has to be called.
 */
static inline __attribute__((always_inline)) bool
sections_quiet(struct sections *s, const struct clocks *clocks, const struct event *x)
{
	struct inside in = s->inside[x->thread];
	struct guard *guard = &s->first[x->target].guard;

	if (G_UNLIKELY(guard->key != in.key || guard->count > NEAR))
		return in.key == (uint32_t)NESTED_KEY && sections_quiet_nested(s, clocks, x);
	return guard_quiet(s, guard, in, clocks_strong(clocks, x->thread), x);
}

#endif
