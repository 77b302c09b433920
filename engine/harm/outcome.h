/*
 * outcome.h - the outcome of a run and differences of outcomes: ending, output, values of
 * variables.
 */
#ifndef HEDDLE_OUTCOME_H
#define HEDDLE_OUTCOME_H

#include "engine/harm/memory.h"
#include "engine/record/record.h"

/* Initialise by zero; outcome_release. */
struct outcome {
	int status;           /* exit status, unless killed */
	int signal;           /* or 0 */
	char *stuck;          /* owned: "T1, T2", threads blocked at the end; or NULL */
	bool cut;             /* ended by us, so its ending is unknown */
	bool starved;         /* `cut`, since the recorded input was used up */
	char *printed;        /* owned: standard output, as outcome_text has it */
	char *errors;         /* owned: standard error; or NULL: not separate */
	struct memory memory; /* that it left */
	bool forked;          /* it created processes, of which only the output is known */
};
/* The file as a string, owned by the caller: a byte 0 as "\\0". NULL and `error`. */
char *outcome_text(const char *path, struct error *error);
void outcome_release(struct outcome *o);

/* From a run and its trace; `output` and `errors` are its output files (NULL: none). */
void outcome_take(struct outcome *o, struct trace *t, const struct record_facts *facts,
                  const struct record_result *result, const char *output, const char *errors);

/* Did it end without an indication of an error? */
bool outcome_good(const struct outcome *o);
/* "exit status 3", "stuck: T1, T2"; owned by the caller. */
char *outcome_end(const struct outcome *o);

/* Parts of an outcome. Those that differ between runs of one schedule are not compared. */
enum outcome_part {
	OUTCOME_END = 1,
	OUTCOME_PRINTED = 2,
	OUTCOME_VALUES = 4, /* of global variables */
	OUTCOME_HEAP = 8,   /* of memory reachable from them */
	OUTCOME_ALL = 15
};
/* Which parts differ. */
unsigned outcome_differs(const struct outcome *a, const struct outcome *b);
/* Do output and memory agree, where both were cut? */
bool outcome_same_so_far(const struct outcome *a, const struct outcome *b);
/* The first difference in one of the parts: "takings is 42, not 60" (42 in `a`). Owned by the
 * caller. */
char *outcome_difference(const struct outcome *a, const struct outcome *b, unsigned parts);
/* Where the differing value was written last, "shop.c:12" (in `a`), or NULL; owned by `a`. */
const char *outcome_place(const struct outcome *a, const struct outcome *b, unsigned parts);

#endif
