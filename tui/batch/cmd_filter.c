/*
 * cmd_filter.c - `heddle filter`: removes redundant accesses (TREE).
 */
#include "engine/partial/tree.h"
#include "engine/predict/predict.h"
#include "tui/batch/trace_out.h"

#include <glib/gstdio.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct command_option options[] = {
	{ "output", "FILE", "the trace to write; - is standard output", 'o' },
	{ "to", "std|text|binary", "the format to write (default: by FILE's suffix, else text)",
	  0 },
	{ "for", "hb|wcp",
	  "lose no pair of source lines that these analyses find (default: the paper's rule, exact for the "
	  "lockset)",
	  0 },
	{ "check", NULL,
	  "run the analyses that a filtered trace is meant for on both traces, and count the pairs of locations that each loses (as costly as listing all pairs of events)",
	  0 },
	OPTION_LENIENT,
	OPTION_FORMAT,
	{ 0 },
};

/* Analyses that a filtered trace supports: those that do not depend on reads-from. */
static const enum analysis checked[] = { ANALYSIS_LOCKSET, ANALYSIS_HB, ANALYSIS_CP,
	                                 ANALYSIS_WCP,     ANALYSIS_DC, ANALYSIS_WDC };

struct outcome {
	const char *rule;
	uint64_t events, dropped, left_out;
	bool checked;
	/* Pairs of locations, by `checked`. */
	struct {
		guint before, lost, made_up;
	} pairs[G_N_ELEMENTS(checked)];
};

/* -- comparison of the analyses ------------------------------------------------------------ */

/* "LOCATION LOCATION" of each reported pair, by events, which is exact; NULL with `error`. */
static GHashTable *pairs_of(struct trace *t, enum analysis analysis, struct error *error)
{
	struct race_options race;
	race_options_init(&race);
	race.analysis = analysis;
	race.pairs_events = true;
	struct report *r = races_find(t, &race, progress_on_stderr(), error);
	progress_done();
	if (r == NULL)
		return NULL;
	GHashTable *pairs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		const char *a = trace_site_name(t, f->first),
		           *b = trace_site_name(t, f->second);
		bool swap = strcmp(a, b) > 0;
		g_hash_table_add(pairs, g_strdup_printf("%s %s", swap ? b : a, swap ? a : b));
	}
	report_free(r);
	return pairs;
}

static guint not_in(GHashTable *some, GHashTable *others)
{
	GHashTableIter iter;
	gpointer key;
	guint count = 0;
	g_hash_table_iter_init(&iter, some);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		count += !g_hash_table_contains(others, key);
	return count;
}

static bool check_pairs(struct trace *whole, struct trace *less, struct outcome *o,
                        struct error *error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(checked); i++) {
		g_autoptr(GHashTable) before = pairs_of(whole, checked[i], error);
		GHashTable *after = before ? pairs_of(less, checked[i], error) : NULL;
		if (after) {
			o->pairs[i].before = g_hash_table_size(before);
			o->pairs[i].lost = not_in(before, after);
			o->pairs[i].made_up = not_in(after, before);
			g_hash_table_destroy(after);
		}
		if (after == NULL)
			return false;
	}
	o->checked = true;
	return true;
}

/* Read the filtered trace back from a temporary file. */
static bool check(struct trace *t, const uint64_t *keep, struct outcome *o, struct error *error)
{
	char *path = NULL;
	GError *why = NULL;
	int fd = g_file_open_tmp("heddle-filter-XXXXXX", &path, &why);
	if (fd < 0) {
		error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		          "cannot make a file: %s", why->message);
		g_error_free(why);
		return false;
	}
	g_close(fd, NULL);
	struct trace *less = NULL;
	struct trace_options lenient = { .lenient = true };
	bool good = trace_write(t, path, TRACE_BINARY, keep, NULL, error) &&
	            (less = trace_open(path, &lenient, NULL, error)) != NULL &&
	            check_pairs(t, less, o, error);
	if (less)
		trace_close(less);
	g_unlink(path);
	g_free(path);
	return good;
}

/* -- printing ------------------------------------------------------------------------------ */

static void print_outcome(const struct trace *t, const struct outcome *o, bool json)
{
	if (!json) {
		fprintf(stderr,
		        "heddle: %s: dropped %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
		        " events as redundant (%s)\n",
		        trace_name(t), o->dropped, o->events, o->rule);
		if (o->left_out)
			fprintf(stderr,
			        "heddle: %s: left out %" G_GUINT64_FORMAT
			        " more that STD cannot say\n",
			        trace_name(t), o->left_out);
		for (size_t i = 0; o->checked && i < G_N_ELEMENTS(checked); i++)
			fprintf(stderr, "  %-8s %u pair%s of locations, %u lost, %u made up\n",
			        analysis_word(checked[i]), o->pairs[i].before,
			        plural(o->pairs[i].before), o->pairs[i].lost,
			        o->pairs[i].made_up);
		return;
	}
	json_auto_t *j = json_pack("{ss ss ss sI sI sI sI}", "heddle", HEDDLE_VERSION, "trace",
	                           trace_name(t), "rule", o->rule, "events",
	                           (json_int_t)o->events, "dropped", (json_int_t)o->dropped,
	                           "kept", (json_int_t)(o->events - o->dropped), "left_out",
	                           (json_int_t)o->left_out);
	json_auto_t *pairs = json_object();
	for (size_t i = 0; o->checked && i < G_N_ELEMENTS(checked); i++)
		json_object_set_new(pairs, analysis_word(checked[i]),
		                    json_pack("{si si si}", "pairs", (int)o->pairs[i].before,
		                              "lost", (int)o->pairs[i].lost, "made_up",
		                              (int)o->pairs[i].made_up));
	if (o->checked)
		json_object_set(j, "check", pairs);
	json_dumpf(j, stdout, JSON_INDENT(1));
	putchar('\n');
}

static int run(struct arguments *a)
{
	argument_words(a, 1, 1);
	static const char *const analyses[] = { "hb", "wcp", NULL };
	const char *out = argument_value(a, "output");
	if (out == NULL)
		return usage_error(a, "name the trace to write: -o OUT");
	enum trace_format format = trace_out_format(a, out);
	int sound = argument_choice(a, "for", analyses, -1);
	bool json = argument_format(a, false) == FORMAT_JSON;
	if (json && strcmp(out, "-") == 0)
		return usage_error(a, "standard output cannot hold the trace and JSON");
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	struct outcome o = { .rule = sound >= 0 ? analyses[sound] : "lockset",
		             .events = t->events_count };
	struct error error;
	g_autofree uint64_t *keep = tree_filter(t, sound >= 0 ? TREE_SOUND : TREE_PAPER,
	                                        &o.dropped, progress_on_stderr());
	progress_done();
	/* a trace that loses nothing is not marked as a filtered one */
	bool good = keep ? trace_out_write(t, out, format, o.dropped ? keep : NULL, &o.left_out,
	                                   &error)
	                 : error_cancelled(&error);
	if (good && argument_flag(a, "check"))
		good = check(t, keep, &o, &error);
	if (good)
		print_outcome(t, &o, json);
	trace_close(t);
	return good ? EXIT_NOTHING : fail(&error);
}

const struct command command_filter = {
	.name = "filter",
	.usage = "TRACE -o OUT [--to std|text|binary] [--for hb|wcp] [--check]",
	.summary = "leave out redundant accesses (TREE), with a count",
	.details =
	        "An access is dropped when accesses that stay have its location, variable, kind,\n"
	        "locks and messages.  Synchronisation is never dropped.  Analyses that need the\n"
	        "write that each read sees (shb, syncp, m2, smt, auto) refuse the result unless\n"
	        "--lenient is given.",
	.options = options,
	.run = run,
};
