/*
 * lockset_kinds.h - accesses of variables without a guarding lock, for lockset
 * (lockset_collect.c).
 *
 * Without an order, accesses with equal variable, thread, site and lock set are equivalent: the
 * first and their number suffice. Their count depends on the program, not on the length of the
 * trace.
 */
#ifndef HEDDLE_LOCKSET_KINDS_H
#define HEDDLE_LOCKSET_KINDS_H

#include "engine/predict/pairs/candidates.h"

/* A kind of access. */
struct kind {
	uint32_t variable;
	uint32_t site, lockset;
	uint32_t thread_kind; /* thread, KIND_WRITES, KIND_ATOMIC */
	uint32_t first;       /* event */
	uint32_t count;       /* 0: none */
};
enum { KIND_WRITES = 1, KIND_ATOMIC = 2, KIND_THREAD = 4 /* times */ };
struct kinds {
	struct kind *of; /* by variable */
	uint32_t count;
};

/* For variables accessed by two threads with a write, and not always under one lock. `locksets`
 * gets the sets. False when cancelled; kinds_free is needed in any case. */
bool kinds_collect(struct kinds *k, struct trace *t, struct locksets *locksets,
                   const struct progress *progress);
void kinds_free(struct kinds *k);

#endif
