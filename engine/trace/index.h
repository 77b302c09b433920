/*
 * index.h - derived data of a trace: neighbours in a thread, releases of critical sections,
 * reads-from, and the must-order of semantics.md, rule 4.
 *
 * Parts are built on demand (trace_need) in linear passes and live as long as the trace.
 * trace_need is not thread-safe: call it before sharing the trace. For a binary trace the parts
 * are cached in a file of the XDG cache (or in memory only), and rebuilt when stale.
 */
#ifndef HEDDLE_INDEX_H
#define HEDDLE_INDEX_H

#include "engine/trace/trace.h"
#include "engine/base/search.h"

enum index_part {
	INDEX_THREADS = 1,   /* thread_events, position */
	INDEX_MATCH = 2,     /* partner */
	INDEX_VARIABLES = 4, /* accesses of each variable */
	INDEX_OBJECTS = 8,   /* events of each object */
	INDEX_WRITERS = 16,  /* reads-from */
	INDEX_MUST = 32,     /* must-order edges between threads */
	INDEX_SITES = 64,    /* accesses of each site */
	INDEX_ALL = 127,
};

/* Lists of events in one array: list i is items[start[i]] .. items[start[i + 1] - 1]. */
struct event_lists {
	const uint64_t *start; /* with an end entry */
	const uint32_t *items; /* events, ascending */
};
static inline struct event_list event_list_at(const struct event_lists *lists, uint32_t i)
{
	return (struct event_list){ lists->items + lists->start[i],
		                    lists->start[i + 1] - lists->start[i] };
}
/* Number of events in an ascending list before `event`. */
static inline uint64_t event_list_before(struct event_list list, uint32_t event)
{
	return search_end(i, 0, list.count, list.items[i] < event);
}

/* The sentence of rule 4 (or 5) that gives an edge. */
enum must_rule {
	MUST_FORK,
	MUST_JOIN,
	MUST_MESSAGE,    /* snd before rcv */
	MUST_ALLOC,      /* alloc before an access and the free of its block */
	MUST_FREE,       /* free of one life before the next alloc */
	MUST_SEMAPHORE,  /* post before take */
	MUST_BARRIER,    /* arrive before depart */
	MUST_WAKER,      /* signal or broadcast before the wake */
	MUST_WAIT,       /* wait before its waker: conditional, only if the wake is included */
	MUST_INVOCATION, /* non-commuting invocations of an object (rule 5's fallback) */
	MUST_MISSING,    /* barrier pairs (RDIT); only with `missing` */
	MUST_SHARED,     /* see struct must_edge; must_sources_next has none */
};

/*
 * An edge between threads: `before` must precede `after`. For MUST_WAIT, `condition` is the
 * wake event that activates it (the edge is from the wait to the waker); else NONE. MUST_ALLOC
 * edges go to the first access of the block in each other thread only. MUST_FREE and
 * MUST_INVOCATION edges are likewise reduced modulo program order.
 *
 * All that leave one round of a barrier, or receive one message, come after the same events.
 * Only the first of them has an edge from each; each other one has an edge from the first one's
 * thread, and MUST_SHARED: after all sources of the MUST_BARRIER or MUST_MESSAGE edges into
 * `before`, not after `before` itself. So a round of n threads has some 3n edges. must_sources
 * goes over the edges that are meant.
 */
struct must_edge {
	uint32_t before, after, condition;
	uint32_t rule; /* enum must_rule */
};

struct trace_index {
	unsigned parts; /* bit set of existing parts */

	/* INDEX_THREADS */
	struct event_lists thread_events; /* by thread: its events with inert ones */
	const uint32_t *position;         /* by event: index in its thread's list */

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
	 * INDEX_WRITERS, by event: for a read of one variable its last write before (NONE: the
	 * initial value). For a read with EVENT_WIDE: WRITER_WIDE + i, where run i of
	 * wide_writers has an entry for each variable. NONE for all other events. Use
	 * trace_writers().
	 */
	const uint32_t *writer;
	struct event_lists wide_writers; /* items may be NONE and are unordered */

	/* INDEX_MUST, sorted by `after` (then `before`), and the same edges by `before`. */
	const struct must_edge *must;
	uint64_t must_count;
	const uint32_t *must_by_before; /* indices of must, ordered by `before` */

	struct tries *tries; /* from trace_tries (tries.h); NULL until its first use */
	/* A view with a must-order of its own: the trace that it borrows all other parts from;
	 * else NULL. */
	struct trace *whole;

	unsigned mapped; /* parts in a mapped file, not allocated */
	void *map;
	uint64_t map_length;
};

/* Build missing parts. False when cancelled. */
bool trace_need(struct trace *t, unsigned parts, const struct progress *progress);

static inline struct event_list trace_thread_events(const struct trace *t, uint32_t thread)
{
	return event_list_at(&t->index->thread_events, thread);
}
/* Number of a thread's events recorded before this event. */
static inline uint32_t trace_events_before(const struct trace *t, uint32_t thread,
                                           uint32_t event)
{
	return (uint32_t)event_list_before(trace_thread_events(t, thread), event);
}
/* Gives a view (trace_reading) with an index a must-order, in the place of its own, if it has
 * one: edges (struct must_edge; ownership taken). */
void trace_replace_must(struct trace *t, GArray *edges);
/* Neighbours in the thread, NONE at the ends. */
uint32_t trace_previous(const struct trace *t, uint32_t event);
uint32_t trace_next(const struct trace *t, uint32_t event);
/* Must-order edges into (out of) an event: a range of index->must (must_by_before). */
struct must_run {
	uint64_t first, count;
};
struct must_run trace_must_into(const struct trace *t, uint32_t event);
struct must_run trace_must_from(const struct trace *t, uint32_t event);
/* Iterates the edges into an event. A MUST_SHARED edge is replaced by the edges that it stands
 * for; edges from the event's own thread are left out. */
struct must_sources {
	const struct trace *t;
	uint32_t event;
	uint64_t at, end;            /* own edges that are left */
	uint64_t shared, shared_end; /* another event's that are left */
};
static inline bool must_is_shared(uint32_t rule)
{
	return rule == MUST_BARRIER || rule == MUST_MESSAGE;
}
struct must_sources must_sources(const struct trace *t, uint32_t event);
bool must_sources_next(struct must_sources *s, struct must_edge *edge);
/* The writes that a read reads from, one for each variable (NONE: initial value). For any
 * other event a single NONE. */
struct event_list trace_writers(const struct trace *t, uint32_t event);

/* Append the acquires of locks held by the event's thread just before it, outermost first
 * (GArray of uint32_t). Walks back in the thread. */
void trace_locks_held(const struct trace *t, uint32_t event, GArray *acquires);
/* The call stack at an event: index of trace.contexts (0: empty). */
uint32_t trace_stack(const struct trace *t, uint32_t event);
/* The frames of that stack (`context` from trace_stack) at an event, innermost first, with
 * inlined ones: struct frame; the caller frees. */
struct frame {
	uint32_t function; /* string; 0 unknown */
	uint32_t location; /* position in the function */
};
GArray *trace_frames(const struct trace *t, uint32_t event, uint32_t context);
/* Number of frames to show: without the C++ library's outermost ones, which start a
 * std::thread. */
guint trace_frames_shown(const struct trace *t, const GArray *frames);
/* Both halves of the invocation of an ACT, CALL or RET event. */
struct invocation {
	uint32_t instance, method;
	uint32_t call, ret; /* events; equal for an ACT; ret NONE: never returned */
	const uint32_t *arguments, *results; /* indices of trace.values */
	uint32_t argument_count, result_count;
};
struct invocation trace_invocation(const struct trace *t, uint32_t event);

#endif
