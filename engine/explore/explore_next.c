/*
 * explore_next.c - the next execution: a schedule that waits, or one by chance.
 */
#include "engine/explore/explore_private.h"

#include <string.h>

/* Number of initial executions with random schedules. */
enum { FIRST_BY_CHANCE = 32 };
/* Executions of the portfolio after the first one, before its runs are planned. */
enum { FIRST_OF_HUNT = LOG_PAUSES - 1 };
/* Bound on executions by chance in a row, with nothing pending. */
enum { MOST_IDLE = 32 };

const char *explore_limit(const struct exploration *x)
{
	const struct explore_options *o = x->options;
	if (o->max_runs && explore_executions(x) - x->before >= o->max_runs)
		return "the limit of runs was reached (--runs)";
	if (o->until_error && explore_has_failed(x))
		return "it ended at the first error (--until-error)";
	return explore_out_of_time(x) ? EXPLORE_TIME_UP : NULL;
}

struct pending *explore_by_strategy(struct exploration *x, const struct strategy *how,
                                    char *reversal)
{
	struct pending *p = g_new0(struct pending, 1);
	plan_init(&p->plan);
	p->plan.strategy = how->kind;
	p->plan.seed = how->seed;
	p->plan.target = how->target;
	p->plan.turns = how->turns ? g_array_copy(how->turns) : NULL;
	p->parent = x->first;
	p->known_as = 0; /* the first run, known by this number */
	p->by_chance = true;
	p->reversal = reversal;
	p->thread = g_strdup("");
	p->place = g_strdup("");
	p->variable = g_strdup("");
	x->chances++;
	return p;
}

/* An execution without a plan. */
static struct pending *by_chance(struct exploration *x)
{
	struct strategy how = portfolio_next(x->portfolio);
	GString *text = g_string_new(NULL);
	strategy_append(&how, text);
	struct pending *p = explore_by_strategy(
	        x, &how, g_strdup_printf("a schedule by %s", text->str + strlen("--")));
	strategy_release(&how);
	g_string_free(text, TRUE);
	return p;
}

/* Should the next execution be random? In a search for an error every second one is, since
 * schedules derived from the first runs resemble these. */
static bool is_chance(const struct exploration *x)
{
	uint32_t made = x->report->runs->len - x->first;
	if (!x->options->until_error || made == 0)
		return false;
	/* planning a run to its end may take long: others, by chance, may have few states, or
	 * more reversals that a walk finds */
	bool idle = worklist_ready(x->worklist) == 0 && !explore_keeps_too_much(x);
	return x->chances < FIRST_OF_HUNT || x->chances < made / 2 ||
	       (idle && x->idle_chances < MOST_IDLE);
}

struct pending *explore_by_chance(struct exploration *x)
{
	return is_chance(x) ? by_chance(x) : NULL;
}

/* Of a REVERSAL_IDLE, when no other schedule is left: does one of its threads leave its look? A
 * round without effect that begins with the look would have been run by then, in this
 * exploration (docs/waiting-loops.md, "Whether all look for ever"). */
static bool leaves_a_look(const struct exploration *x, const struct pending *p)
{
	if (!explore_knows_rounds(x))
		return false;
	for (uint32_t i = 1; i < p->parts_count; i++) {
		uint64_t prefix = p->parts[i].prefix;
		if (prefix != 0 && !awaits_within(x->awaits, prefix) &&
		    !pasts_lead_to_longer(x->pasts, prefix))
			return true;
	}
	return false;
}

/* Is what the schedule asks for known by now? */
static bool is_answered(const struct exploration *x, const struct pending *p)
{
	if (p->kind == REVERSAL_RACE)
		return explore_has_race(x, p->key);
	if (p->parts == NULL)
		return false;
	if (explore_is_known(x, p->parts, p->parts_count, p->kind))
		return true;
	return p->kind == REVERSAL_IDLE ? leaves_a_look(x, p)
	                                : pasts_have_longer(x->pasts, p->parts, p->parts_count);
}

struct pending *explore_take_pending(struct exploration *x, struct pending *chance)
{
	uint32_t made = x->report->runs->len - x->first;
	bool any = x->options->until_error || made < FIRST_BY_CHANCE;
	struct pending *p = chance ? chance : worklist_take(x->worklist, any);
	bool known = is_answered(x, p);
	x->taken += !p->by_chance;
	x->run_of_taken += !p->by_chance && !known;
	if (!known)
		return p;
	x->report->pruned++;
	pending_free(p);
	return NULL;
}

void explore_choose_next(struct exploration *x)
{
	if (x->options->until_error)
		return;
	while (x->next == NULL && !x->again && !x->cancelled && !x->interrupted &&
	       explore_limit(x) == NULL && x->repeats->len == 0 &&
	       worklist_ready(x->worklist) > 0 && !explore_keeps_too_much(x))
		x->next = explore_take_pending(x, explore_by_chance(x));
	if (x->next != NULL && x->running == NULL) {
		x->idle_chances = 0;
		explore_begin_run(x, x->next);
	}
}

void explore_put_next_back(struct exploration *x)
{
	explore_end_unseen(x);
	if (x->next != NULL && !x->next->by_chance)
		worklist_add(x->worklist, g_steal_pointer(&x->next));
	g_clear_pointer(&x->next, pending_free);
}
