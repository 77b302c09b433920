/*
 * smt_races.c - `--analysis smt`: the ladder without rungs; and the same for `rdit`, whose
 * trace has the must-orders of missing code (races_find sees to that).
 */
#include "engine/predict/ladder/auto_ladder.h"
#include "engine/predict/predict_private.h"

struct report *races_smt(struct trace *t, const struct race_options *options,
                         const struct progress *progress, struct error *error)
{
	return ladder_climb(t, options, "smt", NULL, 0, progress, error);
}

struct report *races_rdit(struct trace *t, const struct race_options *options,
                          const struct progress *progress, struct error *error)
{
	return ladder_climb(t, options, "rdit", NULL, 0, progress, error);
}
