/*
 * lockset_kinds.h - the accesses of the variables that no lock guards, by what lockset asks of
 * them (lockset_collect.c).
 *
 * No order comes in, so the accesses of one variable by one thread at one site with one set of
 * locks are all alike: the first of them and their number say all.  They are as many as a
 * program has, not as the trace is long.
 */
#ifndef HEDDLE_LOCKSET_KINDS_H
#define HEDDLE_LOCKSET_KINDS_H

#include "engine/predict/pairs/candidates.h"

struct kind { /* of access */
	uint32_t variable;
	uint32_t site, lockset;
	uint32_t who;   /* thread, KIND_WRITES, KIND_ATOMIC */
	uint32_t first; /* event */
	uint32_t count; /* 0: none */
};
enum { KIND_WRITES = 1, KIND_ATOMIC = 2, KIND_THREAD = 4 /* times */ };
struct kinds {
	struct kind *of; /* by variable */
	uint32_t count;
};

/*
 * Of the variables that two threads access, one of them writing, and not always under one and
 * the same lock.  `locksets` takes the sets that come up.  False when cancelled; kinds_free is
 * due all the same.
 */
bool kinds_collect(struct kinds *k, struct trace *t, struct locksets *locksets,
                   const struct progress *progress);
void kinds_free(struct kinds *k);

#endif
