/*
 * view.h - a run as exploration looks at it: the trace with every scope of a specified
 * object in the place of one event, and what must come before what.
 *
 * Events keep their numbers.  In a scope one event is its step (a fence, which nothing
 * constrains); locks that are also used outside of the object's scopes are taken before it
 * and given back after it; the rest is inert.  A look inside the object from outside is such
 * a step too.  Two steps of one object that do not commute by the specification keep their
 * order: that is a must-order of the view, so that whatever is put together from the run
 * leaves every invocation its result (rule 5's fall-back).  Memory that is used again orders
 * nothing: in another order it would have been other memory.
 */
#ifndef HEDDLE_VIEW_H
#define HEDDLE_VIEW_H

#include "engine/explore/scopes.h"
#include "engine/trace/index.h"

/* A step of a specified object: an invocation, or a look inside. */
struct view_call {
	uint32_t event;  /* of the view */
	uint32_t last;   /* of the recording: where a plan has done it */
	uint32_t object; /* of the model; NONE: a look that concerns nobody else */
	uint32_t thread;
	const struct scope *scope; /* NULL: a look inside */
	GArray *before; /* uint32_t, calls: earlier ones that it does not commute with */
};

struct view {
	struct trace *recorded; /* borrowed */
	struct trace *t;        /* the reading; owned */
	struct model *model;    /* owned; NULL without specifications, and so is what follows */
	struct scopes *scopes;
	GArray *calls;     /* struct view_call, by event */
	uint32_t *call_at; /* by event of the view: index of calls, or NONE */
	uint32_t peeks;    /* looks inside that concern others */
	/* By object of the model: its effects say what every invocation returns, so that no
	 * order of them matters but by that; or NULL: of none. */
	bool *by_results;
	uint32_t unruly; /* an object of which that was expected, and it is not so; or NONE */
	/* An invocation that the specification's effects contradict: its text, owned, or NULL.
	 */
	char *contradiction;
	const char *contradiction_at; /* its place */
	uint32_t contradicted;        /* its object */
	void *arrays[3];              /* the reading's own tables */
};

/* How the objects of a program are looked at; objects by scopes_object_key. */
struct view_rules {
	const struct specs *specs; /* or NULL */
	GHashTable *plain;         /* their events count as they are */
	bool by_results;           /* what returns the same is the same, where effects tell */
	GHashTable *ordered;       /* but not of these */
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
/* commuting.c: arguments and results of an invocation; `open`: the results not known.  False
 * where they are not known, or it is none of the specification's methods. */
bool view_names(const struct view *v, const struct view_call *call, bool open, struct call *c,
                struct call_scratch *scratch);
/* The objects that are looked at by results. */
void view_find_results(struct view *v, const struct view_rules *rules);
/* Do two calls of one object commute?  With `open` whatever `b` returns. */
bool view_commute(const struct view *v, const struct view_call *a, const struct view_call *b,
                  bool open);
/*
 * Pairs of calls of two threads that nothing else orders and that commute although they touch
 * the same memory: each spares the runs in which they come the other way round.  At most
 * `most` in words, appended (char *, owned); returns how many there are.
 */
uint64_t view_commuting_pairs(const struct view *v, GPtrArray *texts, guint most);
/* Fill in `before`, look for a contradiction, and order what does not commute. */
void view_order_calls(struct view *v, GArray *edges);
/* The event of the recording that stands for a view's event in a plan, or NONE: it lies
 * inside of a step. */
uint32_t view_planned(const struct view *v, uint32_t event);
/* "add(1) / true", "a look inside"; owned by the caller. */
char *view_call_text(const struct view *v, const struct view_call *call);
char *view_object_name(const struct view *v, uint32_t object);

#endif
