/*
 * index.h - what is derived from a trace once and used by many: who comes next in a
 * thread, which release ends a critical section, which write a read observes, and the
 * must-order of semantics.md, rule 4.
 *
 * Parts are built on demand (trace_need) in linear passes and live as long as the trace.
 * trace_need is not thread-safe: call it before the work is shared out.  For a binary
 * trace the parts are kept in a file of the XDG cache (or in memory alone), and are rebuilt
 * when they are stale.
 */
#ifndef HEDDLE_INDEX_H
#define HEDDLE_INDEX_H

#include "engine/trace/trace.h"

enum index_part {
	INDEX_THREADS = 1,   /* thread_events, position */
	INDEX_MATCH = 2,     /* partner */
	INDEX_VARIABLES = 4, /* accesses of each variable */
	INDEX_OBJECTS = 8,   /* events of each object */
	INDEX_WRITERS = 16,  /* observed writes */
	INDEX_MUST = 32,     /* must-order edges between threads */
	INDEX_SITES = 64,    /* accesses of each site */
	INDEX_ALL = 127,
};

/* Lists of events in one array: list i is items[start[i]] .. items[start[i + 1] - 1]. */
struct event_lists {
	const uint64_t *start; /* one more than there are lists */
	const uint32_t *items; /* events, ascending */
};
struct event_list {
	const uint32_t *items;
	uint64_t count;
};
static inline struct event_list event_list_at(const struct event_lists *lists, uint32_t i)
{
	return (struct event_list){ lists->items + lists->start[i],
		                    lists->start[i + 1] - lists->start[i] };
}
/* How many events of an ascending list have an id below `event`? */
static inline uint64_t event_list_before(struct event_list list, uint32_t event)
{
	uint64_t low = 0, high = list.count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (list.items[middle] < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum must_rule { /* which sentence of rule 4 (or 5) an edge comes from */
	         MUST_FORK,
	         MUST_JOIN,
	         MUST_MESSAGE,   /* snd before rcv */
	         MUST_ALLOC,     /* alloc before an access and the free of its block */
	         MUST_FREE,      /* free of one life before the next alloc */
	         MUST_SEMAPHORE, /* post before take */
	         MUST_BARRIER,   /* arrive before depart */
	         MUST_WAKER,     /* signal or broadcast before the wake */
	         MUST_WAIT, /* wait before its waker: conditional, holds only where the wake is
	                       in */
	         MUST_INVOCATION, /* non-commuting invocations of one object (rule 5's
	                             fall-back) */
	         MUST_MISSING, /* barrier pairs (RDIT); only with `missing` taken into account
	                        */
};

/*
 * An edge between threads: `before` must precede `after`.  For MUST_WAIT, `condition` is
 * the wake event for which it holds (the edge is from the wait to the waker); otherwise
 * NONE.  MUST_ALLOC edges go to the first access of the block in each other thread only;
 * program order carries them on.  MUST_FREE and MUST_INVOCATION edges likewise are
 * reduced to what, with program order, implies the rest.
 */
struct must_edge {
	uint32_t before, after, condition;
	uint32_t rule; /* enum must_rule */
};

struct trace_index {
	unsigned parts; /* which are there */

	/* INDEX_THREADS */
	struct event_lists thread_events; /* by thread: all its events, inert ones too */
	const uint32_t *position;         /* by event: its index in its thread's list */

	/* INDEX_MATCH, by event: ACQ/RACQ <-> REL/RREL, WAIT <-> WAKE, CALL <-> RET, UBEG <->
	 * UEND, MISS <-> BACK, ENTER <-> LEAVE, FORK -> first event of the thread, JOIN -> its
	 * last event; NONE otherwise. */
	const uint32_t *partner;

	/* INDEX_VARIABLES: accesses of each variable, without inert ones */
	struct event_lists variable_events;
	/* INDEX_OBJECTS: SYNC events of each object, without inert ones */
	struct event_lists object_events;
	/* INDEX_SITES: accesses of each site */
	struct event_lists site_events;

	/*
	 * INDEX_WRITERS, by event: for a reading access of one variable, the last write to it
	 * before (NONE: the initial value).  For an access with EVENT_WIDE that reads:
	 * WRITER_WIDE + i, where wide_writers' run i has one entry for each variable.
	 * NONE for all other events.  Use trace_writers().
	 */
	const uint32_t *writer;
	struct event_lists wide_writers; /* items may be NONE and are not ascending */

	/* INDEX_MUST, sorted by `after` (then `before`), and the same edges by `before`. */
	const struct must_edge *must;
	uint64_t must_count;
	const uint32_t *must_by_before; /* indexes into must, ordered by their `before` */

	struct tries *tries; /* trace_tries (tries.h); NULL as long as nobody has asked */

	unsigned mapped; /* parts that lie in the mapping of a file, not in allocations */
	void *map;
	uint64_t map_length;
};

/* Build what is missing.  False when it was cancelled. */
bool trace_need(struct trace *t, unsigned parts, const struct progress *progress);

static inline struct event_list trace_thread_events(const struct trace *t, uint32_t thread)
{
	return event_list_at(&t->index->thread_events, thread);
}
/* How many of a thread's events were recorded before this event? */
static inline uint32_t trace_events_before(const struct trace *t, uint32_t thread,
                                           uint32_t event)
{
	return (uint32_t)event_list_before(trace_thread_events(t, thread), event);
}
/*
 * The edges (struct must_edge; taken over) in the place of the must-order of a reading
 * (trace_reading), whose INDEX_MUST is there: for who knows more or less of what must come
 * first than rule 4 says.
 */
void trace_replace_must(struct trace *t, GArray *edges);
/* Thread-local neighbours, NONE at the ends. */
uint32_t trace_previous(const struct trace *t, uint32_t event);
uint32_t trace_next(const struct trace *t, uint32_t event);
/* The must-order edges into (out of) an event: a run of index->must (must_by_before). */
struct must_run {
	uint64_t first, count;
};
struct must_run trace_must_into(const struct trace *t, uint32_t event);
struct must_run trace_must_from(const struct trace *t, uint32_t event);
/* The observed writes of a reading access, one for each variable it covers (NONE where it
 * is the initial value). */
struct event_list trace_writers(const struct trace *t, uint32_t event);

/* The locks held at an event (by its thread, just before it): acquire events, outermost
 * first, appended to `acquires` (GArray of uint32_t).  Costs a walk back in the thread. */
void trace_locks_held(const struct trace *t, uint32_t event, GArray *acquires);
/* The call stack at an event: index of trace.contexts (0: empty). */
uint32_t trace_stack(const struct trace *t, uint32_t event);
/* The frames of that stack (`context`: trace_stack's) at an event, innermost first, those
 * that the compiler inlined among them: struct frame; the caller frees. */
struct frame {
	uint32_t function; /* string; 0 unknown */
	uint32_t location; /* where in it */
};
GArray *trace_frames(const struct trace *t, uint32_t event, uint32_t context);
/* So many of the frames tell something: without the C++ library's outermost ones, which call
 * what a std::thread was given. */
guint trace_frames_shown(const struct trace *t, const GArray *frames);
/* Both halves of an invocation that is an ACT, CALL or RET event. */
struct invocation {
	uint32_t instance, method;
	uint32_t call, ret; /* events; the same for an ACT; ret NONE when it never returned */
	const uint32_t *arguments, *results; /* indexes of trace.values */
	uint32_t argument_count, result_count;
};
struct invocation trace_invocation(const struct trace *t, uint32_t event);

#endif
