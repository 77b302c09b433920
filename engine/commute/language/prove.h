/*
 * prove.h - proofs of conditions from effects with Z3: is a condition symmetric; sound (where
 * it holds, the invocations commute by definition 3.1 of the RD2 paper: from every state both
 * orders or neither are possible, with equal results and final state); precise (it is true for
 * every pair that always commutes)?
 *
 * Integers are unbounded in proofs; at run time an overflow is an error. Counterexamples are
 * printed in the specification's syntax.
 */
#ifndef HEDDLE_COMMUTE_PROVE_H
#define HEDDLE_COMMUTE_PROVE_H

#include "engine/commute/language/spec.h"

enum proof_answer {
	ANSWER_YES,
	ANSWER_NO,      /* with a counterexample */
	ANSWER_OPEN,    /* the solver ran out of time */
	ANSWER_UNASKED, /* no effects, or not applicable */
};
struct answered {
	enum proof_answer answer;
	char *example; /* owned; NULL unless ANSWER_NO */
};
struct condition_check {
	struct answered symmetric; /* only of `commute m, m` */
	struct answered sound, precise;
};
void condition_check_release(struct condition_check *c);
/* Is the condition refused, as asymmetric or unsound? */
static inline bool condition_refused(const struct condition_check *c)
{
	return c->symmetric.answer == ANSWER_NO || c->sound.answer == ANSWER_NO;
}

struct prover;
/* `milliseconds` for each query. */
struct prover *prover_new(const struct spec_object *o, unsigned milliseconds);
void prover_free(struct prover *p);
void prove_condition(struct prover *p, const struct spec_condition *c,
                     struct condition_check *out);

#endif
