/*
 * cmd_atomic.c - `heddle atomic`: atomic-set serializability violations.
 */
#include "engine/atomic/atomic.h"
#include "engine/predict/predict.h"
#include "engine/witness/witness.h"
#include "tui/batch/print/print.h"
#include "tui/batch/spec_rules.h"

#include "engine/commute/language/spec.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct command_option options[] = {
	{ "spec", "FILE", "a specification with atomic sets and units; may be repeated", 0 },
	{ "cycles", "N", "list at most N cycles, shortest first", 0 },
	{ "predict", NULL, "also cycles that did not happen and can, each with a witness", 0 },
	{ "output", "FILE", "write the witness of the first predicted cycle to FILE", 'o' },
	{ "budget", "PAIR,ALL",
	  "seconds for --predict, a pair and in all (default: 1,5); ALL bounds the search for "
	  "what happened, too (default: 60)",
	  0 },
	{ "sets", NULL, "print the sets and units that were inferred, as an atomics block", 0 },
	{ "post-mortem", NULL, "keep the whole conflict graph, and find its cycles afterwards",
	  0 },
	{ "split", "LIST",
	  "cut inferred units at these beside waits, of "
	  "join,fork,barrier,take,sleep,poll (default: all), or none",
	  0 },
	{ "heap", NULL, "infer one set of all shared memory: atomicity without atomic sets",
	  0 },
	{ "all", NULL, "also cycles of grade C: over inferred sets alone", 0 },
	OPTION_BASELINE,
	OPTION_SUPPRESSIONS,
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

/* Parse --split; NULL when absent. False: an unknown word, and no list. */
static bool read_splits(const char *text, GPtrArray **words)
{
	*words = NULL;
	if (text == NULL)
		return true;
	g_auto(GStrv) parts = g_strsplit(text, ",", 0);
	bool good = true;
	*words = g_ptr_array_new_with_free_func(g_free);
	for (char **p = parts; *p; p++) {
		good &= g_strv_contains(spec_split_words, *p);
		if (strcmp(*p, "none") != 0)
			g_ptr_array_add(*words, g_strdup(*p));
	}
	if (!good)
		g_clear_pointer(words, g_ptr_array_unref);
	return good;
}

static int print_sets(const struct trace *t, const struct atomic_model *m,
                      enum output_format format)
{
	const char *block =
	        m->inferred ? m->inferred : "# the trace and the specifications declare them\n";
	if (format == FORMAT_TEXT) {
		fputs(block, stdout);
		return EXIT_NOTHING;
	}
	json_t *text = json_string(block); /* with newlines, unless it is invalid UTF-8 */
	json_auto_t *j = json_pack("{ssssso}", "heddle", HEDDLE_VERSION, "trace", trace_name(t),
	                           "atomics", text ? text : json_text(block));
	json_dumpf(j, stdout, JSON_INDENT(1));
	putchar('\n');
	return EXIT_NOTHING;
}

static const struct finding *first_predicted(const struct report *r)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		if (f->witness != NULL)
			return f;
	}
	return NULL;
}

/* Writes no file when no cycle was predicted. */
static bool write_witness(const struct arguments *a, const struct report *r, const char *path,
                          struct error *error)
{
	const struct finding *f = first_predicted(r);
	if (f == NULL)
		return true;
	g_autoptr(GPtrArray) specs = argument_values(a, "spec");
	struct witness w = { .claim = CLAIM_ATOMIC };
	w.trace_name = g_strdup(trace_name(r->trace));
	w.trace_digest = trace_digest(r->trace);
	w.pair = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < f->units->len; i++)
		g_array_append_val(w.pair, g_array_index(f->units, struct cycle_unit, i).begin);
	w.events = g_array_ref(f->witness);
	w.under_specs = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < specs->len; i++)
		g_ptr_array_add(w.under_specs, spec_rules_header(specs->pdata[i]));
	bool good = witness_write(r->trace, &w, path, error);
	witness_release(&w);
	return good;
}

static int analyse(struct arguments *a, struct trace *t, const struct specs *specs,
                   const struct infer_options *infer, const struct atomic_options *o,
                   const struct print_options *print)
{
	struct atomic_model *m = atomic_model_for(t, specs, infer, progress_on_stderr());
	if (argument_flag(a, "sets")) {
		progress_done();
		int status = print_sets(t, m, print->format);
		atomic_model_free(m);
		return status;
	}
	struct report *r = atomic_find(t, m, o, progress_on_stderr());
	progress_done();
	struct error error;
	missing_code_note(t, r);
	const char *path = argument_output(a, false, FILE_WITNESS);
	int status = path && !write_witness(a, r, path, &error) ? fail(&error)
	                                                        : print_report(r, print);
	report_free(r);
	atomic_model_free(m);
	return status;
}

static int run(struct arguments *a)
{
	argument_words(a, 1, 1);
	argument_format(a, true);
	argument_output(a, false, FILE_WITNESS); /* refused before the search */
	struct atomic_options o = { .limit = argument_number(a, "cycles", 0),
		                    .all = argument_flag(a, "all"),
		                    .post_mortem = argument_flag(a, "post-mortem"),
		                    .predict = argument_flag(a, "predict"),
		                    .budget_pair = 1,
		                    .budget_total = 5,
		                    .budget_happened = 60 };
	if (argument_flag(a, "budget")) {
		argument_budget(a, &o.budget_pair, &o.budget_total);
		o.budget_happened =
		        o.budget_total > 0 ? o.budget_total : -1; /* 0 would be any */
	}
	GPtrArray *splits;
	if (!read_splits(argument_value(a, "split"), &splits))
		return usage_error(a,
		                   "--split wants a list of join, fork, barrier, take, sleep "
		                   "and poll, or none");
	struct infer_options infer = { .splits = splits,
		                       .seconds = o.budget_happened,
		                       .heap = argument_flag(a, "heap") };
	struct error error = { 0 };
	g_autoptr(GPtrArray) paths = argument_values(a, "spec");
	struct specs *specs = specs_open(paths, &error);
	if (specs == NULL) {
		g_clear_pointer(&splits, g_ptr_array_unref);
		return fail(&error);
	}
	struct print_options print;
	struct trace *t =
	        print_options_parse(a, &print) ? open_trace(a, a->words->pdata[0]) : NULL;
	int status = EXIT_BAD;
	print.trace = t;
	print.predicted = o.predict;
	if (t != NULL) {
		status = analyse(a, t, specs, &infer, &o, &print);
		trace_close(t);
	}
	print_options_release(&print);
	specs_free(specs);
	g_clear_pointer(&splits, g_ptr_array_unref);
	return status;
}

const struct command command_atomic = {
	.name = "atomic",
	.usage = "TRACE [--spec FILE]... [--predict] [--all]",
	.summary = "code that should run as one step and did not (atomic sets)",
	.details =
	        "An atomic set is variables that belong together, as an array and its fill; a unit of\n"
	        "work is code that keeps them right when it runs alone.  Reported are units of several\n"
	        "threads whose accesses of one set came in no order of whole units (a cycle), also\n"
	        "where each access was under a lock.  Sets and units come from a specification\n"
	        "(--spec) or the trace; without either they are inferred.",
	.options = options,
	.run = run,
};
