/*
 * model.h - a trace seen through specifications: its objects with their declared types, and the
 * invocations among its events with method, arguments and results.
 *
 * Objects are the trace's instances, every allocated block (type `memory`: its accesses and its
 * free), every condition (type `condvar`), and every synchronisation object that is destroyed
 * (type `memory`: its uses and its destruction).
 */
#ifndef HEDDLE_COMMUTE_MODEL_H
#define HEDDLE_COMMUTE_MODEL_H

#include "engine/commute/language/eval.h"
#include "engine/commute/language/points.h"
#include "engine/finding.h"
#include "engine/witness/check.h"

enum object_source { FROM_INSTANCE, FROM_BLOCK, FROM_CONDITION, FROM_DESTROYED };

/* A declaration that some object of the trace has. */
struct model_type {
	const struct spec_object *o;
	struct points *points;
	GHashTable *methods; /* string id + 1 -> method + 1 */
	uint32_t builtin[4]; /* methods of built-in events: read, write, free or wait, signal,
	                        broadcast; NONE: not declared */
};

struct model_object {
	const struct model_type *type; /* NULL: no specification */
	uint32_t source, of; /* enum object_source; number of the instance, block or object */
	bool pairwise;       /* some invocation has an unknown method or value */
	bool effects;        /* every invocation has effects, and the trace agrees with them */
};

/* An invocation. */
struct call {
	uint32_t event;          /* the ACT or CALL, or the built-in event */
	uint32_t end;            /* the RET; else the same event */
	uint32_t object;         /* index of model.objects */
	uint32_t method;         /* of its type; NONE: not declared with this arity */
	const struct val *names; /* arguments, then results; in the caller's scratch */
};

struct model {
	struct trace *t;           /* borrowed; has INDEX_THREADS and INDEX_MATCH */
	const struct specs *specs; /* borrowed */
	GPtrArray *types;          /* struct model_type * */
	struct model_object *objects;
	uint32_t object_count;
	uint32_t first_block, first_condition,
	        first_destroyed;               /* object indices at which each source begins */
	uint32_t *condition_of, *destroyed_of; /* trace object -> model object, or NONE */
	struct texts texts;
	GHashTable *strings; /* text -> string id + 1, of the values that are strings */
	GPtrArray *notes;    /* char *: notes for the report */
};

/* NULL and `error` when cancelled. */
struct model *model_new(struct trace *t, const struct specs *specs,
                        const struct progress *progress, struct error *error);
void model_free(struct model *m);

/* Calls of one event, at most: a wait calls the condition, uses it, and uses its block. */
#define MOST_CALLS 3
#define MOST_NAMES 64 /* arguments and results of an invocation */
struct call_scratch {
	struct val names[MOST_CALLS][MOST_NAMES];
};
/* Invocations that end at an event (ACT, RET, access in a block, free, operation on a condition
 * or on a destroyed object). Returns their number. */
uint32_t model_calls(const struct model *m, uint32_t event, struct call calls[MOST_CALLS],
                     struct call_scratch *scratch);
/* The invocation that begins at a CALL, with the results of its RET; false when it never
 * returned. */
bool model_invocation(const struct model *m, uint32_t event, struct call *call,
                      struct call_scratch *scratch);
/* Does the instance have a specification? */
static inline bool model_specified(const struct model *m, uint32_t instance)
{
	return m->objects[instance].type != NULL;
}

/* By event: the instance of the innermost scope around it that has a specification, or NONE.
 * The CALL is outside of its own scope, the RET inside. The caller frees it. */
uint32_t *model_scopes(const struct model *m);

/* Set the error of a condition, evaluated for the invocation that ends at `event`, whose
 * numbers left 64 bits; false. */
bool model_overflow(const struct model *m, uint32_t event, struct error *error);
/* Do two invocations of one object commute by its specification? An unknown condition means no.
 * Sets *overflow as eval_commute. */
bool model_commute(struct model *m, const struct call *a, const struct call *b, bool *overflow);

/* The invocations of two events (ACT, CALL or built-in) on a common object, preferably on one
 * where they do not commute. False when the events have no common object. */
bool model_common_calls(struct model *m, uint32_t e1, uint32_t e2, struct call pair[2],
                        struct call_scratch scratch[2], bool *commute);
/* False and `error` where the condition of the two events' invocations has numbers that leave
 * 64 bits. */
bool model_pair_known(struct model *m, uint32_t e1, uint32_t e2, struct error *error);

/* A value of the trace, for the evaluator. */
struct val trace_val(const struct trace *t, uint32_t value);

/* Texts for reports, owned by the caller: an invocation, `put("a.com", c1) / nil`; the
 * condition with its values; a point, `o:w:"a.com"`; the object's name. */
char *model_call_text(const struct model *m, const struct call *c);
char *model_condition_text(const struct model *m, const struct call *a, const struct call *b);
char *model_point_text(const struct model *m, const struct call *c, struct touch touch);
char *model_object_name(const struct model *m, uint32_t object);
void model_append_value(const struct model *m, struct val v, GString *out);

/* Rule 5 for the checker. Borrows the model. */
struct semantics model_semantics(struct model *m);

#endif
