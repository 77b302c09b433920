/* harm.c - see harm.h. */
#include "engine/harm/trial.h"

#include <string.h>

static const char *const words[] = {
#define HARM(name, word) word,
	HARMS(HARM)
#undef HARM
};

const char *harm_word(enum harm harm)
{
	return words[harm];
}

void harm_release(struct harm_verdict *v)
{
	g_free(v->text);
	g_free(v->place);
	memset(v, 0, sizeof(*v));
}

void harm_settle(struct harm_verdict *v, enum harm harm, char *text)
{
	harm_release(v);
	v->harm = harm;
	v->text = text;
}

void harm_settle_difference(struct harm_verdict *v, const struct outcome *a,
                            const struct outcome *b, unsigned parts)
{
	harm_settle(v, HARM_DIFFERS, outcome_difference(a, b, parts));
	v->place = g_strdup(outcome_place(a, b, parts));
}

/* The parts of an outcome that repeat when the same order is run again. */
static unsigned stable_parts(struct trial *x, unsigned first, const struct outcome *before)
{
	struct outcome again = { 0 };
	g_autofree char *why = NULL;
	unsigned parts = OUTCOME_ALL;

	if (trial_run(x, first, &again, &why))
		parts &= ~outcome_differs(before, &again);
	outcome_release(&again);
	return parts;
}

/* Compares two runs of which neither came to its end. */
static void compare_cut(const struct outcome *a, const struct outcome *b,
                        struct harm_verdict *v)
{
	bool starved = a->starved && b->starved;

	if (starved && outcome_same_so_far(a, b))
		harm_settle(v, HARM_SAME,
		            g_strdup("compared where the recorded input was used up"));
	else
		harm_settle(
		        v, HARM_UNFOLLOWED,
		        g_strdup(starved ? "in both orders the recorded input was used up "
		                           "before the program's end, and at different places"
		                         : "in neither order did the program end in time"));
}

/* Reports the worse outcome, relative to the other. */
static void compare(struct trial *x, unsigned first, const struct outcome *a,
                    const struct outcome *b, struct harm_verdict *v)
{
	unsigned differ = outcome_differs(a, b);
	bool turn = outcome_good(a) && !outcome_good(b);

	if (a->cut && b->cut) {
		compare_cut(a, b, v);
		return;
	}
	if (differ != 0 && !(differ & OUTCOME_END))
		differ &= stable_parts(x, first, a);
	if (differ == 0)
		harm_settle(v, HARM_SAME, NULL);
	else
		harm_settle_difference(v, turn ? b : a, turn ? a : b, differ);
}

/* For a race: run both orders, the recorded second access first. */
static void both_ways(struct trial *x, struct harm_verdict *v)
{
	struct outcome a = { 0 }, b = { 0 };
	g_autofree char *why = NULL;

	if (trial_run(x, 2, &a, &why) && trial_run(x, 1, &b, &why))
		compare(x, 2, &a, &b, v);
	else
		harm_settle(v, HARM_UNFOLLOWED, g_steal_pointer(&why));
	outcome_release(&a);
	outcome_release(&b);
}

/* For a single reversal: run the witness, and compare with the recording. */
static void against_recorded(struct trial *x, struct harm_verdict *v)
{
	struct outcome a = { 0 };
	g_autofree char *why = NULL;

	if (x->o->recorded == NULL)
		harm_settle(v, HARM_UNFOLLOWED,
		            g_strdup("the recorded run's outcome is not known"));
	else if (trial_run(x, 0, &a, &why))
		compare(x, 0, &a, x->o->recorded, v);
	else
		harm_settle(v, HARM_UNFOLLOWED, g_steal_pointer(&why));
	outcome_release(&a);
}

static bool requested(const struct finding *f, uint32_t event)
{
	for (guint i = 0; f->requests && i < f->requests->len; i++)
		if (g_array_index(f->requests, uint32_t, i) == event)
			return true;
	return false;
}

static bool make_plan(struct trial *x, const struct finding *f)
{
	const uint32_t *events = (const uint32_t *)(const void *)f->witness->data;
	size_t length = f->witness->len;
	uint32_t pair[2] = { NONE, NONE };

	if (f->kind == FINDING_DATA_RACE && length >= 2) {
		length -= 2;
		pair[0] = f->first;
		pair[1] = f->second;
	} else if (f->requests != NULL) {
		plan_stops(x->t, f->requests, pair);
		while (length > 0 && requested(f, events[length - 1]))
			length--;
	} else if (length > 0) {
		pair[0] = events[--length];
	}
	if (!plan_make(x->t, events, length, pair, &x->plan, x->error))
		return false;
	if (f->kind == FINDING_USE_AFTER_FREE)
		for (guint i = 0; i < f->witness->len; i++)
			if (x->t->events[events[i]].op == OP_FREE &&
			    (events[i] == f->first || events[i] == f->second))
				x->plan.poison = events[i];
	x->plan.strategy = STRATEGY_FIRST;
	x->plan.timeout_ms = x->o->timeout_ms;
	return true;
}

/* Both accesses of a C11 race are in its witness, so it has no second order. */
static bool is_c11(const struct finding *f)
{
	return f->kind == FINDING_DATA_RACE && f->note != NULL;
}

bool harm_find(const struct trace *t, const struct finding *f,
               const struct harm_options *options, struct harm_verdict *v, struct error *error)
{
	struct trial x = { .o = options, .t = t, .error = error };

	harm_settle(v, HARM_UNFOLLOWED, NULL);
	if (f->witness == NULL || is_c11(f)) {
		v->text = g_strdup(
		        f->witness == NULL
		                ? "its schedule is too long to be kept beside the others, "
		                  "and was not found again in the time for one pair "
		                  "(--budget 60,10 gives ten seconds)"
		                : "only relaxed atomics, or a lock that was tried in vain, "
		                  "keep the two apart: these order nothing by the rules of "
		                  "C11, but a run here has one thread at a time");
		return true;
	}
	if (!trial_open(&x))
		return false;
	if (!make_plan(&x, f))
		v->text = g_strdup(error->what);
	else if (f->kind == FINDING_DATA_RACE)
		both_ways(&x, v);
	else
		against_recorded(&x, v);
	trial_close(&x);
	return !x.broken;
}
