/*
 * stuck_set.h - the threads that wait for ever in a state, and why (semantics.md, "Waits that
 * never end", rules W4 and W5).
 */
#ifndef HEDDLE_STUCK_SET_H
#define HEDDLE_STUCK_SET_H

#include "engine/predict/deadlock/run_state.h"

struct stuck_set {
	const struct run_state *s;
	enum next *next; /* by thread */
	bool *in;        /* by thread: it waits for ever */
	uint32_t count;
};
void stuck_set_init(struct stuck_set *set, const struct run_state *s);
void stuck_set_release(struct stuck_set *set);
/* The greatest set of rule W4 in the present state; its number of threads. */
uint32_t stuck_set_find(struct stuck_set *set);

/* A cause within a set: `threads` wait for each other in this order, or a single one waits
 * for an operation that no thread will do. */
typedef void stuck_cause(void *context, const struct stuck_set *set, const uint32_t *threads,
                         uint32_t count);
/* Larger circles are not searched for. */
enum { STUCK_CIRCLE = 16 };
/* Calls `cause` for each; false when a circle may have been left out. */
bool stuck_set_causes(const struct stuck_set *set, stuck_cause *cause, void *context);
/* A deadlock is a circle with at least one lock. */
enum finding_kind stuck_set_kind(const struct stuck_set *set, const uint32_t *threads,
                                 uint32_t count);

#endif
