/*
 * harm.h - what a finding does to the program: both orders of it are run on the real program,
 * from the same prefix to the end, and the outcomes are compared.
 */
#ifndef HEDDLE_HARM_H
#define HEDDLE_HARM_H

#include "engine/finding.h"
#include "engine/harm/outcome.h"
#include "engine/record/plan.h"

/* enumerator, word in JSON */
#define HARMS(HARM) \
	HARM(UNASKED, "") \
	HARM(DIFFERS, "differs") /* the two orders lead to two outcomes */ \
	HARM(SAME, "same")       /* for this input, in these two runs */ \
	HARM(UNFOLLOWED, "unfollowed")
enum harm {
#define HARM(name, word) HARM_##name,
	HARMS(HARM)
#undef HARM
};
const char *harm_word(enum harm harm);

struct harm_options {
	char **argv;                    /* the program; borrowed */
	unsigned timeout_ms;            /* for one run */
	const struct outcome *recorded; /* of the run that the trace is of; borrowed */
	/* Each run's trace is shown to it while it is there; or NULL. */
	void (*ran)(void *context, struct plan_run *run, const char *output);
	void *context;
};

struct harm_verdict { /* zero to init; harm_release */
	enum harm harm;
	char *text; /* owned: DIFFERS: the first difference; UNFOLLOWED: why */
};
void harm_release(struct harm_verdict *v);

/*
 * Of a finding of the trace with a witness: a data race's two accesses in either order behind
 * the witness; an order violation, a cycle of units or a deadlock along the witness, compared
 * with the recorded run.  After the pair the thread with the lowest number goes first in both,
 * so that nothing else differs; where two runs of one order differ from each other, that part
 * of the outcome is not compared.  False and `error` when the program cannot be run at all.
 */
bool harm_find(const struct trace *t, const struct finding *f,
               const struct harm_options *options, struct harm_verdict *v, struct error *error);

#endif
