/*
 * missing_marks.c - marks findings that calls into uninstrumented code may order. A finding
 * whose witness is one with the calls as barrier pairs, too, stands. For the others the
 * analysis runs again with these, and a finding that is gone then becomes a candidate that
 * names the calls.
 */

#include "engine/base/compare.h"
#include "engine/base/hash.h"
#include "engine/order/order.h"
#include "engine/partial/calls.h"
#include "engine/partial/rdit.h"
#include "engine/predict/deadlock/deadlock.h"
#include "engine/predict/predict.h"
#include "engine/trace/formats.h"
#include "engine/trace/binary/reel.h"
#include "engine/witness/witness.h"
#include "engine/trace/own_site.h"

#include <string.h>

/* The sites (or events) of a finding, independent of their order. */
static char *key_of(const struct trace *t, const struct finding *f, bool events)
{
	g_autoptr(GArray) claimed = finding_claimed(f);
	GString *key = g_string_new(finding_kind_word(f->kind));

	for (guint i = 0; i < claimed->len; i++) {
		uint32_t *e = &g_array_index(claimed, uint32_t, i);

		*e = events ? *e : own_site(t, *e);
	}
	g_array_sort(claimed, compare_u32);
	for (guint i = 0; i < claimed->len; i++)
		g_string_append_printf(key, " %u", g_array_index(claimed, uint32_t, i));
	return g_string_free(key, FALSE);
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

bool accesses_are_missing(const struct trace *t)
{
	return missing_code_was_called(t) || trace_note(t, TRACE_UNSEEN_CALLS_NOTE) != NULL;
}

bool report_lacks_calls(const struct report *r)
{
	return strcmp(r->analysis, "deadlocks") != 0 && accesses_are_missing(r->trace);
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

/* -- marking ------------------------------------------------------------------------------- */

struct marking {
	struct trace *t;
	struct report *report;
	bool events;             /* findings are by events, not by sites */
	GHashTable *left;        /* keys of findings that remain possible */
	struct race_again again; /* for the repeated analysis; its view and checker are owned */
	struct trace *beginning; /* of the checker */
};

static void marking_init(struct marking *m, struct trace *t, struct report *report, bool events)
{
	*m = (struct marking){ .t = t, .report = report, .events = events };
	m->left = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void marking_release(struct marking *m)
{
	g_hash_table_destroy(m->left);
	trace_view_free(m->again.view);
	checker_free(m->again.checker);
	trace_close(m->beginning);
}

static bool is_in_question(const struct marking *m, const struct finding *f)
{
	g_autofree char *key = may_be_ordered(f) ? key_of(m->t, f, m->events) : NULL;

	return key != NULL && !g_hash_table_contains(m->left, key);
}

static bool any_in_question(const struct marking *m)
{
	for (guint i = 0; i < m->report->findings->len; i++) {
		if (is_in_question(m, m->report->findings->pdata[i]))
			return true;
	}
	return false;
}

/* A finding whose witness is to be checked. */
struct shown {
	uint32_t recorded; /* number of recorded events it begins with */
	const struct finding *finding;
};

static gint by_recorded(gconstpointer a, gconstpointer b)
{
	const struct shown *x = a, *y = b;

	return x->recorded < y->recorded ? -1 : x->recorded > y->recorded;
}

/* The findings with a witness, in the order in which a checker goes along the recording once;
 * *last: their last event. */
static GArray *findings_shown(const struct marking *m, uint32_t *last)
{
	GArray *shown = g_array_new(FALSE, FALSE, sizeof(struct shown));

	*last = 0;
	for (guint i = 0; i < m->report->findings->len; i++) {
		const struct finding *f = m->report->findings->pdata[i];

		if (!may_be_ordered(f) || f->witness == NULL)
			continue;
		struct shown one = { finding_recorded(f), f };
		g_array_append_val(shown, one);
		for (guint k = 0; k < f->witness->len; k++)
			*last = MAX(*last, g_array_index(f->witness, uint32_t, k));
	}
	g_array_sort(shown, by_recorded);
	return shown;
}

/* A finding with a witness that the barrier pairs allow, too, is left: the repeated analysis
 * need not look for another one. */
static void keep_standing(struct marking *m, bool values)
{
	const struct check_options check = { .use_values = values, .use_missing = true };
	uint32_t last;
	g_autoptr(GArray) shown = findings_shown(m, &last);

	if (shown->len == 0)
		return;
	trace_keep_events_shortly(m->t);
	m->again.checked = (uint64_t)last + 1;
	m->beginning = trace_beginning(m->t, m->again.checked);
	m->again.checker = checker_new(m->beginning, &check);
	for (guint i = 0; i < shown->len; i++) {
		const struct finding *f = g_array_index(shown, struct shown, i).finding;

		if (finding_accepted(m->again.checker, f))
			g_hash_table_add(m->left, key_of(m->t, f, m->events));
	}
}

/* The findings of the repeated analysis remain possible. */
static void add_left(struct marking *m, const struct report *with)
{
	for (guint i = 0; i < with->findings->len; i++) {
		const struct finding *f = with->findings->pdata[i];

		if (f->verdict != VERDICT_IMPOSSIBLE)
			g_hash_table_add(m->left, key_of(m->t, f, m->events));
	}
}

/* Marks the findings that are not left; returns their number. */
static unsigned mark(struct marking *m, const struct progress *progress)
{
	struct order *order = trace_need(m->t, INDEX_THREADS | INDEX_MATCH, progress)
	                              ? order_new(m->again.view, ORDER_KIND_HB, progress)
	                              : NULL;
	struct missing_calls *calls = order ? missing_calls_new(m->t) : NULL;
	unsigned marked = 0;

	for (guint i = 0; calls != NULL && i < m->report->findings->len; i++) {
		struct finding *f = m->report->findings->pdata[i];

		if (!is_in_question(m, f))
			continue;
		g_free(f->missing);
		f->missing = calls_between(m->t, order, calls, f);
		if (f->verdict == VERDICT_RACE)
			f->verdict = VERDICT_CANDIDATE;
		marked++;
	}
	missing_calls_free(calls);
	order_free(order);
	return marked;
}

/* Has the trace's view, where something is in question; false when cancelled. */
static bool have_view(struct marking *m, const struct progress *progress)
{
	if (m->again.view == NULL && any_in_question(m))
		m->again.view = trace_view_missing(m->t, INDEX_MUST, progress);
	return m->again.view != NULL || !any_in_question(m);
}

static bool mark_others(struct marking *m, missing_again *again, void *context,
                        const char *gone, const struct progress *progress, struct error *error)
{
	if (!have_view(m, progress))
		return error_cancelled(error);
	if (m->again.view == NULL)
		return true;
	struct report *with = again(m->t, context, progress, error);
	if (with == NULL)
		return false;
	add_left(m, with);
	report_free(with);
	unsigned marked = any_in_question(m) ? mark(m, progress) : 0;
	if (marked > 0)
		report_note(m->report,
		            "%u of these are candidates: with what calls into code that is not "
		            "instrumented may have synchronised %s",
		            marked, gone);
	return true;
}

bool findings_mark_missing(struct trace *t, bool pairs_events, missing_again *again,
                           void *context, const char *gone, struct report *report,
                           const struct progress *progress, struct error *error)
{
	struct marking m;
	bool good;

	if (!missing_code_was_called(t))
		return true;
	marking_init(&m, t, report, pairs_events);
	good = mark_others(&m, again, context, gone, progress, error);
	marking_release(&m);
	return good;
}

/* -- data races and deadlocks ----------------------------------------------------------------- */

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

static struct race_options repeated(const struct race_options *options, const struct marking *m)
{
	struct race_options with = *options;

	with.use_missing = true;
	with.all_verdicts = with.list_unknown = false;
	with.found = NULL;
	with.again = &m->again;
	return with;
}

/* Pairs of sites that are in question, and what the caller wants of them. */
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

/* The pairs of sites of the findings in question; `sites`: bit set of all of them. */
static GHashTable *sites_of(const struct marking *m, uint64_t *sites)
{
	GHashTable *pairs = g_hash_table_new(hash_pointer, NULL);
	const struct trace *t = m->t;

	for (guint i = 0; i < m->report->findings->len; i++) {
		const struct finding *f = m->report->findings->pdata[i];
		uint32_t a = own_site(t, f->first), b = own_site(t, f->second);

		if (!is_in_question(m, f))
			continue;
		g_hash_table_add(pairs, sites_key(MIN(a, b), MAX(a, b)));
		sites[a / 64] |= (uint64_t)1 << (a % 64);
		sites[b / 64] |= (uint64_t)1 << (b % 64);
	}
	return pairs;
}

static bool mark_races(struct marking *m, const struct race_options *options,
                       const struct progress *progress, struct error *error)
{
	struct race_options found = repeated(options, m);

	keep_standing(m, options->use_values);
	if (!have_view(m, progress))
		return error_cancelled(error);
	g_autofree uint64_t *sites = g_new0(uint64_t, m->t->sites_count / 64 + 1);
	g_autoptr(GHashTable) pairs = sites_of(m, sites);
	struct racing_sites s = { pairs, options };
	m->again.sites = sites;
	found.wanted = sites_race;
	found.wanted_context = &s;
	return mark_others(m, races_again, &found,
	                   "(--missing) no witness of the race is found", progress, error);
}

bool races_mark_missing(struct trace *t, const struct race_options *options,
                        struct report *report, const struct progress *progress,
                        struct error *error)
{
	struct marking m;
	bool good;

	if (options->analysis == ANALYSIS_RDIT || options->rules != NULL ||
	    options->use_missing || !missing_code_was_called(t))
		return true;
	marking_init(&m, t, report, options->pairs_events);
	good = mark_races(&m, options, progress, error);
	marking_release(&m);
	return good;
}

bool deadlocks_mark_missing(struct trace *t, const struct race_options *options,
                            struct report *report, const struct progress *progress,
                            struct error *error)
{
	struct marking m;
	bool good;

	if (options->use_missing || !missing_code_was_called(t))
		return true;
	marking_init(&m, t, report, options->pairs_events);
	struct race_options with = repeated(options, &m);
	keep_standing(&m, options->use_values);
	good = mark_others(&m, deadlocks_again, &with,
	                   "(--missing) no witness of the deadlock is found", progress, error);
	marking_release(&m);
	return good;
}

void missing_code_note(const struct trace *t, struct report *report)
{
	if (report->findings->len > 0 && missing_code_was_called(t))
		report_note(report,
		            "calls went into code that is not instrumented: what they may "
		            "have synchronised is not taken into account");
}
