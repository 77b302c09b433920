/*
 * layout.h - `atomics` blocks applied to a trace: the sets of each variable, and the
 * activations that are units on sets. Inferred blocks go the same way, so saving one and
 * loading it again changes nothing.
 *
 * A *kind* is a set as declared in a block ("set account : struct account { ... }"); a set of
 * the model is one kind in one instance.
 */
#ifndef HEDDLE_ATOMIC_LAYOUT_H
#define HEDDLE_ATOMIC_LAYOUT_H

#include "engine/atomic/functions.h"
#include "engine/atomic/model.h"
#include "engine/commute/language/spec.h"

/* By set of the model. */
struct layout_set {
	GArray *kinds;    /* uint32_t: kinds it belongs to; NULL: not from a block */
	const char *type; /* type of its instance, as in struct atomic_place; NULL: globals */
	const char *instance; /* as in struct atomic_place */
};

struct layout {
	struct atomic_model *m; /* the model to fill in */
	struct trace *t;
	struct atomic_places *places;
	struct atomic_functions *functions;
	char grade;          /* of the sets made here */
	GPtrArray *blocks;   /* const struct spec_atomics *; borrowed */
	GPtrArray *kinds;    /* const struct spec_set *; borrowed */
	GArray *sets;        /* struct layout_set, by set */
	uint32_t *owner;     /* by block: the variable whose pointer owns it, or NONE */
	GHashTable *by_name; /* "KIND INSTANCE" -> set + 1 */
	/* by string: kinds that a function is a unit on, as a bit set; NULL: none */
	uint64_t **units;
	uint64_t **unitfors;    /* the same, only on a parameter's instance */
	guint words;            /* words of each bit set */
	GHashTable *parameters; /* function -> GPtrArray of parameter names, for unitfors of
	                           text traces */
	gint64 deadline;        /* effort_deadline, for units; 0: none */
	bool late;              /* it has passed: units are missing */
};

void layout_begin(struct layout *l, struct trace *t, struct atomic_model *m, char grade);
void layout_end(struct layout *l); /* the model stays valid */

/* sets.c: the sets of the blocks, the model's members, and sharing. */
void layout_sets(struct layout *l);
bool layout_has(const uint64_t *kinds, const struct layout_set *s);
void layout_add_kinds(struct layout *l, uint64_t **kinds, const struct layout_set *s);

/* units.c: units that the blocks declare; the events that open them. */
void layout_declare_units(struct layout *l);
void layout_units(struct layout *l);
/* Functions that may be units, added to l->units: on the sets they access themselves and, where
 * they can be called from outside, on those of their parameters. `never` (by string) are
 * excluded. */
void layout_discover_units(struct layout *l, const bool *never);

/* By variable: the first access by a second thread, or NONE; appended to `since` (uint32_t). */
void atomic_sharing(const struct trace *t, GArray *since);

#endif
