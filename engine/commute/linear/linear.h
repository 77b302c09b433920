/*
 * linear.h - linearizability of histories (Herlihy and Wing, 1990): can each invocation of an
 * object be given one moment between its call and its return, so that the
 * specification's effects, applied in the order of these moments, give every result that was
 * recorded?
 *
 * Just-in-time linearization with memoisation (Wing and Gong, 1993; Lowe, "Testing for
 * linearizability", 2017): the history is read in the order of time with the set of
 * configurations that explain it so far: the object's state, and which of the invocations that
 * run have taken effect. At a return, configurations without this invocation are continued by
 * running invocations up to and including it; the rest is dropped. None left: not linearizable.
 * Results that are known choose among a specification's alternatives. An invocation that never
 * returned may have taken effect, or not; where its effects leave open how, an empty set
 * decides nothing.
 */
#ifndef HEDDLE_LINEAR_H
#define HEDDLE_LINEAR_H

#include "engine/commute/language/eval.h"

/* Threads that a history may have. */
enum { LINEAR_MOST_THREADS = 64 };

/* An invocation. A thread has one at a time. */
struct linear_call {
	uint32_t call, ret; /* places in the order of time, which may be equal; NONE: never
	                     * returned */
	uint32_t thread;    /* below LINEAR_MOST_THREADS */
	uint32_t method;    /* of the specification; it has effects */
	const struct val
	        *names; /* arguments, then results; without `ret` results are ignored */
};

/* Of one object. */
struct linear_history {
	const struct spec_object *o;
	struct texts *texts;
	const struct linear_call *calls;
	uint32_t count;
};

enum linear_answer { LINEAR_YES, LINEAR_NO, LINEAR_UNDECIDED };
struct linear_result {
	enum linear_answer answer;
	/* LINEAR_NO: the invocation at whose return no configuration is left. */
	uint32_t failed;
	/* uint32_t, invocations: YES: in an order that explains the history; NO: the longest
	 * such order found of those until then. Owned; or NULL. */
	GArray *order;
	uint32_t unclear; /* UNDECIDED: the invocation whose effects leave its result open;
	                   * NONE: the budget ran out */
};
/* At most `most` configurations; *used is increased by their number. */
struct linear_result linear_check(const struct linear_history *h, uint64_t most,
                                  uint64_t *used);
void linear_result_release(struct linear_result *r);

/* Of a smaller history. */
struct linear_kept {
	uint32_t of; /* its number in the whole history */
	bool open;   /* its return, after the failed one, does not matter */
};
/* A smaller history that fails at the same return: invocations without which it fails there,
 * too, and would whatever they did, are left out. struct linear_kept, in the order of `h`.
 * Takes a result with LINEAR_NO. */
GArray *linear_shrink(const struct linear_history *h, const struct linear_result *r,
                      uint64_t most);
/* The smaller history as one of its own; the caller frees `calls`. */
struct linear_history linear_part_of(const struct linear_history *h, const GArray *kept);

/* Does every method with used[method] touch one key's part of the state alone, so that the
 * invocations of each key are a history of their own (Horn and Kroening, "Faster
 * linearizability checking via P-compositionality", 2015)? keys[method]: the argument; NONE: it
 * touches no state. State that no result depends on does not count. */
bool linear_has_keys(const struct spec_object *o, const bool *used, uint32_t *keys);

/* -- for searches over many histories of the same invocations ------------------------------ */

/* A configuration. */
struct linear_config {
	uint64_t taken; /* bits by thread: its running invocation has taken effect */
	uint32_t state;
	uint32_t node; /* the node of its last invocation (linear.c); NONE: not kept */
};
struct linear;
struct linear *linear_new(const struct linear_history *h, uint64_t most);
void linear_free(struct linear *l);
/* The configuration at the beginning. */
struct linear_config linear_first(struct linear *l);
/* Appends to `out` the configurations of `in` that remain when the running invocation `call`
 * returns. False when the budget ended. *unclear: set when effects left a result open, so
 * that some configurations may be missing. */
bool linear_return(struct linear *l, const GArray *in, const uint32_t *running, uint32_t count,
                   uint32_t call, GArray *out, uint32_t *unclear);
/* The values that the invocation would return in the state: its names, which are owned by `l`
 * until the next call; NULL: the effects do not say, or it cannot be called there. */
const struct val *linear_would_return(struct linear *l, uint32_t state, uint32_t call);
/* The state after these invocations from the first one; NONE: they are not possible. */
uint32_t linear_state_after(struct linear *l, const uint32_t *order, uint32_t count);

#endif
