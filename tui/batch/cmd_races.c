/* cmd_races.c - `heddle races`: data races by any of the analyses. */
#include "engine/predict/misuse.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/weak_races.h"
#include "engine/trace/binary/reel.h"
#include "tui/batch/race_options.h"
#include "tui/batch/reports/report_print.h"
#include "tui/batch/reports/traces_merge.h"
#include "tui/batch/shares/shares.h"
#include "tui/batch/spec_rules.h"
#include "engine/trace/weak.h"

static const struct command_option options[] = {
	{ "analysis", "auto|lockset|hb|shb|cp|wcp|dc|wdc|syncp|m2|smt|rdit",
	  "which analysis looks for them (default: auto)", 0 },
	OPTION_PAIRS,
	{ "candidates", "all|ORDER", "look only at pairs that this order leaves unordered", 0 },
	{ "verdicts", "races|all", "list pairs that are impossible or unknown, too", 0 },
	{ "witness", NULL, "find a witness for candidates, too", 0 },
	OPTION_VALUES,
	OPTION_MISSING,
	{ "budget", "PAIR,ALL",
	  "seconds for a pair and in all, for each step of auto (default: 1,5)", 0 },
	{ "spec", "FILE",
	  "calls may change places where FILE says that they commute (auto, smt)", 0 },
	OPTION_SHARD("the pairs"),
	OPTION_JOBS,
	OPTION_KEPT,
	{ "witness-events", "N",
	  "keep witnesses of at most N events in all in the report (default: 32 million)", 0 },
	OPTION_BASELINE,
	OPTION_SUPPRESSIONS,
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

static struct report *find(const struct arguments *a, struct trace *t,
                           const struct race_options *race, struct error *error)
{
	if (!race_options_fit(a, t, race, error))
		return NULL;
	struct report *r = races_find(t, race, progress_on_stderr(), error);
	if (r != NULL && !races_mark_missing(t, race, r, progress_on_stderr(), error)) {
		report_free(r);
		r = NULL;
	}
	if (r != NULL && race->want_witness &&
	    !races_add_witnesses(t, race, r, progress_on_stderr(), error)) {
		report_free(r);
		r = NULL;
	}
	progress_done();
	if (r != NULL && race->analysis != ANALYSIS_LOCKSET)
		weak_races_settle(t, r);
	if (r != NULL && race->analysis == ANALYSIS_AUTO && race->shard == 0) {
		misuse_add(t, race->pairs_events, r);
		report_sort(r);
	}
	return r;
}

/* --spec into race->rules; *rules is owned by the caller. False and `error` when it fails or
 * does not fit other options. */
static bool take_specs(const struct arguments *a, struct trace *t, struct race_options *race,
                       struct spec_rules **rules, struct error *error)
{
	g_autoptr(GPtrArray) paths = argument_values(a, "spec");
	bool fits = (race->analysis == ANALYSIS_AUTO || race->analysis == ANALYSIS_SMT) &&
	            !race->use_values && !race->use_missing;

	*rules = NULL;
	if (paths->len > 0 && fits) {
		*rules = spec_rules_new(t, paths, error);
		race->rules = *rules != NULL ? spec_rules_races(*rules) : NULL;
	} else if (paths->len > 0) {
		error_set(error, "--spec", "leave the other out",
		          "goes with --analysis auto and smt, and neither with --values nor "
		          "with --missing");
	}
	fits = paths->len == 0 || *rules != NULL;
	return fits;
}

/* Parse the options into `race` and `print`. */
static bool parse(struct arguments *a, struct race_options *race, struct print_options *print)
{
	static const char *const pairs[] = { "sites", "events", NULL };
	static const char *const verdicts[] = { "races", "all", NULL };

	argument_words(a, 1, G_MAXUINT);
	if (!print_options_parse(a, print) || !race_options_parse(a, race))
		return false;
	race->pairs_events = argument_choice(a, "pairs", pairs, 0) == 1;
	race->all_verdicts = print->all_verdicts =
	        argument_choice(a, "verdicts", verdicts, 0) == 1;
	race->want_witness = argument_flag(a, "witness");
	race->witness_events = argument_number(a, "witness-events", race->witness_events);
	return true;
}

/* Races of a recording may be due to synchronisation that was not recorded. */
static void note_missing(const struct trace *t, const struct race_options *race,
                         struct report *r)
{
	if (race->use_missing || race->analysis == ANALYSIS_RDIT || r->findings->len == 0)
		return;
	const char *calls = trace_note(t, "recording-missing");
	if (calls != NULL)
		report_note(r,
		            "%s call%s went into code that is not instrumented: --missing "
		            "takes into account what %s may have synchronised",
		            calls, strcmp(calls, "1") == 0 ? "" : "s",
		            strcmp(calls, "1") == 0 ? "it" : "they");
}

/* A trace without accesses must not look like a clean program. */
static void note_no_accesses(const struct trace *t, struct report *r)
{
	if (t->modules_count > 0 && t->events_count > 0 && t->variables_count == 0)
		report_note(r,
		            "the recording has no access to memory: was the program built with "
		            "'heddle cc' (or gcc -fsanitize=thread)?");
}

/* The report of the trace; NULL and `error`. */
static struct report *report_on(const struct arguments *a, struct trace *t,
                                struct race_options *race, struct print_options *print,
                                struct error *error)
{
	struct spec_rules *rules;

	print->trace = t;
	print->race = race;
	struct report *r =
	        take_specs(a, t, race, &rules, error) ? find(a, t, race, error) : NULL;
	if (r != NULL) {
		race_options_tell(a, t, race, print);
		note_missing(t, race, r);
		note_no_accesses(t, r);
	}
	spec_rules_free(rules);
	return r;
}

/* Does the analysis read the events in order, at least at first? */
static bool goes_in_passes(const struct race_options *race)
{
	enum analysis analysis = race->analysis;

	return (analysis == ANALYSIS_AUTO || analysis == ANALYSIS_LOCKSET ||
	        analysis == ANALYSIS_HB || analysis == ANALYSIS_SHB ||
	        analysis == ANALYSIS_SYNCP) &&
	       !race->pairs_events && !race->use_missing;
}

/* Does it make the first rung of `auto` (race_suspects)? */
static bool begins_with_suspects(const struct arguments *a, const struct race_options *race)
{
	return race->analysis == ANALYSIS_AUTO && goes_in_passes(race) && !race->use_values &&
	       !race->all_verdicts && race->candidates < 0 && argument_value(a, "spec") == NULL;
}

/* Opens one of the traces, by the way that the analysis reads it; `*first` is the caller's.
 * NULL after a message. */
static struct trace *open_one(const struct arguments *a, const char *path,
                              struct race_options *race, struct first_suspects **first)
{
	if (goes_in_passes(race))
		reel_set_way(REEL_IN_PASSES, 0);
	/* checks a trace without an index and makes the first rung in one pass */
	*first = begins_with_suspects(a, race) ? first_suspects_new() : NULL;
	race->first = *first;
	struct trace *t = open_trace_watched(
	        a, path, *first != NULL ? first_suspects_watch(*first) : NULL);
	if (t != NULL && !argument_value(a, "analysis") && trace_weak_first(t) != NONE) {
		race->analysis = ANALYSIS_HB;
		fprintf(stderr,
		        "heddle: %s: a run under --memory %s that is not sequentially "
		        "consistent: races of its happens-before alone, no other schedule\n",
		        trace_name(t), weak_model_words[trace_model(t)]);
	}
	return t;
}

/* Several traces, one after the other, as one report. */
static int run_several(struct arguments *a, const struct race_options *asked,
                       struct print_options *print)
{
	g_autoptr(GPtrArray) parts =
	        g_ptr_array_new_with_free_func((GDestroyNotify)report_file_free);
	struct error error;
	for (guint i = 0; i < a->words->len; i++) {
		struct race_options race = *asked;
		struct first_suspects *first = NULL;
		struct trace *t = open_one(a, a->words->pdata[i], &race, &first);
		struct report *r = t != NULL ? report_on(a, t, &race, print, &error) : NULL;
		if (t != NULL && r == NULL)
			say_error(&error);
		if (r != NULL)
			g_ptr_array_add(parts, report_file_of(r, print));
		report_free(r);
		first_suspects_free(first);
		trace_close(t);
		json_decref(print->options);
		print->options = NULL;
		print->trace = NULL;
		print->race = NULL;
		if (r == NULL)
			return EXIT_BAD;
	}
	g_autofree char *name = g_strdup_printf("%u traces", parts->len);
	struct report_file *all = traces_merge(parts, name, "traces", &error);
	int status = all != NULL ? report_file_print(a, all) : fail(&error);
	report_file_free(all);
	return status;
}

static int run_one(struct arguments *a, struct race_options *race, struct print_options *print)
{
	struct first_suspects *first = NULL;
	struct error error;
	struct trace *t = open_one(a, a->words->pdata[0], race, &first);
	struct report *r = t != NULL ? report_on(a, t, race, print, &error) : NULL;
	int status = t == NULL ? EXIT_BAD : r == NULL ? fail(&error) : print_report(r, print);
	report_free(r);
	first_suspects_free(first);
	trace_close(t);
	return status;
}

static int run(struct arguments *a)
{
	struct print_options print = { 0 };
	struct race_options race;
	if (shares_asked(a, true)) {
		argument_words(a, 1, 1);
		return shares_run(a);
	}
	bool good = parse(a, &race, &print);
	if (good && a->words->len > 1 && race.shards > 1)
		return usage_error(a, "--shard is for one trace");
	int status = !good                ? EXIT_BAD
	             : a->words->len == 1 ? run_one(a, &race, &print)
	                                  : run_several(a, &race, &print);
	print_options_release(&print);
	return status;
}

const struct command command_races = {
	.name = "races",
	.usage = "TRACE... [--analysis A] [--pairs sites|events] [--candidates all|ORDER]",
	.summary = "data races, each with a verdict",
	.details =
	        "A race is reported with a witness, which the independent checker has accepted: a\n"
	        "schedule of the recorded events that brings both threads to where they are about\n"
	        "to make the two accesses.  lockset, hb, cp, wcp, dc and wdc report candidates,\n"
	        "for which --witness looks for one.  Of several traces the reports are one, with each\n"
	        "finding once, and the traces that have it.  Exit status: 0 nothing found, 1 something\n"
	        "found, 2 bad input, 3 a budget ran out.",
	.options = options,
	.run = run,
	.reads_weak = true,
};
