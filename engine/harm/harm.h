/*
 * harm.h - the effect of a finding: both orders are run on the program from the same prefix to
 * the end, and the outcomes compared.
 */
#ifndef HEDDLE_HARM_H
#define HEDDLE_HARM_H

#include "engine/finding.h"
#include "engine/harm/outcome.h"
#include "engine/record/plan_run.h"

/* enumerator, word in JSON */
#define HARMS(HARM) \
	HARM(UNASKED, "") \
	HARM(DIFFERS, "differs") /* the orders have different outcomes */ \
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
	const struct outcome *recorded; /* outcome of the recorded run; borrowed */
	/* Called with each run's trace, valid during the call; or NULL. */
	void (*ran)(void *context, struct plan_run *run, const char *output);
	void *context;
};

/* Initialise by zero; harm_release. */
struct harm_verdict {
	enum harm harm;
	char *text;  /* owned: DIFFERS: the first difference; UNFOLLOWED: the reason; SAME: the
	                parts compared when not all were, or NULL */
	char *place; /* owned: where the value of that difference was written, or NULL */
};
void harm_release(struct harm_verdict *v);

/*
 * For a finding with a witness: a data race's accesses in both orders after the witness; an
 * order violation, cycle of units or deadlock along the witness, compared with the recorded
 * run. After the pair the thread with the lowest number goes first in both; parts of the
 * outcome that differ between two runs of the same order are not compared. False and `error`
 * when the program cannot be run.
 */
bool harm_find(const struct trace *t, const struct finding *f,
               const struct harm_options *options, struct harm_verdict *v, struct error *error);

#endif
