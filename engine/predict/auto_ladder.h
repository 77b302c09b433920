/*
 * auto_ladder.h - decides every candidate; see auto_ladder.c.
 */
#ifndef HEDDLE_AUTO_LADDER_H
#define HEDDLE_AUTO_LADDER_H

#include "engine/predict/predict_private.h"

/* A sound analysis whose races are reused. */
struct rung {
	race_run *run;
	const char *by;
};

/* A report named `name`; complete when no candidate is unknown. NULL and `error` when cancelled
 * or when a rung fails. */
struct report *ladder_climb(struct trace *t, const struct race_options *options,
                            const char *name, const struct rung *rungs, size_t count,
                            const struct progress *progress, struct error *error);

#endif
