/*
 * prop_tree.c - TREE on random traces: with `--for hb|wcp`, happens-before and WCP report
 * the same pairs of sites of the same variables before and after; the paper's rule keeps
 * all of the lockset's.  And something is dropped at all.
 */
#include "engine/partial/tree.h"
#include "engine/predict/predict.h"
#include "engine/trace/formats.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t dropped_in_all, races_in_all;

/* The random trace again with few locations, so that accesses repeat. */
static struct trace *with_few_locations(const struct trace *t, uint64_t seed)
{
	GString *text = g_string_new(NULL), *few = g_string_new(NULL);
	trace_print(t, TRACE_TEXT, NULL, text, NULL);
	char **lines = g_strsplit(text->str, "\n", -1);
	for (int i = 0; lines[i] && *lines[i]; i++) {
		char *bar = strrchr(lines[i], '|');
		if (*lines[i] == '#' || bar == NULL) {
			g_string_append_printf(few, "%s\n", lines[i]);
			continue;
		}
		seed = seed * UINT64_C(6364136223846793005) + 1;
		g_string_append_len(few, lines[i], bar - lines[i]);
		g_string_append_printf(few, "|%u\n", (unsigned)(seed >> 60) % 3);
	}
	g_strfreev(lines);
	struct error e;
	struct trace *again = trace_from_text("few", few->str, few->len, NULL, &e);
	if (again == NULL)
		printf("%s: %s\n%s", e.where, e.what, few->str);
	g_string_free(text, TRUE);
	g_string_free(few, TRUE);
	return again;
}

/* "site site variable" of every pair that the analysis reports. */
static GHashTable *pairs_of(struct trace *t, enum analysis analysis)
{
	struct race_options o;
	struct error e;
	race_options_init(&o);
	o.analysis = analysis;
	o.pairs_events = true;
	struct report *r = races_find(t, &o, NULL, &e);
	GHashTable *pairs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; r && i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		const char *x = trace_site_name(t, f->first),
		           *y = trace_site_name(t, f->second);
		GString *name = g_string_new(NULL);
		trace_append_variable(t, &t->events[f->first], name);
		bool swap = strcmp(x, y) > 0;
		g_hash_table_add(pairs, g_strdup_printf("%s %s %s", swap ? y : x, swap ? x : y,
		                                        name->str));
		g_string_free(name, TRUE);
	}
	if (r)
		report_free(r);
	return pairs;
}

static bool same_keys(GHashTable *a, GHashTable *b)
{
	GHashTableIter iter;
	gpointer key;
	if (g_hash_table_size(a) != g_hash_table_size(b))
		return false;
	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (!g_hash_table_contains(b, key))
			return false;
	return true;
}

static bool agrees(struct trace *t, enum tree_rule rule, enum analysis analysis)
{
	uint64_t dropped;
	struct error e;
	uint64_t *keep = tree_filter(t, rule, &dropped, NULL);
	GString *text = g_string_new(NULL);
	trace_print(t, TRACE_TEXT, keep, text, NULL);
	struct trace *less = trace_from_text("less", text->str, text->len, NULL, &e);
	bool good = less && less->events_count + dropped == t->events_count && less->filtered;
	if (good) {
		GHashTable *before = pairs_of(t, analysis), *after = pairs_of(less, analysis);
		good = same_keys(before, after);
		races_in_all += g_hash_table_size(before);
		g_hash_table_destroy(before);
		g_hash_table_destroy(after);
	}
	if (!good)
		printf("%s, filtered:\n%s", analysis_word(analysis), text->str);
	dropped_in_all += dropped;
	trace_close(less);
	g_string_free(text, TRUE);
	g_free(keep);
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options options = mix_options(seed, 2 + seed % 3, 24);
	/* Without sizes a variable is its name, before and after. */
	options.sizes = false;
	struct trace *random = random_trace(seed, &options);
	struct trace *t = with_few_locations(random, seed);
	bool good = t && agrees(t, TREE_SOUND, ANALYSIS_HB) &&
	            agrees(t, TREE_SOUND, ANALYSIS_WCP) &&
	            agrees(t, TREE_PAPER, ANALYSIS_LOCKSET);
	if (!good && t) {
		GString *text = g_string_new(NULL);
		trace_print(t, TRACE_TEXT, NULL, text, NULL);
		printf("of:\n%s", text->str);
		g_string_free(text, TRUE);
	}
	trace_close(t);
	trace_close(random);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "tree", 3000, one);
	printf("tree: %" G_GUINT64_FORMAT " accesses dropped, %" G_GUINT64_FORMAT
	       " pairs of sites kept\n",
	       dropped_in_all, races_in_all);
	if (status == 0 && (dropped_in_all == 0 || races_in_all == 0))
		return EXIT_FAILURE;
	return status;
}
