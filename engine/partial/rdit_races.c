/*
 * rdit_races.c - `--analysis rdit`: maximal causality with missing code taken into account.
 */
#include "engine/partial/rdit.h"
#include "engine/predict/auto_ladder.h"

struct report *races_rdit(struct trace *t, const struct race_options *options,
			  const struct progress *progress, struct error *error)
{
	struct race_options with = *options;

	with.use_missing = true;
	return ladder_climb(t, &with, "rdit", NULL, 0, progress, error);
}
