/*
 * model.h - a trace seen through specifications: which objects there are, of which
 * declared type, and which of its events are invocations of which method with which
 * values.
 *
 * Objects are the trace's instances; every allocated block (type `memory`: its accesses
 * and its free); every condition (type `condvar`); and every mutex, condition, ... that is
 * destroyed (type `memory` again: its uses and its destruction).
 */
#ifndef HEDDLE_COMMUTE_MODEL_H
#define HEDDLE_COMMUTE_MODEL_H

#include "engine/commute/eval.h"
#include "engine/commute/points.h"
#include "engine/finding.h"
#include "engine/witness/check.h"

enum object_source { FROM_INSTANCE, FROM_BLOCK, FROM_CONDITION, FROM_DESTROYED };

struct model_type { /* a declaration that some object of the trace has */
	const struct spec_object *o;
	struct points *points;
	GHashTable *methods; /* string id + 1 -> method + 1 */
	uint32_t builtin[4]; /* methods of built-in events: read write free, or wait signal
	                      * broadcast; NONE where the declaration lacks it */
};

struct model_object {
	const struct model_type *type; /* NULL: no specification */
	uint32_t source, of; /* enum object_source; index of the instance, block or object */
	bool pairwise;       /* has an invocation with unknown method or values */
	bool effects;        /* every invocation can be run, and the trace agrees */
};

struct call {                    /* an invocation */
	uint32_t event;          /* the ACT or CALL, or the built-in's own event */
	uint32_t end;            /* the RET; the same for all others */
	uint32_t object;         /* index of model.objects */
	uint32_t method;         /* of its type, or NONE: not declared (with these arguments) */
	const struct val *names; /* arguments and results; in the caller's scratch */
};

struct model {
	struct trace *t;           /* borrowed; index parts THREADS and MATCH are there */
	const struct specs *specs; /* borrowed */
	GPtrArray *types;          /* struct model_type * */
	struct model_object *objects;
	uint32_t object_count;
	uint32_t first_block, first_condition, first_destroyed; /* where each source begins */
	uint32_t *condition_of, *destroyed_of; /* trace object -> model object, or NONE */
	uint32_t *destroyed_at; /* trace object -> its first DESTROY, where it has one */
	struct val *vals;       /* of trace.values */
	struct texts texts;
	GHashTable *strings; /* text -> string id + 1, of the values that are strings */
	GPtrArray *notes;    /* char *: what a report should say */
};

/* NULL and `error` when cancelled. */
struct model *model_new(struct trace *t, const struct specs *specs,
                        const struct progress *progress, struct error *error);
void model_free(struct model *m);

#define MOST_CALLS \
	3 /* of one event: a wait is one of the condition, a use of it and of its block */
#define MOST_NAMES 64 /* arguments and results of one invocation */
struct call_scratch {
	struct val names[MOST_CALLS][MOST_NAMES];
};
/*
 * The invocations that an event ends (or is): of an ACT, a RET, an access in a block, a
 * free, an operation on a condition or on what is destroyed.  Returns how many.
 */
uint32_t model_calls(const struct model *m, uint32_t event, struct call calls[MOST_CALLS],
                     struct call_scratch *scratch);
/* The invocation that begins at a CALL, by its RET; false where it never returned. */
bool model_invocation(const struct model *m, uint32_t event, struct call *call,
                      struct call_scratch *scratch);
/* Is this an ACT, CALL or RET of an object with a specification? */
static inline bool model_specified(const struct model *m, uint32_t instance)
{
	return m->objects[instance].type != NULL;
}

/* Do two invocations of one object commute by its specification?  Open means no. */
bool model_commute(struct model *m, const struct call *a, const struct call *b, bool *overflow);

/*
 * The invocations of two events (ACT, CALL, or a built-in's) that are on one object; of several
 * objects, one on which they do not commute.  False when no object is common to both.
 */
bool model_common_calls(struct model *m, uint32_t e1, uint32_t e2, struct call pair[2],
                        struct call_scratch scratch[2], bool *commute);

/* For reports, owned by the caller: `put("a.com", c1) / nil`; the condition with the values
 * in it; a point `o:w:"a.com"`; the object's name. */
char *model_call_text(const struct model *m, const struct call *c);
char *model_condition_text(const struct model *m, const struct call *a, const struct call *b);
char *model_point_text(const struct model *m, const struct call *c, struct touch touch);
char *model_object_name(const struct model *m, uint32_t object);

/* Rule 5 for the checker; borrows the model. */
struct semantics model_semantics(struct model *m);

#endif
