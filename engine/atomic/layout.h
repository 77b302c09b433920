/*
 * layout.h - `atomics` blocks laid on a trace: which variables are in which set, which
 * activations are units on which of them.  What is inferred becomes such a block too, so that
 * saving it and reading it again changes nothing.
 *
 * A *kind* is a set as a block declares it ("set account : struct account { ... }"); a set of
 * the model is a kind's part in one instance.
 */
#ifndef HEDDLE_ATOMIC_LAYOUT_H
#define HEDDLE_ATOMIC_LAYOUT_H

#include "engine/atomic/functions.h"
#include "engine/atomic/model.h"
#include "engine/commute/spec.h"

struct layout_set {           /* by set of the model */
	GArray *kinds;        /* uint32_t: what it is called in blocks; NULL: no block's */
	const char *type;     /* of its instance, as in struct atomic_place; NULL: globals */
	const char *instance; /* as there */
};

struct layout {
	struct atomic_model *m; /* filled in */
	struct trace *t;
	struct atomic_places *places;
	struct atomic_functions *functions;
	char grade;          /* of the sets made */
	GPtrArray *blocks;   /* const struct spec_atomics *; borrowed */
	GPtrArray *kinds;    /* const struct spec_set *; borrowed */
	GArray *sets;        /* struct layout_set, by set */
	uint32_t *owner;     /* by block: the variable whose pointer owns it, or NONE */
	GHashTable *by_name; /* "KIND INSTANCE" -> set + 1 */
	/* by string: what a function is declared on, a bit a kind; NULL: nothing */
	uint64_t **units;
	uint64_t **unitfors;    /* the same, on a parameter's instance alone; NULL: nothing */
	guint words;            /* of these */
	GHashTable *parameters; /* function -> GPtrArray of names, of text traces' unitfors */
};

void layout_begin(struct layout *l, struct trace *t, struct atomic_model *m, char grade);
void layout_end(struct layout *l); /* the model stays */

/* sets.c: the sets of the blocks, the model's members, and what is known of sharing. */
void layout_sets(struct layout *l);
bool layout_has(const uint64_t *kinds, const struct layout_set *s);
void layout_add_kinds(struct layout *l, uint64_t **kinds, const struct layout_set *s);

/* units.c: what the blocks declare of functions; events open units accordingly. */
void layout_declare_units(struct layout *l);
void layout_units(struct layout *l);
/*
 * What functions may be taken to be units on, into l->units: on what they touch themselves,
 * and, where anybody may call them, on what their parameters point to.  Never those that
 * `never` (by string) holds.
 */
void layout_discover_units(struct layout *l, const bool *never);

/*
 * By variable: the second thread's first access, NONE where there is none.  Appended to
 * `since`, uint32_t.
 */
void atomic_sharing(const struct trace *t, GArray *since);

#endif
