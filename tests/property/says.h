/*
 * says.h - the report of an analysis as text, to compare two ways of running it.
 */
#ifndef HEDDLE_SAYS_H
#define HEDDLE_SAYS_H

#include "engine/predict/predict.h"

/* The findings, a line each, sorted; without `with_lines` the variables in a race alone, as two
 * ways of running a single pass may see different pairs of them. For g_free. NULL when the
 * analysis fails, or the checker of the trace refuses a witness, which is printed. */
char *says(struct trace *t, const struct race_options *o, bool deadlocks, bool with_lines,
           bool *complete);
/* Findings so far. */
extern uint64_t says_findings;

#endif
