/*
 * stuck_search.h - waits that never end, in other schedules of a recording: a search over its
 * states (run_state.h) for those in which threads wait for ever (stuck_set.h).
 *
 * First each thread is held back before each of its operations that can wait, while the others
 * go on as recorded: most such waits need no more.  Then all states are visited, reduced by
 * persistent sets, until the budget is spent.  Only an end of that search says that no wait was
 * missed.
 */
#ifndef HEDDLE_STUCK_SEARCH_H
#define HEDDLE_STUCK_SEARCH_H

#include "engine/predict/predict.h"

struct stuck_search {
	/* Is a witness for these requests wanted? */
	bool (*wanted)(void *context, const uint32_t *requests, uint32_t count);
	/* A finding of kind deadlock or stuck, owned by the callee: `requests` in the order of
	 * the circle, or the only one; `waits`, these and then the other threads that wait for
	 * ever; `witness`, ending with the requests.  No verdict. */
	void (*found)(void *context, struct finding *finding);
	void *context;
	/* -- results */
	uint64_t states;
	bool complete, cancelled;
	bool as_recorded; /* the waits for some object end as in the trace, which lacks
	                   * operations on it or its size */
	bool left_out; /* not searched: too long, filtered, or with locks whose ends are unknown
	                */
};

/* `t`: the trace with all of its threads (no view by chains). */
void stuck_search(struct trace *t, const struct race_options *options,
                  struct stuck_search *search, const struct progress *progress);

#endif
