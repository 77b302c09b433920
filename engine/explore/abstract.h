/*
 * abstract.h - the abstract states that specified objects can be in while a run is put
 * together anew, as small numbers, and what each invocation of the run makes of them.
 *
 * For objects that are looked at by results (view.h) alone.
 */
#ifndef HEDDLE_ABSTRACT_H
#define HEDDLE_ABSTRACT_H

#include "engine/explore/history.h"

struct abstract;
struct abstract *abstract_new(const struct history *h);
void abstract_free(struct abstract *a);

/* The state that an object begins with. */
uint32_t abstract_first(struct abstract *a, uint32_t object);

struct abstract_step {
	uint32_t next;   /* the state after it; where it returns what it did */
	bool same;       /* it returns what it did */
	uint64_t number; /* what it would be seen as (history_would_return) */
	char *text;      /* the results; owned by the table */
};
/* A call (of view.calls) in a state; good until the next call of this. */
const struct abstract_step *abstract_after(struct abstract *a, uint32_t state, uint32_t call);

#endif
