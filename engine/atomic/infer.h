/*
 * infer.h - state of the inference of atomic sets, shared by infer.c (facts from the trace) and
 * infer_block.c (the `atomics` block made of them). Private to these two.
 */
#ifndef HEDDLE_ATOMIC_INFER_H
#define HEDDLE_ATOMIC_INFER_H

#include "engine/atomic/layout.h"
#include "engine/atomic/pointers.h"

#define SEVERAL (NONE - 1)

/* The lock held at most accesses of a variable, and at how many of them; or NONE. */
struct lock_use {
	uint32_t lock, count;
};

struct inference {
	struct trace *t;
	struct atomic_model *m;
	struct layout layout;
	struct atomic_places *places; /* the layout's */
	struct spec_atomics *block;   /* the inferred block */
	GArray *since;                /* as in the model */
	struct lock_use *locks;       /* by variable */
	uint32_t *joined;             /* by variable: union-find over scalar globals */
	/* By block: the only variable that held a pointer to it; or SEVERAL. */
	uint32_t *holder;
	bool *shares;   /* by variable: held a pointer that another variable held, too */
	bool *together; /* by variable: a function accessed both its object and the pointed-to
	                   one */
	bool *never;    /* by string: functions that are never units */
	const struct progress *progress;
	gint64 deadline; /* effort_deadline */
	bool late, cancelled;
};

/* May the variable be in a set: is it shared, and neither local nor exempt? */
static inline bool infer_counts(const struct inference *k, uint32_t v)
{
	return g_array_index(k->since, uint32_t, v) != NONE && !k->places->at[v].local &&
	       !k->places->at[v].exempt;
}
static inline bool infer_is_scalar_global(const struct inference *k, uint32_t v)
{
	return k->places->at[v].member == NULL && k->t->variables[v].block == NONE;
}
/* The representative of the scalar globals that the variable is joined with. */
static inline uint32_t infer_root(struct inference *k, uint32_t v)
{
	while (k->joined[v] != v)
		v = k->joined[v] = k->joined[k->joined[v]];
	return v;
}

/* infer_block.c */
void infer_sets(struct inference *k);
void infer_heap(struct inference *k);
void infer_units(struct inference *k);        /* from layout_discover_units */
void infer_habits(struct inference *k);       /* for the grades; call last */
char *infer_print(const struct inference *k); /* the block as text; the caller frees it */

#endif
