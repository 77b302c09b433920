/*
 * eval.h - evaluates the formulas and effects of specifications.
 *
 * A value is a kind and a 64-bit number: an integer, or the id of a string or token in a
 * universe (a trace's string table, or a test's own). Equality compares the two words. model.h
 * makes the values of a trace.
 *
 * Equality is defined on all values; comparison and arithmetic on 64-bit integers: on another
 * value, and for `% 0`, the atom is false. Overflow is an error. An unknown value (V_NONE: a
 * result that was not recorded) makes its atom unknown; the connectives are Kleene's
 * three-valued ones.
 */
#ifndef HEDDLE_COMMUTE_EVAL_H
#define HEDDLE_COMMUTE_EVAL_H

#include "engine/commute/language/spec.h"
#include "engine/trace/trace.h"

struct val {
	uint32_t kind; /* enum value_kind of trace.h; V_NONE is unknown */
	int64_t n;     /* V_INT: the integer; V_STRING, V_TOKEN, others: an id; else 0 */
};
static inline bool val_equal(struct val a, struct val b)
{
	return a.kind == b.kind && a.n == b.n;
}

/* Ids of the string constants in specifications: a string of the universe has the universe's
 * id. */
struct texts {
	GHashTable *ids; /* char * (borrowed from the formulas) -> id + 1 */
	int64_t (*find)(void *context, const char *text, size_t length); /* -1: absent */
	void *context;
};
void texts_init(struct texts *t);
void texts_release(struct texts *t);

struct abstract_state; /* the abstract state of one object */

struct evaluation {
	const struct val *names[2];         /* of each side: arguments, then results */
	const struct abstract_state *state; /* effects only */
	struct texts *texts;
	bool overflow; /* set on overflow, never cleared */
};
enum truth eval_truth(struct evaluation *v, const struct expr *e);

/* Do two invocations commute by the specification? TRUTH_YES only when the condition holds;
 * without a condition TRUTH_NO. `names1`, `names2`: arguments, then results of m1 and m2.
 * Sets *overflow when a formula overflows. */
enum truth eval_commute(const struct spec_object *o, uint32_t m1, const struct val *names1,
                        uint32_t m2, const struct val *names2, struct texts *texts,
                        bool *overflow);

/* -- effects ------------------------------------------------------------------------------- */
/* The state in which its specification begins; abstract_state_free. */
struct abstract_state *abstract_state_new(const struct spec_object *o, struct texts *texts);
void abstract_state_free(struct abstract_state *r);
struct abstract_state *abstract_state_copy(const struct abstract_state *r);
/* Equal states have equal digests; `r` may be NULL. */
uint64_t abstract_state_digest(const struct abstract_state *r);

enum abstract_result {
	RESULT_OTHER, /* applied, but the results differ from the given ones */
	RESULT_SAME,  /* applied, with the given results */
	RESULT_OPEN,  /* no effects, an unknown value, or overflow */
};
enum abstract_result abstract_state_step(struct abstract_state *r, uint32_t method,
                                         const struct val *names, struct texts *texts);
/* abstract_state_step where results are unknown: fills in those that the effects determine (`r
 * == ...`, alone or in the only alternative that can hold). RESULT_SAME: all are filled in;
 * RESULT_OTHER: the method cannot be called in this state; RESULT_OPEN: the effects leave a
 * result open. */
enum abstract_result abstract_state_predict(struct abstract_state *r, uint32_t method,
                                            struct val *names, struct texts *texts);

#endif
