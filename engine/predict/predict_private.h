/*
 * predict_private.h - the functions behind analyses.def: the type of an analysis, and the entry
 * of each.
 *
 * Everything outside of engine/predict goes through predict.h.
 */
#ifndef HEDDLE_PREDICT_PRIVATE_H
#define HEDDLE_PREDICT_PRIVATE_H

#include "engine/predict/predict.h"

/* Run one analysis: the report (owned by the caller) or NULL and `error`. */
typedef struct report *race_run(struct trace *t, const struct race_options *options,
                                const struct progress *progress, struct error *error);

#define ANALYSIS(name, word, sound, run, title) race_run run;
#include "engine/predict/analyses.def"
#undef ANALYSIS

/* Run an analysis on the trace by chains of threads if worthwhile (engine/trace/chains.h); the
 * report is on the trace. */
struct report *by_chains(struct trace *t, const struct race_options *options, race_run *run,
                         const struct progress *progress, struct error *error);

#endif
