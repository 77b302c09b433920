/*
 * core.h - what every correct reordering that holds an event must hold with it: the events
 * before it by program order, must-order and observation, transitively.
 *
 * Membership in a core never depends on how critical sections are arranged, so "e1 is in
 * the core of what comes before e2" is by itself a proof that the two are no race, and
 * the cores of a pair are where every search for a witness begins (M2's cone without its
 * releases).  Knows nothing of locks, solvers or verdicts.
 */
#ifndef HEDDLE_CORE_H
#define HEDDLE_CORE_H

#include "engine/finding.h"
#include "engine/trace/index.h"

struct core_options {
	bool values;      /* --values: a read of a known value does not need its own write */
	bool pairing;     /* semaphores, wakers and barriers are paired as in the trace */
	bool invocations; /* rule 5's fall-back: invocations of one object keep their order */
	/* A bit for each event: no observation is asked of these reads (rule 5 covers them).
	 * Borrowed, or NULL. */
	const uint64_t *exempt;
};
#define CORE_DEFAULTS \
	{ \
		.pairing = true, .invocations = true \
	}

/*
 * One row of clocks for each event that brings something in from another thread: time and
 * memory are O(such events times threads).  A set of events that is closed is a cut: for
 * each thread, how many of its events are in it.
 */
struct cores;
/* Builds the parts of the index that it needs.  NULL when cancelled. */
struct cores *cores_new(struct trace *t, const struct core_options *options,
                        const struct progress *progress);
void cores_free(struct cores *c);

static inline bool core_exempt(const uint64_t *exempt, uint32_t event)
{
	return exempt != NULL && (exempt[event / 64] >> (event % 64) & 1);
}
/* Does this must-order edge count under the options?  (Conditional edges never do.) */
bool core_edge_counts(const struct cores *c, const struct must_edge *edge);
/*
 * A failed try of a lock (rule 2): it needs some other thread to hold the lock, not the one
 * that held it in the trace.  So no core has its holder.
 */
enum try_need {
	TRY_NOTHING,   /* of other threads: its own held the lock, or none did */
	TRY_DESTROYED, /* the destruction of the lock, which was not taken again */
	TRY_EXCLUSIVE, /* a holder that is exclusive, as it was: it may have been a try to share
	                */
	TRY_ANY,       /* any: it failed beside readers */
};
enum try_need core_try_need(const struct trace *t, uint32_t tryfail);
/* All critical sections that held the lock at a failed try: acquires, appended. */
void core_try_holders(const struct trace *t, uint32_t tryfail, GArray *acquires);
/* All that would do: acquires, in the order of the trace, appended; or that destruction. */
void core_try_sections(const struct trace *t, uint32_t tryfail, GArray *acquires);

/* cut := cut joined with the core of `event`, the event itself in it. */
void core_join(const struct cores *c, uint32_t event, uint32_t *cut);
/* The same without the event and without its own observation: what must be in for the
 * event to be the next of its thread. */
void core_join_before(const struct cores *c, uint32_t event, uint32_t *cut);
/* Is `e` in the core of `f`?  (True for e == f.) */
bool core_has(const struct cores *c, uint32_t f, uint32_t e);
/* Is `e` among what must be in for `f` to be next? */
bool core_has_before(const struct cores *c, uint32_t f, uint32_t e);
/*
 * The chain of events from `e` to `f`, e in the core of f; with `before`, the last step
 * uses only what must be in for `f` to be next.  Sets *paired (may be NULL) when a step
 * rests on a pairing.
 */
void core_path(const struct cores *c, uint32_t e, uint32_t f, bool before, struct path *path,
               bool *paired);
/* The value that an access of one whole variable read (wrote); 0: not known, or several
 * variables, of which --values then asks the same writes as in the trace. */
uint32_t core_value_read(const struct trace *t, uint32_t event);
uint32_t core_value_written(const struct trace *t, uint32_t event);
/* Does the trace have pairings (semaphores, wakers, barriers) at all? */
bool core_has_pairings(const struct trace *t);

#endif
