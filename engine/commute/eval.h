/*
 * eval.h - running formulas and effects on values: the small evaluator of specifications.
 *
 * A value here is a kind and a 64-bit number (an integer, or the id of a string or token
 * in some universe: a trace's string table, or a test's own numbering), so that equality
 * is a comparison of two words.  Knows no events; model.h makes values of a trace's.
 *
 * Equality is over any values; comparison and arithmetic over integers of 64 bits: on
 * another value the atom is false, so too for `% 0`; an overflow is an error.  An unknown
 * value (V_NONE: a result that was not recorded) leaves its atom open, and the connectives
 * are Kleene's.
 */
#ifndef HEDDLE_COMMUTE_EVAL_H
#define HEDDLE_COMMUTE_EVAL_H

#include "engine/commute/spec.h"
#include "engine/trace/trace.h"

struct val {
	uint32_t kind; /* enum value_kind of trace.h; V_NONE is unknown */
	int64_t n;     /* V_INT: the integer; V_STRING, V_TOKEN, others: an id; else 0 */
};
static inline bool val_equal(struct val a, struct val b)
{
	return a.kind == b.kind && a.n == b.n;
}

/* Ids for the string constants of specifications: never those of the universe's strings
 * unless they are the same text. */
struct texts {
	GHashTable *ids; /* char * (borrowed from the formulas) -> id + 1 */
	int64_t (*find)(void *context, const char *text, size_t length); /* -1: not there */
	void *context;
};
void texts_init(struct texts *t);
void texts_release(struct texts *t);
int64_t texts_id(struct texts *t, const struct expr *e);

struct run_state; /* the abstract state of one object */

struct evaluation {
	const struct val *names[2];    /* each side's arguments, then results */
	const struct run_state *state; /* effects only */
	struct texts *texts;
	bool overflow; /* set, never cleared */
};
enum truth eval_truth(struct evaluation *v, const struct expr *e);

/*
 * Do two invocations commute by the specification?  TRUTH_YES only when the condition
 * holds; a pair without a condition is TRUTH_NO.  `names1`, `names2`: arguments, then
 * results of m1 and m2.  *overflow is set where a formula overflows.
 */
enum truth eval_commute(const struct spec_object *o, uint32_t m1, const struct val *names1,
                        uint32_t m2, const struct val *names2, struct texts *texts,
                        bool *overflow);

/* Effects. */
struct run_state *run_new(const struct spec_object *o, struct texts *texts);
void run_free(struct run_state *r);
struct run_state *run_copy(const struct run_state *r);
/* Equal states have equal digests; NULL-safe. */
uint64_t run_digest(const struct run_state *r);

enum run_result {
	RUN_OTHER, /* it would return something else here (and is done all the same) */
	RUN_SAME,  /* it returns what is given */
	RUN_OPEN,  /* no effects for it, an unknown value, or an overflow */
};
enum run_result run_step(struct run_state *r, uint32_t method, const struct val *names,
                         struct texts *texts);
/*
 * The same with results that are not given: where the effects determine them (`r == ...`, by
 * itself or in the one alternative that can hold) they are filled in.  RUN_SAME when all are;
 * RUN_OTHER: it may not be called here; RUN_OPEN: the effects do not say.
 */
enum run_result run_predict(struct run_state *r, uint32_t method, struct val *names,
                            struct texts *texts);

#endif
