/*
 * explore_planning.c - the reversals of a run, each a pending schedule.
 *
 * Runs with few states are planned immediately. Others cost far more than a run: some reversals
 * are taken from random walks (reach_walk.c), so that executions can go on, and the run is kept
 * until explore.c continues its planning, by the search over states, or by the solver, event by
 * event.
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/reversals/reach_private.h"

#include <string.h>

enum {
	/* Bound on states for immediate planning: about ten milliseconds. */
	FEW_STATES = 4000,
	WALKED_LOOKS = 100000, /* about as much */
	/* The same while an error is looked for: about the cost of a run. */
	FEW_STATES_HUNTING = 500,
	WALKED_LOOKS_HUNTING = 15000,
	WALKED_LOOKS_AN_EVENT = 10,
	/* Bound on events of kept runs, about 250 MB. */
	MOST_KEPT_EVENTS = 1500000
};

void execution_free(struct execution *p)
{
	if (p == NULL)
		return;
	pending_free(p->schedule);
	reversals_free(p->search);
	smt_free(p->smt);
	history_free(p->history);
	view_free(p->view);
	if (p->parts)
		g_ptr_array_unref(p->parts);
	model_free(p->model);
	history_free(p->raw);
	view_free(p->raw_view);
	await_rounds_release(&p->rounds);
	if (p->keeper != NULL && p->run.trace != NULL)
		no_return_keep(p->keeper, p->kept_as, g_steal_pointer(&p->run.trace));
	plan_run_release(&p->run);
	if (p->early != NULL)
		g_array_unref(p->early);
	g_free(p->common);
	g_free(p->ended);
	g_free(p->goes_on);
	g_free(p);
}

/* Finds the prefix shared with the parent run. */
static void find_common(const struct exploration *x, struct execution *p, uint32_t known_as)
{
	uint32_t threads = p->history->threads_count;
	p->common = g_new(uint32_t, threads + 1);
	p->ended = g_new0(bool, threads + 1);
	for (uint32_t i = 0; known_as != NONE && i < threads; i++) {
		p->common[i] = histories_common(x->histories, p->history, i, known_as);
		p->ended[i] =
		        !histories_goes_on(x->histories, p->history, i, p->common[i], known_as);
	}
	if (known_as != NONE) {
		p->limits.common = p->common;
		p->limits.ended = p->ended;
	}
}

static void find_limits(const struct exploration *x, struct execution *p, bool whole)
{
	struct reversal_limits *l = &p->limits;
	*l = (struct reversal_limits){ .seconds = x->options->query_seconds,
		                       .end = NONE,
		                       .tail = NONE,
		                       .preemptions = x->options->bounded
		                                              ? x->options->preemptions
		                                              : NONE,
		                       .spurious = x->options->spurious,
		                       .deadline = x->deadline,
		                       .progress = x->progress };
	l->early = p->early = explore_find_early(x, &p->run);
	l->races = !x->options->bounded && x->options->specs == NULL;
	l->awaits = x->awaits;
	l->pasts = x->pasts;
	l->states = x->rounds->states;
	p->goes_on = explore_unfinished(x, &p->run);
	if (memchr(p->goes_on, true, x->trace->threads_count))
		explore_find_end(x, &p->run, l);
	l->goes_on = p->run.facts.status == LOG_CUT ? NULL : p->goes_on;
	l->finals = whole && finals_names(x->options->finals)->len > 0
	                    ? finals_names(x->options->finals)
	                    : NULL;
	l->stuck = p->run.facts.status == LOG_DEADLOCK;
	l->ender = explore_ender(x, &p->run);
}

/* Do several threads access the variable, and one of them write it? */
static bool is_shared(const struct trace *t, uint32_t variable)
{
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	bool others = false, wrote = false;
	for (uint64_t i = 0; i < list.count; i++) {
		others |= t->events[list.items[i]].thread != t->events[list.items[0]].thread;
		wrote |= op_writes(t->events[list.items[i]].op);
	}
	return others && wrote;
}

/* Does the trace have accesses of several shared variables? The solver distinguishes these by
 * their writes alone. */
static bool has_wide_accesses(const struct trace *t)
{
	for (uint64_t i = 0; i < t->wides_count; i++)
		for (uint32_t k = 0; k < t->wides[i].count; k++)
			if (is_shared(t, t->wides[i].first + k))
				return true;
	return false;
}

/* Notes that the state search was too large: the solver considers fewer outcomes. */
static void note_beyond(struct exploration *x)
{
	explore_give_up_results(x);
	if (has_wide_accesses(x->view->t))
		explore_note_incomplete(
		        x, "a run is too much for the search over its states: not every "
		           "order of accesses that share only a part of their bytes was "
		           "looked for");
	if (sync_has_outcomes(x->view->t))
		explore_note_incomplete(x,
		                        "a run is too much for the search over its states: not "
		                        "every outcome of its tries, conditions, semaphores, "
		                        "barriers, once-functions, annotations and signals "
		                        "was looked for");
	if (x->history->unseen)
		explore_note_incomplete(
		        x, "a run is too much for the search over its states: not every order "
		           "of atomic additions whose result is not used was looked for");
	explore_find_deadlocks(x);
}

/* False when planning ended: cancelled, or out of time. */
static bool goes_on(struct exploration *x, const struct execution *p)
{
	if (!reversals_stopped(p->search))
		return !x->cancelled;
	if (!explore_out_of_time(x))
		x->cancelled = true;
	return false;
}

static bool plan_by_solver(struct exploration *x, struct execution *p)
{
	struct smt_options options = { .use_values = true,
		                       .exempt = lifetimes_unobserved(p->history->lifetimes) };
	if (p->smt == NULL) {
		note_beyond(x);
		p->smt = x->cancelled ? NULL : smt_new(x->view->t, &options, x->progress);
		x->cancelled |= p->smt == NULL;
		if (x->cancelled || x->again)
			return true;
	}
	bool more = reversals_by_solver(p->search, p->smt);
	return !more || !goes_on(x, p);
}

/* Make the run current again. */
static void enter(struct exploration *x, const struct execution *p)
{
	x->trace = p->run.trace;
	x->view = p->view;
	x->history = p->history;
	x->rounds = &p->rounds;
	x->model = p->model;
	x->parts = p->parts;
	x->run = p->number;
	x->known_run = p->known_run;
	x->after_use = p->after_use;
}

/* Releases a run after its last planning. */
static void note_planned(struct exploration *x, const struct execution *p)
{
	if (reversals_unanswered(p->search))
		explore_note_incomplete(x, "the solver left a question without an answer");
	if (reversals_uncounted(p->search))
		explore_give_up_sums(x);
	explore_note_channels(x, p->history);
	if (reversals_merge(p->search))
		explore_note_incomplete(x, "a signal that is sent again before its handler "
		                           "runs" EXPLORE_ORDER_OPEN);
	x->beyond |= reversals_bounded(p->search);
}

void explore_leave(struct exploration *x)
{
	x->trace = NULL;
	x->view = NULL;
	x->history = NULL;
	x->rounds = NULL;
	x->model = NULL;
	x->parts = NULL;
}

/* One step of planning; true when nothing is left. */
static bool plan_further(struct exploration *x, struct execution *p)
{
	if (p->smt != NULL)
		return plan_by_solver(x, p);
	bool all = reversals_by_states(p->search, MOST_STATES);
	if (!p->races_found && !x->cancelled)
		explore_find_reordered_races(x, reversals_races(p->search));
	p->races_found = true;
	if (all || !goes_on(x, p))
		return true;
	return plan_by_solver(x, p);
}

void explore_plan_further(struct exploration *x)
{
	struct execution *p = x->kept->pdata[0];
	enter(x, p);
	bool done = plan_further(x, p);
	if (done)
		note_planned(x, p);
	explore_leave(x);
	if (!done || (explore_out_of_time(x) && !x->again))
		return; /* is still kept, so the report is incomplete */
	x->kept_events -= p->run.trace->events_count;
	g_ptr_array_remove_index(x->kept, 0);
}

bool explore_keeps_too_much(const struct exploration *x)
{
	return x->kept_events > MOST_KEPT_EVENTS;
}

static void walk(struct exploration *x, struct execution *p, uint64_t seed)
{
	bool hunts = x->options->until_error;
	uint64_t looks = hunts ? WALKED_LOOKS_HUNTING +
	                                 WALKED_LOOKS_AN_EVENT * p->run.trace->events_count
	                       : WALKED_LOOKS;
	reversals_by_walks(p->search, seed, looks);
	goes_on(x, p);
}

void explore_walk_again(struct exploration *x)
{
	struct execution *p = x->kept->pdata[worklist_random(x->worklist) % x->kept->len];
	enter(x, p);
	walk(x, p, worklist_random(x->worklist));
	explore_leave(x);
}

/* Plans the current run up to the end of its schedule, within rounds in vain: as a known run,
 * whose threads stop before the last looks of these rounds. (A prefix with a whole round
 * would belong to a run without the round, where others may leave it.) */
static void plan_up_to(struct exploration *x, struct execution *p, const uint32_t *stops)
{
	x->view = p->view;
	x->history = p->history;
	x->known_run =
	        histories_add(x->histories, p->history) ? histories_last(x->histories) : NONE;
	find_limits(x, p, false);
	p->limits.stops = stops;
	x->cancelled |= !trace_need(p->view->t, INDEX_ALL & ~INDEX_SITES, x->progress);
	if (x->cancelled)
		return;
	p->search = reversals_new(p->history, &p->limits, explore_take_reversal, x);
	if (!reversals_by_states(p->search, MOST_STATES) && goes_on(x, p))
		explore_note_incomplete(
		        x, "a run is too much for the search over its states: what comes "
		           "of a look that another thread ends was not looked for");
	note_planned(x, p);
}

void explore_plan_begun(struct exploration *x, struct execution *ex, const struct pending *s)
{
	if (ex->raw == NULL || s->parts == NULL ||
	    explore_is_known(x, s->parts, s->parts_count, s->kind))
		return;
	uint32_t known_run = x->known_run, *stops = g_new(uint32_t, ex->raw->threads_count + 1);
	bool *left_out = awaits_kept(&ex->rounds, ex->raw, s, stops);
	struct view_rules rules = explore_view_rules(x, left_out);
	struct execution *begun = g_new0(struct execution, 1);
	if (left_out != NULL)
		begun->view = view_new(x->trace, &rules, x->progress);
	if (begun->view != NULL) {
		begun->history = history_new(begun->view, histories_initials(x->histories),
		                             explore_apart(x), explore_sums(x, &ex->run));
		begun->run = ex->run;
		plan_up_to(x, begun, stops);
		begun->run = (struct plan_run){ 0 };
	}
	x->cancelled |= left_out != NULL && begun->view == NULL;
	execution_free(begun);
	g_free(left_out);
	g_free(stops);
	x->view = ex->view;
	x->history = ex->history;
	x->known_run = known_run;
}

void explore_plan(struct exploration *x, struct execution *p, struct pending *s, bool whole)
{
	p->schedule = s;
	find_limits(x, p, whole);
	find_common(x, p, s->known_as);
	p->number = x->run;
	p->known_run = x->known_run;
	p->after_use = x->after_use;
	explore_find_races(x);
	if (x->cancelled || !trace_need(x->view->t, INDEX_ALL & ~INDEX_SITES, x->progress)) {
		x->cancelled = true;
		execution_free(p);
		return;
	}
	bool hunts = x->options->until_error;
	p->search = reversals_new(p->history, &p->limits, explore_take_reversal, x);
	if (p->history->unseen) /* their values tell runs apart there */
		no_return_leave_out(x->no_return);
	explore_find_histories(x, p);
	if (reversals_by_states(p->search, hunts ? FEW_STATES_HUNTING : FEW_STATES)) {
		explore_find_reordered_races(x, reversals_races(p->search));
		note_planned(x, p);
		execution_free(p);
		return;
	}
	if (goes_on(x, p) && !x->options->bounded) /* a walk does not count */
		walk(x, p, x->options->seed * 1000003 + x->run + 1);
	x->kept_events += p->run.trace->events_count;
	g_ptr_array_add(x->kept, p);
}
