/*
 * missing_marks.c - races that calls into code that is not instrumented may order: the analysis again
 * with these taken into account, and what is gone then is a candidate that names the calls.
 */
#include <string.h>

#include "engine/order/order.h"
#include "engine/partial/calls.h"
#include "engine/partial/rdit.h"
#include "engine/predict/predict.h"

/* Both sides' locations, the lower first. */
static uint64_t site_pair(const struct trace *t, const struct finding *f)
{
	uint32_t a = t->events[f->first].location, b = t->events[f->second].location;

	return (uint64_t)MIN(a, b) << 32 | MAX(a, b);
}

/* Site pairs (or, `events`, pairs of events) that are races with missing code, too. */
static GHashTable *races_left(const struct trace *t, const struct report *with, bool events)
{
	GHashTable *left = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	for (guint i = 0; i < with->findings->len; i++) {
		const struct finding *f = with->findings->pdata[i];
		uint64_t *key;

		if (f->verdict == VERDICT_IMPOSSIBLE)
			continue;
		key = g_new(uint64_t, 1);
		*key = events ? (uint64_t)f->first << 32 | f->second : site_pair(t, f);
		g_hash_table_add(left, key);
	}
	return left;
}

/* The first link of the chain from one side to the other that rests on missing code. */
static char *calls_between(const struct trace *t, const struct order *order,
                           const struct missing_calls *calls, const struct finding *f)
{
	struct path path = { 0 };
	GString *text = g_string_new("only if ");
	bool named = false;

	if (order_path(order, f->first, f->second, &path))
		for (guint i = 0; path.steps != NULL && !named && i < path.steps->len; i++) {
			const struct step *s = &g_array_index(path.steps, struct step, i);
			struct missing_reason reason;

			named = s->rule == STEP_MUST && s->detail == MUST_MISSING &&
			        missing_reason(calls, t, s->from, s->to, &reason);
			if (named)
				missing_reason_append(t, &reason, s->from, s->to, text);
		}
	path_release(&path);
	g_string_append(text, named ? ", and do not synchronise by it"
	                            : "calls into code that is not instrumented do not "
	                              "synchronise the two");
	return g_string_free(text, FALSE);
}

static bool has_calls(const struct trace *t)
{
	for (uint64_t i = 0; i < t->notes_count; i++)
		if (strcmp(trace_string(t, t->notes[i].key), "recording-missing") == 0)
			return true;
	return false;
}

/* The marks of those that are not among `left`; how many. */
static unsigned mark(struct trace *t, GHashTable *left, bool events, struct report *report,
                     const struct progress *progress)
{
	struct trace *view = trace_view_missing(t, progress);
	struct order *order = view ? order_new(view, ORDER_KIND_HB, progress) : NULL;
	struct missing_calls *calls = order ? missing_calls_new(t) : NULL;
	unsigned marked = 0;

	for (guint i = 0; calls != NULL && i < report->findings->len; i++) {
		struct finding *f = report->findings->pdata[i];
		uint64_t key = events ? (uint64_t)f->first << 32 | f->second : site_pair(t, f);

		if (f->kind != FINDING_DATA_RACE || f->verdict == VERDICT_IMPOSSIBLE ||
		    g_hash_table_contains(left, &key))
			continue;
		f->missing = calls_between(t, order, calls, f);
		if (f->verdict == VERDICT_RACE)
			f->verdict = VERDICT_CANDIDATE;
		marked++;
	}
	missing_calls_free(calls);
	order_free(order);
	trace_view_free(view);
	return marked;
}

bool races_mark_missing(struct trace *t, const struct race_options *options,
                        struct report *report, const struct progress *progress,
                        struct error *error)
{
	struct race_options with = *options;

	if (options->use_missing || options->analysis == ANALYSIS_RDIT ||
	    options->rules != NULL || report->findings->len == 0 || !has_calls(t))
		return true;
	with.use_missing = true;
	with.all_verdicts = false;
	with.found = NULL;
	struct report *again = races_find(t, &with, progress, error);
	if (again == NULL)
		return false;
	GHashTable *left = races_left(t, again, options->pairs_events);
	unsigned marked = mark(t, left, options->pairs_events, report, progress);
	g_hash_table_destroy(left);
	report_free(again);
	if (marked > 0)
		report_note(report,
		            "%u of these are candidates: with what calls into code that is not "
		            "instrumented may have synchronised (--missing) there is no such race",
		            marked);
	return true;
}
