/*
 * auto_ladder.h - the search that gives every candidate a verdict: see auto_ladder.c.
 */
#ifndef HEDDLE_AUTO_LADDER_H
#define HEDDLE_AUTO_LADDER_H

#include "engine/predict/predict_private.h"

struct rung { /* a sound analysis whose races are taken over */
	race_run *run;
	const char *by;
};

/* A report named `name`; its `complete` is true when no candidate is left unknown.  NULL and
 * `error` when cancelled or when a rung fails. */
struct report *ladder_climb(struct trace *t, const struct race_options *options,
                            const char *name, const struct rung *rungs, size_t count,
                            const struct progress *progress, struct error *error);

#endif
