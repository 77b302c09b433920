/*
 * explore_linear.c - linearizability of the objects in each run, as it was made, and in all
 * schedules of its class (reach_linear.c).
 */
#include "engine/explore/explore_private.h"

#include <string.h>

/* Bound on the states, and their sets of configurations, of the schedules of one class: a
 * second or so. */
enum { MOST_SCHEDULE_STATES = 200000 };

void explore_see_parts(struct exploration *x, struct execution *ex)
{
	struct error error = { 0 };
	if (!x->options->linearizable || x->trace->instances_count == 0)
		return;
	ex->model = model_new(x->trace, x->options->specs, x->progress, &error);
	x->cancelled |= ex->model == NULL;
	if (ex->model != NULL)
		ex->parts = linear_parts(ex->model);
}

static void note_refused(struct exploration *x, const struct linear_part *part)
{
	char *name = model_object_name(x->model, part->object);
	char *why = g_strdup_printf("whether %s is linearizable was not looked at: %s", name,
	                            part->refused);
	explore_note_incomplete(x, why);
	g_free(why);
	g_free(name);
}

GPtrArray *explore_find_nonlinear(struct exploration *x)
{
	GPtrArray *stories = g_ptr_array_new_with_free_func((GDestroyNotify)linear_story_free);
	for (guint i = 0; x->parts != NULL && i < x->parts->len; i++) {
		const struct linear_part *part = x->parts->pdata[i];
		struct linear_story *story = NULL;
		char *why = NULL;
		if (part->refused != NULL)
			note_refused(x, part);
		else if (linear_judge(part, x->model, NULL, &story, &why) == LINEAR_NO)
			g_ptr_array_add(stories, story);
		if (why != NULL)
			explore_note_incomplete(x, why);
		g_free(why);
	}
	return stories;
}

/* The places of the part's invocations in a schedule's time. */
static struct linear_times *times_in(const struct linear_part *part, const GArray *sequence)
{
	struct linear_times *at = g_new(struct linear_times, part->h.count + 1);
	memset(at, 0xff, sizeof *at * (part->h.count + 1));
	for (uint32_t i = 0; i < part->h.count; i++)
		for (guint k = 0; k < sequence->len; k++) {
			uint32_t e = g_array_index(sequence, uint32_t, k);
			at[i].call = e == part->calls[i].call ? k : at[i].call;
			at[i].ret = e == part->calls[i].ret ? k : at[i].ret;
		}
	return at;
}

/* Is an error like this one known, with a history that is no longer? */
static bool is_known(const struct exploration *x, const struct linear_story *story)
{
	for (guint i = 0; i < x->report->errors->len; i++) {
		const struct explore_error *e =
		        &g_array_index(x->report->errors, struct explore_error, i);
		if (e->end == EXPLORE_LINEARIZABILITY && strcmp(e->key, story->key) == 0)
			return e->history->len <= story->shown->len;
	}
	return false;
}

static void schedule(struct exploration *x, const struct linear_part *part,
                     const GArray *sequence)
{
	struct linear_times *at = times_in(part, sequence);
	struct linear_story *story = NULL;
	char *why = NULL;
	if (linear_judge(part, x->model, at, &story, &why) != LINEAR_NO) {
		explore_note_incomplete(
		        x, why ? why : "a history was found not to be linearizable, and is");
	} else if (!is_known(x, story)) {
		struct pending *s = pending_new(x, (const uint32_t *)(void *)sequence->data,
		                                sequence->len, story->call);
		char *name = model_object_name(x->model, part->object);
		s->kind = REVERSAL_HISTORY;
		s->reversal = g_strdup_printf(
		        "calls and returns of %s come in the order that fewest orders explain",
		        name);
		s->thread = g_strdup(
		        trace_thread_name(x->trace, x->trace->events[story->call].thread));
		s->variable = g_strdup("");
		worklist_add(x->worklist, s);
		g_free(name);
	}
	linear_story_free(story);
	g_free(why);
	g_free(at);
}

/* Do several threads call it? Otherwise its history is the same in every schedule. */
static bool is_shared(const struct linear_part *part)
{
	return part->refused == NULL && part->threads_count > 1;
}

void explore_find_histories(struct exploration *x, struct execution *p)
{
	for (guint i = 0; x->parts != NULL && i < x->parts->len; i++) {
		const struct linear_part *part = x->parts->pdata[i];
		const GArray *sequence;
		if (!is_shared(part))
			continue;
		enum linear_answer answer =
		        reversals_linear(p->search, part, MOST_SCHEDULE_STATES, &sequence);
		if (answer == LINEAR_NO)
			schedule(x, part, sequence);
		else if (answer == LINEAR_UNDECIDED && !reversals_stopped(p->search))
			explore_note_incomplete(
			        x, "the schedules of a run with the same values are too many "
			           "to look at the order of calls and returns in each: a "
			           "history that is not linearizable may be missing");
	}
}
