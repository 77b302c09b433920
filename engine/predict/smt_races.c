/*
 * smt_races.c - `--analysis smt`: the ladder without rungs, and one pair alone.
 */
#include "engine/predict/auto_ladder.h"
#include "engine/predict/smt.h"

struct report *races_smt(struct trace *t, const struct race_options *options,
			 const struct progress *progress, struct error *error)
{
	return ladder_climb(t, options, "smt", NULL, 0, progress, error);
}

struct finding *decide_smt(struct trace *t, uint32_t e1, uint32_t e2,
			   const struct race_options *options, const struct progress *progress,
			   struct error *error)
{
	struct smt_options smt_options = { .use_values = options->use_values,
					   .invocations = true };
	struct smt *s = smt_new(t, &smt_options, progress);
	struct finding *f = NULL;

	if (s != NULL)
		f = smt_decide(s, e1, e2, options,
			       MIN(options->budget_pair, options->budget_total), progress);
	smt_free(s);
	if (f == NULL)
		error_set(error, "", NULL, "cancelled");
	return f;
}
