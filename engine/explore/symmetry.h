/*
 * symmetry.h - threads of a run that do the same to the same objects and learn nothing from
 * it: which of them has done it makes no difference to anybody, only how many have.
 *
 * Such threads call objects that are looked at by results (view.h), with methods that return
 * nothing, and touch nothing else that others see.  So the search over states (reach.c) lets
 * them go in the order of their creation: N + 1 states in the place of 2^N.
 */
#ifndef HEDDLE_SYMMETRY_H
#define HEDDLE_SYMMETRY_H

#include "engine/explore/history.h"

struct symmetry {
	uint32_t *ahead; /* by thread: the one of its kind that goes before it, or NONE */
	uint32_t *kind;  /* by thread: the first of its kind, or NONE: there is no other */
};

/* `visible`: by event, whether it matters to other threads. */
struct symmetry *symmetry_new(const struct history *h, const uint8_t *visible);
void symmetry_free(struct symmetry *s);

#endif
