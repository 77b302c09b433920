/*
 * linear_trace.h - the histories of a trace's specified objects, and the explanation, in
 * text, of one that is not linearizable.
 *
 * A history is linearizable when those of its objects are (Herlihy and Wing), and an object's
 * when those of its keys are (linear_has_keys): each is checked by itself.
 */
#ifndef HEDDLE_LINEAR_TRACE_H
#define HEDDLE_LINEAR_TRACE_H

#include "engine/commute/linear/linear.h"
#include "engine/commute/model.h"

/* The invocations of an object, or of one of its keys. */
struct linear_part {
	uint32_t object;         /* of the model */
	struct linear_history h; /* `call`, `ret`: events */
	struct linear_call *calls;
	struct val *names;
	uint32_t threads[LINEAR_MOST_THREADS]; /* of the trace */
	uint32_t threads_count;
	char *refused; /* why it cannot be checked; owned, or NULL */
};
/* struct linear_part *, owned; of each object with a specification. An invocation within
 * another one on the same object is a part of it. Borrows the model. */
GPtrArray *linear_parts(struct model *m);

/* An invocation of a history as it is shown; owned. */
struct linear_shown {
	char *thread, *text, *place; /* "T1", "enqueue(1) / nil", "q.c:31" in the user's code */
	uint32_t call, ret;          /* events of the trace; ret NONE: not returned */
	uint32_t order; /* its place in the longest order that fits, from 0; NONE */
};
/* Why a part is not linearizable: its smallest history that fails. */
struct linear_story {
	GArray *shown; /* struct linear_shown, by call */
	char *text;    /* several lines: the violation, lanes by thread, the reason */
	char *place;   /* of the invocation at whose return no order is left, in the user's code
	                */
	char *key;     /* its object's type, its method and its place */
	uint32_t call; /* its event */
};
/* `at`: the places of the part's invocations in time (struct linear_call.call, .ret) in another
 * schedule, by invocation, or NULL: as recorded; with `call` NONE it is not in it.
 * LINEAR_NO: *story is set. *why: of LINEAR_UNDECIDED, owned by the caller. */
struct linear_times {
	uint32_t call, ret;
};
enum linear_answer linear_judge(const struct linear_part *part, struct model *m,
                                const struct linear_times *at, struct linear_story **story,
                                char **why);
void linear_shown_clear(void *shown);
void linear_story_free(struct linear_story *s); /* may be NULL */

#endif
