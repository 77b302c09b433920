/*
 * explore_start.c - an execution of the program along a schedule: begun in advance, or when its
 * run is asked for.
 */
#include "engine/explore/explore_private.h"

/* Set the plan's fields that depend on the exploration. */
static void complete_plan(struct exploration *x, struct pending *s)
{
	const struct explore_options *o = x->options;
	s->plan.output = x->output;
	s->plan.timeout_ms = o->timeout_ms ? o->timeout_ms : 10000;
	if (x->deadline != 0) {
		gint64 left = (x->deadline - g_get_monotonic_time()) / 1000 + 100;
		s->plan.timeout_ms = (unsigned)CLAMP(left, 100, s->plan.timeout_ms);
	}
	s->plan.interposer = x->interposer;
	s->plan.server = x->server;
	s->plan.explore = s->plan.futexes = true;
	s->plan.alike = o->symmetry;
	s->plan.max_steps = o->max_steps;
	if (o->spec_files && s->plan.specs == NULL)
		s->plan.specs = g_ptr_array_ref((GPtrArray *)o->spec_files);
}

void explore_begin_run(struct exploration *x, struct pending *s)
{
	complete_plan(x, s);
	if (plan_begin(&s->plan, x->options->argv))
		x->running = s;
}

void explore_end_unseen(struct exploration *x)
{
	if (x->running != NULL)
		plan_cancel(&x->running->plan);
	x->running = NULL;
}

bool explore_start_run(struct exploration *x, struct pending *s, struct plan_run *run,
                       struct error *error)
{
	bool begun = x->running == s, good;
	if (!begun)
		explore_end_unseen(x);
	x->running = NULL;
	complete_plan(x, s);
	if (begun)
		good = plan_end(&s->plan, x->options->argv, run, error);
	else
		good = plan_follow(&s->plan, x->options->argv, 0, NULL, NULL, run, error);
	x->interrupted |= run->result.interrupted != 0;
	if (good)
		return true;
	plan_run_release(run);
	return false;
}
