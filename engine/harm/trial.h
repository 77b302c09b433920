/*
 * trial.h - running the program along a plan to its end, and its outcome: what harm.c and
 * serial.c share.
 */
#ifndef HEDDLE_TRIAL_H
#define HEDDLE_TRIAL_H

#include "engine/harm/harm.h"

struct trial { /* all runs of one finding */
	const struct harm_options *o;
	const struct trace *t;
	struct plan plan;
	int output, errors; /* files without a name */
	off_t input;        /* offset of standard input at the start, or -1 */
	struct error *error;
	bool broken; /* the program cannot be run */
};
/* The files and the place of standard input; false and x->error.  trial_close in either case.
 */
bool trial_open(struct trial *x);
void trial_close(struct trial *x); /* the plan, too */
/* Runs x->plan; `first` as of plan_follow. The outcome is the caller's (outcome_release).
 * False: the plan was not followed, and `why` says why (the caller's). */
bool trial_run(struct trial *x, unsigned first, struct outcome *outcome, char **why);

/* `text` is taken over. */
void harm_settle(struct harm_verdict *v, enum harm harm, char *text);
/* Settles DIFFERS: the outcomes differ in these parts: "x is 1, not 2" (1 in `a`). */
void harm_settle_difference(struct harm_verdict *v, const struct outcome *a,
                            const struct outcome *b, unsigned parts);

#endif
