/*
 * auto.c - `--analysis auto`: SHB, SyncP and M2 find races in about linear time; the solver and
 * proofs decide the rest.
 */
#include "engine/predict/ladder/auto_ladder.h"
#include "engine/predict/predict_private.h"

static const struct rung rungs[] = {
	{ races_shb, "shb" },
	{ races_syncp, "syncp" },
	{ races_m2, "m2" },
};

struct report *races_auto(struct trace *t, const struct race_options *options,
                          const struct progress *progress, struct error *error)
{
	/* the rungs support neither other orders' candidates nor specifications */
	bool climbs = options->candidates < 0 && options->rules == NULL;

	return ladder_climb(t, options, "auto", rungs, climbs ? G_N_ELEMENTS(rungs) : 0,
	                    progress, error);
}
