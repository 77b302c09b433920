/*
 * outcome.h - what a run of a program came to, and how two runs differ, in the words of the
 * program: its end, what it printed, the values of its variables.
 */
#ifndef HEDDLE_OUTCOME_H
#define HEDDLE_OUTCOME_H

#include "engine/record/record.h"

struct outcome {            /* zero to init; outcome_release */
	int status;         /* exit status, where it was not ended */
	int signal;         /* or 0 */
	char *stuck;        /* owned: "T1, T2", who could not go on at its end; or NULL */
	bool cut;           /* it was ended by us, so nothing is known of its end */
	char *printed;      /* owned: what it wrote to standard output */
	char *errors;       /* owned: and to standard error; or NULL: not told apart */
	GHashTable *values; /* owned: name of a global (char *) to its last value (int64_t *) */
};
void outcome_release(struct outcome *o);

/* From a run and its trace; `output` and `errors` are files that it wrote to (NULL: none). */
void outcome_take(struct outcome *o, struct trace *t, const struct record_facts *facts,
                  const struct record_result *result, const char *output, const char *errors);

/* Did it end as programs that found nothing wrong do? */
bool outcome_good(const struct outcome *o);
/* "exit status 3", "stuck: T1, T2": the caller's. */
char *outcome_end(const struct outcome *o);

/* What in an outcome is compared; those that differ between two runs of one schedule tell
 * nothing. */
enum outcome_part { OUTCOME_END = 1, OUTCOME_PRINTED = 2, OUTCOME_VALUES = 4, OUTCOME_ALL = 7 };
/* Which parts differ. */
unsigned outcome_differs(const struct outcome *a, const struct outcome *b);
/* The first difference in one of the parts: "takings is 42, not 60" (42 in `a`).  The caller's.
 */
char *outcome_difference(const struct outcome *a, const struct outcome *b, unsigned parts);

#endif
