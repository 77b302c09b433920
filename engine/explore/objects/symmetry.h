/*
 * symmetry.h - equivalent threads of a run: they do the same to the same objects and see no
 * result, so only the number of threads that have done it matters.
 *
 * Such threads call objects viewed by results (view.h) with methods that return nothing, and
 * access nothing else that is visible. The search over states (reach.c) runs them in order of
 * creation: N + 1 states instead of 2^N.
 */
#ifndef HEDDLE_SYMMETRY_H
#define HEDDLE_SYMMETRY_H

#include "engine/explore/runs/history.h"

struct symmetry {
	uint32_t *ahead; /* by thread: the equivalent one that goes before it, or NONE */
	uint32_t *kind;  /* by thread: the first equivalent one, or NONE: unique */
};

/* `visible`: by event: is it visible to other threads? */
struct symmetry *symmetry_new(const struct history *h, const uint8_t *visible);
void symmetry_free(struct symmetry *s);

#endif
