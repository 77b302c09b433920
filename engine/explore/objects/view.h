/*
 * view.h - a run as seen by exploration: the trace with each scope of a specified object
 * replaced by one event, and the required order.
 *
 * Events keep their numbers. One event of a scope becomes its step (a fence, which is
 * unconstrained); locks also used outside the object's scopes are taken before and released
 * after it; the rest is inert. An access inside the object from outside is such a step, too.
 * Steps of an object that do not commute by the specification keep their order by a must-order
 * of the view, so that all recompositions keep every result (rule 5's fallback). Reuse of
 * memory does not order: in another order it would be other memory. Pointers to local variables
 * that may be reused have no known value (frames_pointers).
 */
#ifndef HEDDLE_VIEW_H
#define HEDDLE_VIEW_H

#include "engine/explore/objects/scopes.h"
#include "engine/trace/index.h"

/* A step of a specified object: an invocation, or an access from outside. */
struct view_call {
	uint32_t event;  /* of the view */
	uint32_t last;   /* the recorded event with which a plan has completed it */
	uint32_t object; /* object of the model; NONE: an access irrelevant to others */
	uint32_t thread;
	const struct scope *scope; /* NULL: an access from outside */
	GArray *before;            /* uint32_t, calls: earlier ones it does not commute with */
};

struct view {
	struct trace *recorded; /* borrowed */
	const bool *left_out;   /* by event, see view_rules; borrowed, or NULL */
	struct trace *t;        /* the rewritten trace; owned */
	struct model *model; /* owned; NULL without specifications, then also the following */
	struct scopes *scopes;
	GArray *calls;     /* struct view_call, by event */
	uint32_t *call_at; /* by event of the view: index of calls, or NONE */
	uint32_t peeks;    /* relevant accesses from outside */
	/* By object of the model: its effects determine all results, so the order of
	 * invocations matters only through these; or NULL. */
	bool *by_results;
	uint32_t unruly; /* an object without the expected property; or NONE */
	/* Text of an invocation that contradicts the effects; owned, or NULL. */
	char *contradiction;
	const char *contradiction_at; /* its place */
	uint32_t contradicted;        /* its object */
	void *arrays[3];              /* tables of the rewritten trace */
};

/* How objects are viewed; objects by scopes_object_key. */
struct view_rules {
	const struct specs *specs; /* or NULL */
	GHashTable *plain;         /* explored as ordinary code */
	bool by_results;     /* invocations with equal results are equivalent, where effects
	                      * determine results */
	GHashTable *ordered; /* exceptions from by_results */
	/* By event: looks without effect, which are no steps; or NULL. Borrowed as long as
	 * the view is used. */
	const bool *left_out;
};

/* NULL when cancelled. */
struct view *view_new(struct trace *recorded, const struct view_rules *rules,
                      const struct progress *progress);
void view_free(struct view *v);

static inline struct view_call *view_call_of(const struct view *v, uint32_t event)
{
	return v->call_at == NULL || v->call_at[event] == NONE
	               ? NULL
	               : &g_array_index(v->calls, struct view_call, v->call_at[event]);
}
static inline bool view_by_results(const struct view *v, const struct view_call *call)
{
	return v->by_results != NULL && call->scope != NULL && v->by_results[call->object];
}
/* commuting.c: arguments and results of an invocation; `open`: without results. False when
 * unknown, or not a method of the specification. */
bool view_names(const struct view *v, const struct view_call *call, bool open, struct call *c,
                struct call_scratch *scratch);
/* Find objects that can be viewed by results. */
void view_find_results(struct view *v, const struct view_rules *rules);
/* Do two calls of an object commute? `open`: with any result of `b`. */
bool view_commute(const struct view *v, const struct view_call *a, const struct view_call *b,
                  bool open);
/* Pairs of calls of two threads that are otherwise unordered and commute although they access
 * the same memory: their reversals need no run. Appends at most `most` as text (char *, owned);
 * returns their number. */
uint64_t view_commuting_pairs(const struct view *v, GPtrArray *texts, guint most);
/* Sets `before`, searches a contradiction, and orders non-commuting calls. */
void view_order_calls(struct view *v, GArray *edges);
/* The recorded event that represents a view's event in a plan, or NONE: it is inside a step, or
 * left out. */
uint32_t view_planned(const struct view *v, uint32_t event);
/* "add(1) / true", "a look inside"; owned by the caller. */
char *view_call_text(const struct view *v, const struct view_call *call);
char *view_object_name(const struct view *v, uint32_t object);

#endif
