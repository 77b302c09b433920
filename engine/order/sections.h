/*
 * sections.h - state shared by the two rules over critical sections (rules.h).
 *
 * Each section has a serial number, under which its end is stored once. Accesses are remembered
 * by that number alone.
 */
#ifndef HEDDLE_SECTIONS_H
#define HEDDLE_SECTIONS_H

#include "engine/order/clocks.h"
#include "engine/trace/event.h"

/* Where a section ends. */
struct section_end {
	uint32_t end; /* one more than the event of its release; NONE: never */
	uint32_t thread;
};
/* The only open section of a thread, where it is exclusive and its lock has no shared
 * sections. */
struct open_section {
	uint32_t key;
	uint32_t serial, end;
};
/* Values in place of a key: several such sections are open; none is, or one that is not so
 * simple. */
enum { NESTED_KEY = -2, NO_KEY = -1 };

/* An access in a section: serial * 2 + writes. */
#define TOUCH(serial, wrote) ((serial) << 1 | (wrote))
enum { NEAR = 7, SPILLED = UINT8_MAX };

/*
 * Accesses of one variable under one lock in one mode. Exclusive sections that write it are
 * ordered by rule (a) itself, so only the last one is kept, and `near` holds the reading
 * sections since. Shared sections do not exclude each other: `near` holds them all, the last
 * of each thread and kind.
 */
struct guard {
	uint32_t key; /* as in struct held_section; 0: unused */
	uint32_t variable;
	uint32_t write;     /* serial; 0: none */
	uint32_t write_end; /* as in struct section_end */
	uint32_t write_thread : 24;
	uint32_t count : 8;  /* number of entries of near; SPILLED: near[0] is a spill's
	                      * index */
	uint32_t near[NEAR]; /* TOUCH values, oldest first */
};
/* A guard beside the predictor's own cell of the variable: an access needs one cache line. */
struct guard_line {
	uint64_t room[2]; /* the predictor's; all zero at first */
	struct guard guard;
};
_Static_assert(sizeof(struct guard_line) == 64, "a cache line");

struct held_sections;
struct rule_a;
struct rule_b;
struct sections {
	const struct trace *t;
	struct guard_line
	        *first; /* by variable: the guard of the lock it was first accessed under */
	struct section_end *list; /* by serial; serial 0 is ordered before everything */
	uint32_t *clocks;         /* by serial: vector clock of the release */
	uint32_t count, capacity;
	struct open_section *inside;   /* by thread */
	struct held_sections *holding; /* by thread */
	bool *is_shared;               /* by object: has it had a shared section? */
	uint64_t threads;
	bool overlap; /* --lenient: a lock may have several holders at a time */
	struct rule_a *rule_a;
	struct rule_b *rule_b; /* NULL: rule (b) does not apply */
};

/* sections_quiet for a thread with several open sections. */
bool sections_quiet_nested(struct sections *s, const struct clocks *clocks,
                           const struct event *x);
/* Is a plain access of the guard's variable, in a section on its lock, ordered after all that
 * conflicts? If so, it has been recorded in the guard. */
static inline __attribute__((always_inline)) bool
guard_quiet(const struct sections *s, struct guard *guard, struct open_section in,
            struct clock_view known, const struct event *x)
{
	uint32_t touch = TOUCH(in.serial, 0);

	if (guard->write == in.serial)
		return true;
	/* No other thread has accessed it since this section began. */
	if (x->op == OP_READ && guard->count > 0 && guard->near[guard->count - 1] == touch)
		return true;
	if (guard->write_thread != x->thread &&
	    view_time(known, guard->write_thread) < guard->write_end)
		return false;
	if (x->op == OP_READ) {
		if (guard->count == NEAR)
			return false;
		guard->near[guard->count++] = touch;
		return true;
	}
	for (uint32_t i = 0; i < guard->count; i++) {
		const struct section_end *reader = &s->list[guard->near[i] >> 1];

		if (reader->thread != x->thread &&
		    view_time(known, reader->thread) < reader->end)
			return false;
	}
	guard->write = in.serial;
	guard->write_end = in.end;
	guard->write_thread = x->thread;
	guard->count = 0;
	return true;
}

/* Fast path of sections_access for a plain access of one variable that is already ordered after
 * all conflicting sections, which most are. False: sections_access is needed. */
static inline __attribute__((always_inline)) bool
sections_quiet(struct sections *s, const struct clocks *clocks, const struct event *x)
{
	struct open_section in = s->inside[x->thread];
	struct guard *guard = &s->first[x->target].guard;

	if (G_UNLIKELY(guard->key != in.key || guard->count > NEAR))
		return in.key == (uint32_t)NESTED_KEY && sections_quiet_nested(s, clocks, x);
	return guard_quiet(s, guard, in, clocks_view(clocks, clocks->now[x->thread]), x);
}

#endif
