/*
 * smt_races.c - `--analysis smt`: the ladder without rungs.
 */
#include "engine/predict/auto_ladder.h"

struct report *races_smt(struct trace *t, const struct race_options *options,
			 const struct progress *progress, struct error *error)
{
	return ladder_climb(t, options, "smt", NULL, 0, progress, error);
}
