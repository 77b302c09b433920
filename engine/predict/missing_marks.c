/*
 * missing_marks.c - marks findings that calls into uninstrumented code may order: the analysis
 * runs again with the calls as barrier pairs, and a finding that is gone then becomes a
 * candidate that names the calls.
 */

#include "engine/base/compare.h"
#include "engine/base/hash.h"
#include "engine/order/order.h"
#include "engine/partial/calls.h"
#include "engine/partial/rdit.h"
#include "engine/predict/deadlock/deadlock.h"
#include "engine/predict/predict.h"

#include <string.h>

/* The sites (or events) of a finding, independent of their order. */
static char *key_of(const struct trace *t, const struct finding *f, bool events)
{
	g_autoptr(GArray) claimed = finding_claimed(f);
	GString *key = g_string_new(finding_kind_word(f->kind));

	for (guint i = 0; i < claimed->len; i++) {
		uint32_t *e = &g_array_index(claimed, uint32_t, i);

		*e = events ? *e : t->locations[t->events[*e].location].site;
	}
	g_array_sort(claimed, compare_u32);
	for (guint i = 0; i < claimed->len; i++)
		g_string_append_printf(key, " %u", g_array_index(claimed, uint32_t, i));
	return g_string_free(key, FALSE);
}

/* Keys of findings that remain possible with missing code. */
static GHashTable *findings_left(const struct trace *t, const struct report *with, bool events)
{
	GHashTable *left = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < with->findings->len; i++) {
		const struct finding *f = with->findings->pdata[i];

		if (f->verdict != VERDICT_IMPOSSIBLE)
			g_hash_table_add(left, key_of(t, f, events));
	}
	return left;
}

/* The first edge by missing code on the chain between the two sides. */
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
				missing_condition_append(t, &reason, s->from, s->to, text);
		}
	path_release(&path);
	if (!named)
		g_string_append(text, "calls into code that is not instrumented do not "
		                      "synchronise the two");
	return g_string_free(text, FALSE);
}

bool missing_code_was_called(const struct trace *t)
{
	return trace_note(t, "recording-missing") != NULL;
}

bool report_lacks_calls(const struct report *r)
{
	return strcmp(r->analysis, "deadlocks") != 0 && missing_code_was_called(r->trace);
}

/* Findings that happened need no schedule, impossible ones have none. */
static bool may_be_ordered(const struct finding *f)
{
	bool of_schedules = f->kind == FINDING_DATA_RACE || f->kind == FINDING_DEADLOCK ||
	                    f->kind == FINDING_COMMUTATIVITY_RACE ||
	                    f->kind == FINDING_ORDER_VIOLATION ||
	                    f->kind == FINDING_USE_AFTER_FREE;

	return of_schedules && f->verdict != VERDICT_IMPOSSIBLE &&
	       f->verdict != VERDICT_HAPPENED;
}

/* Mark findings not in `left`; returns their number. */
static unsigned mark(struct trace *t, GHashTable *left, bool events, struct report *report,
                     const struct progress *progress)
{
	struct trace *view = trace_view_missing(t, progress);
	struct order *order = view ? order_new(view, ORDER_KIND_HB, progress) : NULL;
	struct missing_calls *calls = order ? missing_calls_new(t) : NULL;
	unsigned marked = 0;

	for (guint i = 0; calls != NULL && i < report->findings->len; i++) {
		struct finding *f = report->findings->pdata[i];
		g_autofree char *key = may_be_ordered(f) ? key_of(t, f, events) : NULL;

		if (key != NULL && !g_hash_table_contains(left, key)) {
			g_free(f->missing);
			f->missing = calls_between(t, order, calls, f);
			if (f->verdict == VERDICT_RACE)
				f->verdict = VERDICT_CANDIDATE;
			marked++;
		}
	}
	missing_calls_free(calls);
	order_free(order);
	trace_view_free(view);
	return marked;
}

bool findings_mark_missing(struct trace *t, bool pairs_events, missing_again *again,
                           void *context, const char *gone, struct report *report,
                           const struct progress *progress, struct error *error)
{
	bool any = false;

	for (guint i = 0; i < report->findings->len; i++)
		any |= may_be_ordered(report->findings->pdata[i]);
	if (!any || !missing_code_was_called(t))
		return true;
	struct report *with = again(t, context, progress, error);
	if (with == NULL)
		return false;
	GHashTable *left = findings_left(t, with, pairs_events);
	unsigned marked = mark(t, left, pairs_events, report, progress);
	g_hash_table_destroy(left);
	report_free(with);
	if (marked > 0)
		report_note(report,
		            "%u of these are candidates: with what calls into code that is not "
		            "instrumented may have synchronised %s",
		            marked, gone);
	return true;
}

static struct report *races_again(struct trace *t, void *options,
                                  const struct progress *progress, struct error *error)
{
	return races_find(t, options, progress, error);
}

static struct report *deadlocks_again(struct trace *t, void *options,
                                      const struct progress *progress, struct error *error)
{
	return deadlocks_find(t, options, progress, error);
}

static bool mark_missing(struct trace *t, const struct race_options *options,
                         missing_again *again, const char *gone, struct report *report,
                         const struct progress *progress, struct error *error)
{
	struct race_options with = *options;

	with.use_missing = true;
	with.all_verdicts = with.list_unknown = false;
	with.found = NULL;
	return options->use_missing ||
	       findings_mark_missing(t, options->pairs_events, again, &with, gone, report,
	                             progress, error);
}

/* Pairs of sites that have a race, and what the caller wants of them. */
struct racing_sites {
	GHashTable *pairs; /* set: low << 32 | high */
	const struct race_options *options;
};

static gpointer sites_key(uint32_t low, uint32_t high)
{
	return (gpointer)((uintptr_t)low << 32 | high);
}

static bool sites_race(const void *context, uint32_t low, uint32_t high)
{
	const struct racing_sites *s = context;

	return g_hash_table_contains(s->pairs, sites_key(low, high)) &&
	       (s->options->wanted == NULL ||
	        s->options->wanted(s->options->wanted_context, low, high));
}

static GHashTable *sites_of(const struct trace *t, const struct report *report)
{
	GHashTable *pairs = g_hash_table_new(hash_pointer, NULL);

	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		uint32_t a = t->locations[t->events[f->first].location].site,
		         b = t->locations[t->events[f->second].location].site;

		g_hash_table_add(pairs, sites_key(MIN(a, b), MAX(a, b)));
	}
	return pairs;
}

/* The races that were found are looked for again, and no others. */
bool races_mark_missing(struct trace *t, const struct race_options *options,
                        struct report *report, const struct progress *progress,
                        struct error *error)
{
	struct race_options found = *options;

	if (options->analysis == ANALYSIS_RDIT || options->rules != NULL)
		return true;
	g_autoptr(GHashTable) pairs = sites_of(t, report);
	struct racing_sites s = { pairs, options };
	found.wanted = sites_race;
	found.wanted_context = &s;
	return mark_missing(t, &found, races_again,
	                    "(--missing) no witness of the race is found", report, progress,
	                    error);
}

bool deadlocks_mark_missing(struct trace *t, const struct race_options *options,
                            struct report *report, const struct progress *progress,
                            struct error *error)
{
	return mark_missing(t, options, deadlocks_again,
	                    "(--missing) no witness of the deadlock is found", report, progress,
	                    error);
}

void missing_code_note(const struct trace *t, struct report *report)
{
	if (report->findings->len > 0 && missing_code_was_called(t))
		report_note(report,
		            "calls went into code that is not instrumented: what they may "
		            "have synchronised is not taken into account");
}
