/*
 * abstract.h - abstract states of specified objects as small numbers, and the effect of each
 * invocation of a run on them, for recomposing the run. For objects viewed by results (view.h)
 * only.
 */
#ifndef HEDDLE_ABSTRACT_H
#define HEDDLE_ABSTRACT_H

#include "engine/explore/runs/history.h"

struct abstract;
struct abstract *abstract_new(const struct history *h);
void abstract_free(struct abstract *a);

/* The initial state of an object. */
uint32_t abstract_first(struct abstract *a, uint32_t object);

struct abstract_step {
	uint32_t next;   /* the state after it, if it returns as recorded */
	bool same;       /* does it return as recorded? */
	uint64_t number; /* number of its results (history_would_return) */
	char *text;      /* the results; owned by the table */
};
/* A call (of view.calls) in a state; valid until the next call. */
const struct abstract_step *abstract_after(struct abstract *a, uint32_t state, uint32_t call);

#endif
