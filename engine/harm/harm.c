/* harm.c - see harm.h. */
#include "engine/harm/harm.h"

#include "engine/base/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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
	memset(v, 0, sizeof(*v));
}

struct trial { /* all runs of one finding */
	const struct harm_options *o;
	const struct trace *t;
	const struct finding *f;
	struct plan plan;
	int output, errors; /* files without a name */
	off_t input;        /* where standard input began, or -1 */
	struct error *error;
	bool broken; /* the program cannot be run */
};

static void settle(struct harm_verdict *v, enum harm harm, char *text)
{
	harm_release(v);
	v->harm = harm;
	v->text = text;
}

/* Runs the plan to the end.  False: not followed, `why` says it (the caller's). */
static bool run_way(struct trial *x, unsigned first, struct outcome *outcome, char **why)
{
	struct plan_run run;
	char *path = file_descriptor_path(x->output);
	char *errors = file_descriptor_path(x->errors);

	x->plan.output = path;
	x->plan.errors = errors;
	if (x->input >= 0)
		lseek(STDIN_FILENO, x->input, SEEK_SET);
	if (!plan_follow(&x->plan, x->o->argv, first, NULL, NULL, &run, x->error)) {
		x->broken = true;
		*why = g_strdup("the program could not be run");
		plan_run_release(&run);
		g_free(path);
		g_free(errors);
		return false;
	}
	bool followed = !run.diverged && !run.apart;
	if (!followed)
		*why = g_strdup(run.apart ? "the two accesses were of different places"
		                : run.cause && *run.cause ? run.cause
		                                          : "the program left the schedule");
	outcome_take(outcome, run.trace, &run.facts, &run.result, path, NULL);
	if (x->o->ran)
		x->o->ran(x->o->context, &run, path);
	plan_run_release(&run);
	g_free(path);
	g_free(errors);
	return followed;
}

/* The parts of an outcome that come again when the same order is run again. */
static unsigned stable_parts(struct trial *x, unsigned first, const struct outcome *before)
{
	struct outcome again = { 0 };
	char *why = NULL;
	unsigned parts = OUTCOME_ALL;

	if (run_way(x, first, &again, &why))
		parts &= ~outcome_differs(before, &again);
	g_free(why);
	outcome_release(&again);
	return parts;
}

/* The worse outcome is told, and the other is what it is not. */
static void compare(struct trial *x, unsigned first, const struct outcome *a,
                    const struct outcome *b, struct harm_verdict *v)
{
	unsigned differ = outcome_differs(a, b);
	bool turn = outcome_good(a) && !outcome_good(b);

	if (differ != 0 && !(differ & OUTCOME_END))
		differ &= stable_parts(x, first, a);
	if (differ == 0)
		settle(v, HARM_SAME, NULL);
	else
		settle(v, HARM_DIFFERS,
		       turn ? outcome_difference(b, a, differ)
		            : outcome_difference(a, b, differ));
}

/* Of a race: the second access of the recording goes first, then the first one does. */
static void both_ways(struct trial *x, struct harm_verdict *v)
{
	struct outcome a = { 0 }, b = { 0 };
	char *why = NULL;

	if (run_way(x, 2, &a, &why) && run_way(x, 1, &b, &why))
		compare(x, 2, &a, &b, v);
	else
		settle(v, HARM_UNFOLLOWED, g_steal_pointer(&why));
	g_free(why);
	outcome_release(&a);
	outcome_release(&b);
}

/* Of what turns one order round: along the witness, and as it was recorded. */
static void against_recorded(struct trial *x, struct harm_verdict *v)
{
	struct outcome a = { 0 };
	char *why = NULL;

	if (x->o->recorded == NULL)
		settle(v, HARM_UNFOLLOWED, g_strdup("the recorded run's outcome is not known"));
	else if (run_way(x, 0, &a, &why))
		compare(x, 0, &a, x->o->recorded, v);
	else
		settle(v, HARM_UNFOLLOWED, g_steal_pointer(&why));
	g_free(why);
	outcome_release(&a);
}

static bool requested(const struct finding *f, uint32_t event)
{
	for (guint i = 0; f->requests && i < f->requests->len; i++)
		if (g_array_index(f->requests, uint32_t, i) == event)
			return true;
	return false;
}

static bool make_plan(struct trial *x)
{
	const struct finding *f = x->f;
	const uint32_t *events = (const uint32_t *)(const void *)f->witness->data;
	size_t length = f->witness->len;
	uint32_t pair[2] = { NONE, NONE };

	if (f->kind == FINDING_DATA_RACE && length >= 2) {
		length -= 2;
		pair[0] = f->first;
		pair[1] = f->second;
	} else if (f->requests != NULL) {
		for (guint i = 0; i < 2 && i < f->requests->len; i++)
			pair[i] = g_array_index(f->requests, uint32_t, i);
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

/* Both accesses of such a race lie in its witness: there is no second order of turns. */
static bool is_c11(const struct finding *f)
{
	return f->kind == FINDING_DATA_RACE && f->note != NULL;
}

bool harm_find(const struct trace *t, const struct finding *f,
               const struct harm_options *options, struct harm_verdict *v, struct error *error)
{
	struct trial x = { .o = options, .t = t, .f = f, .error = error };

	settle(v, HARM_UNFOLLOWED, NULL);
	if (f->witness == NULL || is_c11(f)) {
		v->text =
		        g_strdup(f->witness == NULL
		                         ? "no schedule of it is known"
		                         : "only relaxed atomics order the two, and one thread "
		                           "runs at a time");
		return true;
	}
	x.output = file_open_nameless(g_get_tmp_dir());
	x.errors = file_open_nameless(g_get_tmp_dir());
	if (x.output < 0 || x.errors < 0)
		return error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		                 "cannot keep what a run prints: %s", g_strerror(errno));
	x.input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (!make_plan(&x))
		v->text = g_strdup(error->what);
	else if (f->kind == FINDING_DATA_RACE)
		both_ways(&x, v);
	else
		against_recorded(&x, v);
	plan_release(&x.plan);
	close(x.output);
	close(x.errors);
	return !x.broken;
}
