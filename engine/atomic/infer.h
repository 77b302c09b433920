/*
 * infer.h - what infer.c has seen of a trace, and infer_block.c makes an `atomics` block of.
 * For these two alone.
 */
#ifndef HEDDLE_ATOMIC_INFER_H
#define HEDDLE_ATOMIC_INFER_H

#include "engine/atomic/layout.h"
#include "engine/atomic/pointers.h"

#define SEVERAL (NONE - 1)

struct lock_use { /* the lock held at most accesses of a variable, at how many; or NONE */
	uint32_t lock, count;
};

struct inference {
	struct trace *t;
	struct atomic_model *m;
	struct layout layout;
	struct atomic_places *places; /* the layout's */
	struct spec_atomics *block;   /* what is inferred */
	GArray *since;                /* as in the model */
	struct lock_use *locks;       /* by variable */
	uint32_t *joined;             /* by variable: union-find over scalar globals */
	uint32_t
	        *holder; /* by block: the only variable that held a pointer to it; or SEVERAL */
	bool *shares;    /* by variable: it held a pointer that something else held, too */
	bool *together;  /* by variable: a function touched its object and what it points to */
	bool *never;     /* by string: functions that are no units */
	const struct progress *progress;
	gint64 deadline; /* effort_deadline */
	bool late, cancelled;
};

bool infer_counts(const struct inference *k, uint32_t variable);
bool infer_is_scalar_global(const struct inference *k, uint32_t variable);
uint32_t infer_root(struct inference *k, uint32_t variable);

/* infer_block.c */
void infer_sets(struct inference *k);
void infer_heap(struct inference *k);
void infer_units(struct inference *k);        /* from what layout_discover_units found */
void infer_habits(struct inference *k);       /* at the end, for the grades */
char *infer_print(const struct inference *k); /* the block as text; the caller frees it */

#endif
