/*
 * tries.h - the observations of each failed try of a trace (semantics.md, rule 2): the
 * acquires that held the lock, or the lock's destruction; of a try to take from a semaphore,
 * the takes that had emptied it.
 *
 * The entry is trace_tries: one pass over a trace, for the orders, M2's cones and the solver
 * alike. It reads events alone; only tries_sections concerns other schedules.
 */
#ifndef HEDDLE_TRIES_H
#define HEDDLE_TRIES_H

#include "engine/trace/index.h"

struct tries {
	const struct trace *t;
	/* Failed tries, not inert, ascending; the events that they observed. */
	uint32_t *events;
	uint32_t count;
	/* By index: did it fail because of others?  (Not where the lock was free, and not
	 * with some count left.) */
	bool *binding;
	struct event_lists observed; /* by index of events */
};
/* Of a trace with an index; the index keeps it.  The first call walks the trace, from any
 * thread. */
const struct tries *trace_tries(const struct trace *t);
void tries_free(struct tries *s); /* may be NULL */

/*
 * The events that a failed try observed, ascending; none of an event that is no such try. Of
 * a lock: all open acquires, its own thread's too; without one, the destruction since which
 * it was not acquired. An exclusive acquire or release ends the sections open before (with
 * --lenient sections may be open). Of a semaphore without count: the last take of each
 * thread.
 */
struct event_list tries_observed(const struct tries *s, uint32_t event);
bool tries_binding(const struct tries *s, uint32_t event);

/* A failed try of a lock needs some other thread to hold the lock in every schedule, not the
 * one that held it in the trace. */
enum try_need {
	TRY_NOTHING,   /* of other threads: its own held the lock, or none did */
	TRY_DESTROYED, /* the destruction of the lock, which was not taken again */
	TRY_EXCLUSIVE, /* a holder that is exclusive, as it was: it may have been a try to share
	                */
	TRY_ANY,       /* any: it failed beside readers */
};
enum try_need tries_need(const struct tries *s, uint32_t tryfail);
/* All that would do: acquires, in the order of the trace, appended; or that destruction.  Needs
 * INDEX_OBJECTS. */
void tries_sections(const struct tries *s, uint32_t tryfail, GArray *acquires);

#endif
