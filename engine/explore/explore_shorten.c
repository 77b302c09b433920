/*
 * explore_shorten.c - while one error is looked for: its run made again with fewer switches of
 * threads, before it is shown.
 *
 * Turns of the shortest run so far are taken out in parts, of half their number first, then of
 * a quarter, ... (delta debugging: Zeller and Hildebrandt, TSE 2002). The turns left are run
 * and judged like any schedule; note_shortest (explore_errors.c) keeps the error's shortest
 * run.
 */
#include "engine/explore/explore_private.h"

enum { TRIES = 40 }; /* of each error */

static bool may_go_on(struct exploration *x, unsigned tries)
{
	const struct explore_options *o = x->options;
	uint64_t made = explore_executions(x) - x->before;
	return tries < TRIES && (o->max_runs == 0 || made < o->max_runs) && !x->again &&
	       !x->cancelled && !explore_out_of_time(x) && !explore_is_interrupted(x);
}

/* Runs along these turns (taken over): does this make another run the error's shortest? */
static bool is_shortened(struct exploration *x, guint error, GArray *turns,
                         struct error *problem, bool *good)
{
	uint32_t before =
	        g_array_index(x->report->errors, struct explore_error, error).shortest;
	struct strategy how = { .kind = STRATEGY_TURNS, .turns = turns };
	struct pending *p = explore_by_strategy(
	        x, &how, g_strdup_printf("fewer switches than in run %u", before));
	*good = explore_run_pending(x, p, problem);
	g_array_unref(turns);
	return *good && error < x->report->errors->len &&
	       g_array_index(x->report->errors, struct explore_error, error).shortest != before;
}

static bool shorten(struct exploration *x, guint error, struct error *problem)
{
	bool good = true, shorter = true;
	unsigned tries = 0;
	while (shorter && good && may_go_on(x, tries)) {
		shorter = false;
		const GArray *first = x->turns->pdata[error];
		for (guint part = (first->len + 1) / 2; part > 0; part /= 2)
			for (guint at = 0; good && may_go_on(x, tries);) {
				const GArray *turns = x->turns->pdata[error];
				if (at >= turns->len)
					break;
				tries++;
				if (is_shortened(x, error, turns_without(turns, at, part),
				                 problem, &good))
					shorter = true;
				else
					at += part;
			}
	}
	return good;
}

bool explore_shorten(struct exploration *x, struct error *problem)
{
	enum { SWITCHES = 2 }; /* few enough to need no shortening */
	bool good = true;
	uint64_t runs = x->report->runs->len, classes = x->report->classes;
	if (x->portfolio == NULL || x->options->specs != NULL || x->options->resume != NULL)
		return true;
	for (guint i = 0; good && i < x->turns->len && i < x->report->errors->len; i++) {
		const struct explore_error *e =
		        &g_array_index(x->report->errors, struct explore_error, i);
		const GArray *turns = x->turns->pdata[i];
		if (turns != NULL && turns->len > SWITCHES && turns->len <= LOG_TURNS &&
		    e->end != EXPLORE_CUT && e->end != EXPLORE_DIVERGED &&
		    !explore_is_usual(x, e))
			good = shorten(x, i, problem);
	}
	x->report->shortening = x->report->runs->len - runs;
	x->report->shortening_classes = x->report->classes - classes;
	return good;
}
