/*
 * prove.h - proving conditions from effects with Z3: is a condition symmetric, sound
 * (where it holds, the two invocations commute as definition 3.1 of the RD2 paper says:
 * from every state both orders are possible or neither is, with the same results, and end
 * in the same state), and precise (it refuses no pair that always commutes)?
 *
 * Integers are unbounded here; at run time an overflow is an error.  Counterexamples are
 * in the specification's words.
 */
#ifndef HEDDLE_COMMUTE_PROVE_H
#define HEDDLE_COMMUTE_PROVE_H

#include "engine/commute/spec.h"

enum answer {
	ANSWER_YES,
	ANSWER_NO,      /* with a counterexample */
	ANSWER_OPEN,    /* the solver gave up within its time */
	ANSWER_UNASKED, /* no effects to prove it from, or it does not apply */
};
struct answered {
	enum answer answer;
	char *example; /* owned; NULL unless ANSWER_NO */
};
struct condition_check {
	struct answered symmetric; /* of `commute m, m` only */
	struct answered sound, precise;
};
void condition_check_release(struct condition_check *c);
/* A condition was refused: it is not symmetric or not sound. */
static inline bool condition_refused(const struct condition_check *c)
{
	return c->symmetric.answer == ANSWER_NO || c->sound.answer == ANSWER_NO;
}

struct prover;
/* `milliseconds` for each question. */
struct prover *prover_new(const struct spec_object *o, unsigned milliseconds);
void prover_free(struct prover *p);
void prove_condition(struct prover *p, const struct spec_condition *c,
                     struct condition_check *out);

#endif
