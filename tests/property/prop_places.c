/*
 * prop_places.c - races by places in the user's own files: of a random trace whose accesses are
 * partly in a library's code that the user's functions call, an analysis has by pairs of places
 * exactly those between whose events it has a race, each once (one that streams, no others),
 * and `auto` finds the same with the trace's projection.
 */
#include "engine/trace/own_code.h"
#include "engine/trace/own_site.h"
#include "tests/property/mix.h"
#include "engine/predict/predict.h"

#include <stdio.h>
#include <string.h>

static uint64_t races, split, joined, exact;

/* The trace with each second access inside of a line of a library's, which a line of the user's
 * calls; some of these lines are inside of another. */
static char *in_library(const char *text, uint64_t seed)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GString *out = g_string_new(NULL);
	g_autoptr(GRand) random = g_rand_new_with_seed((guint32)seed);

	for (char **line = lines; *line; line++) {
		g_auto(GStrv) parts = g_strsplit(*line, "|", 3);
		bool access = g_strv_length(parts) == 3 && (g_str_has_prefix(parts[1], "r(") ||
		                                            g_str_has_prefix(parts[1], "w("));
		int user = g_rand_int_range(random, 1, 5),
		    library = g_rand_int_range(random, 1, 4);
		bool deep = g_rand_int_range(random, 0, 3) == 0;

		if (!access || g_rand_int_range(random, 0, 2) == 0) {
			if (**line)
				g_string_append_printf(out, "%s\n", *line);
			continue;
		}
		g_string_append_printf(out, "%s|enter(std::f)|/src/user.cc:%d\n", parts[0],
		                       user);
		if (deep)
			g_string_append_printf(out, "%s|enter(std::g)|/usr/include/f.h:9\n",
			                       parts[0]);
		g_string_append_printf(out, "%s|%s|/usr/include/f.h:%d\n", parts[0], parts[1],
		                       library);
		if (deep)
			g_string_append_printf(out, "%s|leave(std::g)|/usr/include/f.h:9\n",
			                       parts[0]);
		g_string_append_printf(out, "%s|leave(std::f)|/src/user.cc:%d\n", parts[0],
		                       user);
	}
	return g_string_free(out, FALSE);
}

static gpointer places_of(const struct trace *t, const struct finding *f)
{
	uint64_t a = own_site(t, f->first), b = own_site(t, f->second);

	return (gpointer)(uintptr_t)(MIN(a, b) << 32 | MAX(a, b));
}

static gpointer lines_of(const struct trace *t, const struct finding *f)
{
	uint64_t a = t->locations[t->events[f->first].location].site,
	         b = t->locations[t->events[f->second].location].site;

	return (gpointer)(uintptr_t)(MIN(a, b) << 32 | MAX(a, b));
}

/* Are the exact pairs of sites those of events between the finding's places? */
static bool exact_is_right(const struct trace *t, const struct finding *f)
{
	for (guint i = 0; f->exact && i < f->exact->len; i++) {
		const struct exact_pair *x = finding_exact(f, i);
		const struct finding pair = { .first = x->events[0], .second = x->events[1] };
		uint64_t low = MIN(x->sites[0], x->sites[1]),
		         high = MAX(x->sites[0], x->sites[1]);

		if (places_of(t, &pair) != places_of(t, f) ||
		    lines_of(t, &pair) != (gpointer)(uintptr_t)(low << 32 | high))
			return false;
		exact++;
	}
	return true;
}

/* The pairs that count as found; NULL when one comes wrong, or has other exact sites. */
static GHashTable *pairs_of(struct trace *t, enum analysis analysis, bool events, bool projects,
                            GHashTable *lines)
{
	GHashTable *pairs = g_hash_table_new(NULL, NULL);
	struct race_options o;
	struct error error;
	bool wrong = false;

	race_options_init(&o);
	o.analysis = analysis;
	o.pairs_events = events;
	o.projects_always = projects;
	o.budget_pair = o.budget_total = MIX_SECONDS;
	struct report *r = races_find(t, &o, NULL, &error);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		if (f->verdict != VERDICT_RACE && f->verdict != VERDICT_CANDIDATE)
			continue;
		wrong |= !g_hash_table_add(pairs, places_of(t, f)) && !events;
		wrong |= !exact_is_right(t, f);
		if (lines != NULL)
			g_hash_table_add(lines, lines_of(t, f));
	}
	report_free(r);
	if (wrong)
		g_clear_pointer(&pairs, g_hash_table_unref);
	return pairs;
}

/* Are the pairs those of `all`; with `some`, among them? */
static bool are_pairs(GHashTable *pairs, GHashTable *all, bool some)
{
	GHashTableIter iter;
	gpointer key;

	if (pairs == NULL || (!some && g_hash_table_size(pairs) != g_hash_table_size(all)))
		return false;
	g_hash_table_iter_init(&iter, pairs);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (!g_hash_table_contains(all, key))
			return false;
	return true;
}

static bool one_analysis(struct trace *t, enum analysis analysis)
{
	g_autoptr(GHashTable) lines = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) all = pairs_of(t, analysis, true, false, lines);
	GHashTable *places = pairs_of(t, analysis, false, false, NULL);
	GHashTable *projected =
	        analysis == ANALYSIS_AUTO ? pairs_of(t, analysis, false, true, NULL) : NULL;
	bool streams = analysis == ANALYSIS_HB || analysis == ANALYSIS_SYNCP;
	bool good = are_pairs(places, all, streams) &&
	            (analysis != ANALYSIS_AUTO || are_pairs(projected, all, false));

	if (!good) {
		g_autofree char *text = trace_text(t);
		printf("%s%s: %u pairs of places between events, %d reported, %d of the "
		       "projection\n",
		       text, analysis_word(analysis), g_hash_table_size(all),
		       places ? (int)g_hash_table_size(places) : -1,
		       projected ? (int)g_hash_table_size(projected) : -1);
	}
	races += g_hash_table_size(all);
	split += g_hash_table_size(all) > g_hash_table_size(lines);
	joined += g_hash_table_size(all) < g_hash_table_size(lines);
	g_clear_pointer(&places, g_hash_table_unref);
	g_clear_pointer(&projected, g_hash_table_unref);
	return good;
}

static bool one(uint64_t seed)
{
	static const enum analysis analyses[] = { ANALYSIS_AUTO, ANALYSIS_M2, ANALYSIS_SYNCP,
		                                  ANALYSIS_LOCKSET, ANALYSIS_HB };
	struct random_options o = mix_options(seed, 2 + seed % 3, 12 + seed % 40);
	struct error error;
	g_autofree char *plain = random_text(seed, &o), *text = in_library(plain, seed);
	struct trace *t = trace_from_text("library", text, strlen(text), NULL, &error);
	bool good = t != NULL;

	if (t == NULL) {
		printf("%s%s: %s\n", text, error.where, error.what);
		return false;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(analyses) && good; i++)
		good = one_analysis(t, analyses[i]);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "races by places", 600, one);

	printf("%" G_GUINT64_FORMAT " pairs of places; more than lines in %" G_GUINT64_FORMAT
	       " reports, fewer in %" G_GUINT64_FORMAT "\n",
	       races, split, joined);
	if (mix_default() && (races == 0 || split == 0 || joined == 0 || exact == 0))
		status = 1;
	return status;
}
