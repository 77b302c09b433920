/*
 * prop_wide.c - vector clocks as trees (engine/order/wide_clocks.h), as traces of many
 * threads have them, change no result: each analysis of a random trace has the same findings
 * with both forms, finding by finding, by sites and by events, with the same witnesses; and
 * so do the orders of all pairs of events.
 */
#include "engine/commute/edc.h"
#include "engine/order/clocks.h"
#include "engine/order/order.h"
#include "engine/predict/deadlock/deadlock.h"
#include "engine/trace/formats.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <string.h>

enum { NARROW = 1 << 20 };
static uint64_t findings;

static void append_events(GString *out, const char *word, const GArray *events)
{
	g_string_append(out, word);
	for (guint i = 0; events != NULL && i < events->len; i++)
		g_string_append_printf(out, " %u", g_array_index(events, uint32_t, i));
}

/* Its sites. By sites SyncP names whichever pair of them its state still sees, which depends on
 * how clocks are kept. */
static char *by_sites(const struct trace *t, const struct finding *f)
{
	const char *a = trace_site_name(t, f->first), *b = trace_site_name(t, f->second);
	bool swap = strcmp(a, b) > 0;

	return g_strdup_printf("%s %s verdict %d\n", swap ? b : a, swap ? a : b,
	                       (int)f->verdict);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All that an analysis says. */
static char *says(struct trace *t, enum analysis analysis, bool deadlocks, bool events)
{
	struct error error = { .what = "" };
	struct race_options o;

	race_options_init(&o);
	o.analysis = analysis;
	o.all_verdicts = events;
	o.pairs_events = events;
	o.budget_pair = o.budget_total = MIX_SECONDS;
	o.locks_alone = true; /* the search over states has no clocks */
	struct report *r = deadlocks ? deadlocks_find(t, &o, NULL, &error)
	                             : races_find(t, &o, NULL, &error);
	GString *out = g_string_new(NULL);
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; r != NULL && i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		findings++;
		if (analysis == ANALYSIS_SYNCP && !events) {
			g_ptr_array_add(lines, by_sites(t, f));
			continue;
		}
		g_string_append_printf(out, "%u %u verdict %d count %" G_GUINT64_FORMAT,
		                       f->first, f->second, (int)f->verdict, f->count);
		append_events(out, " variables", f->variables);
		append_events(out, " witness", f->witness);
		g_string_append(out, "\n");
	}
	g_ptr_array_sort(lines, by_text);
	for (guint i = 0; i < lines->len; i++)
		g_string_append(out, lines->pdata[i]);
	g_ptr_array_free(lines, TRUE);
	g_string_append(out, r == NULL ? "(none)" : r->complete ? "complete" : "not complete");
	report_free(r);
	return g_string_free(out, FALSE);
}

/* EDC is taken without specifications, so invocations have none of their rules. */
static struct order *order_by(struct trace *t, enum order_kind kind)
{
	struct error error;

	if (kind != ORDER_KIND_EDC)
		return order_new(t, kind, NULL);
	struct specs *none = specs_new();
	struct model *m = model_new(t, none, NULL, &error);
	BUG_ON(m == NULL);
	struct order *order = edc_order_new(m, NULL, &error);
	model_free(m);
	specs_free(none);
	return order;
}

/* Which pairs of events an order has, and by which chains. */
static char *orders(struct trace *t, enum order_kind kind)
{
	struct order *order = order_by(t, kind);
	GString *out = g_string_new(NULL);

	for (uint32_t f = 0; f < t->events_count; f++) {
		for (uint32_t e = 0; e < f; e++) {
			struct path path = { 0 };
			bool ordered = order_path(order, e, f, &path);

			g_string_append_printf(out, "%d%d %u ", ordered,
			                       order_ordered_unobserved(order, e, f),
			                       order_last_before(order, e, f));
			for (guint i = 0; path.steps != NULL && i < path.steps->len; i++)
				g_string_append_printf(
				        out, "%u ",
				        g_array_index(path.steps, struct step, i).to);
			path_release(&path);
		}
	}
	order_free(order);
	return g_string_free(out, FALSE);
}

static bool agree(struct trace *t, char *narrow, char *wide, const char *who)
{
	bool good = strcmp(narrow, wide) == 0;

	if (!good) {
		char *text = trace_text(t);

		printf("%s%s\narrays\n%s\ntrees\n%s\n", text, who, narrow, wide);
		g_free(text);
	}
	g_free(narrow);
	g_free(wide);
	return good;
}

static char *with(uint32_t wide_from, struct trace *t, int what, bool events)
{
	clocks_wide = wide_from;
	return what < ANALYSIS_COUNT    ? says(t, what, false, events)
	       : what == ANALYSIS_COUNT ? says(t, ANALYSIS_AUTO, true, events)
	                                : orders(t, what - ANALYSIS_COUNT - 1);
}

/* The trace preceded by `idle` threads without events, so that trees are higher and the
 * threads lie in several of their parts. */
static struct trace *after_idle(struct trace *t, uint32_t idle)
{
	GString *text = g_string_new(NULL), *all = g_string_new(NULL);
	struct error e;

	trace_print(t, TRACE_TEXT, NULL, text, NULL);
	for (uint32_t u = 0; u < idle; u++)
		g_string_append_printf(all, "idle%u|begin()|0\n", u);
	const char *lines = text->str;
	while (*lines == '#') {
		const char *end = strchr(lines, '\n') + 1;

		g_string_prepend_len(all, lines, end - lines);
		lines = end;
	}
	g_string_append(all, lines);
	struct trace *after = trace_from_text("idle", all->str, all->len, NULL, &e);
	BUG_ON(after == NULL);
	g_string_free(text, TRUE);
	g_string_free(all, TRUE);
	trace_close(t);
	return after;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 3 + seed % 10, 20 + seed % 40);
	bool good = true;

	o.forks = seed % 2;
	struct trace *t = random_trace(seed, &o);
	if (seed % 4 == 1)
		t = after_idle(t, 12 + seed % 8);
	else if (seed % 40 == 3)
		t = after_idle(t, 250);
	for (int what = 0; what < ANALYSIS_COUNT + 1 + ORDER_KIND_COUNT && good; what++) {
		for (int events = 0; events <= (what < ANALYSIS_COUNT) && good; events++)
			good = agree(t, with(NARROW, t, what, events), with(2, t, what, events),
			             what < ANALYSIS_COUNT ? analysis_word(what) : "orders");
	}
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "clocks as trees", 300, one);

	printf("%" G_GUINT64_FORMAT " findings\n", findings);
	return status;
}
