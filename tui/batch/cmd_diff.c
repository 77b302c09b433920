/*
 * cmd_diff.c - `heddle diff`: new, gone and remaining findings of the second of two traces or
 * reports.
 */
#include "engine/detect/detectors.h"
#include "tui/batch/reports/changes.h"
#include "tui/batch/race_options.h"
#include "tui/batch/reports/report_merge.h"
#include "tui/batch/spec_rules.h"

#include <stdlib.h>
#include <string.h>

static const struct command_option options[] = {
	{ "analysis", "auto|lockset|hb|shb|cp|wcp|dc|wdc|syncp|m2|smt|rdit",
	  "which analysis looks at traces (default: auto)", 0 },
	{ "spec", "FILE", "a specification, besides those that ship; may be repeated", 0 },
	OPTION_VALUES,
	OPTION_MISSING,
	{ "budget", "PAIR,ALL", "seconds of the solver for a pair and in all (default: 1,5)",
	  0 },
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

struct side {
	const char *path;
	struct report_file *report;
	struct trace *trace; /* or NULL: the operand is a report */
	bool budget_spent;
};

static void side_release(struct side *s)
{
	report_file_free(s->report);
	trace_close(s->trace);
}

/* The analyses to run on a trace: all that apply, or the analysis of the other side's
 * report. */
struct looking {
	struct race_options race;
	bool races;
	bool detectors[DETECTOR_COUNT];
};

static void look_for_all(struct looking *l)
{
	l->races = true;
	for (int d = 0; d < DETECTOR_COUNT; d++)
		/* ATOMIC_PREDICT and DEADLOCKS include these */
		l->detectors[d] = d != DETECTOR_ATOMIC && d != DETECTOR_ENDING;
}

/* Select by the analysis word of a report; false: not an analysis of traces. */
static bool look_for(struct looking *l, const char *word, bool named)
{
	enum analysis analysis;

	for (int d = 0; d < DETECTOR_COUNT; d++) {
		l->detectors[d] = strcmp(word, detector_word((enum detector)d)) == 0;
		if (l->detectors[d])
			return true;
	}
	l->races = analysis_from_word(word, &analysis);
	if (l->races && !named)
		l->race.analysis = analysis;
	return l->races;
}

/* Append a report's findings to the side's; complete only when all are. */
static void take_report(struct side *s, struct report *r, bool all_verdicts)
{
	const struct print_options print = { .no_witness = true, .all_verdicts = all_verdicts };
	struct report_file *more = report_file_of(r, &print);

	s->budget_spent |= r->budget_spent;
	if (s->report == NULL) {
		s->report = more;
	} else {
		for (guint i = 0; i < more->findings->len; i++) {
			struct filed_finding f = {
				.fields = json_incref(
				        g_array_index(more->findings, struct filed_finding, i)
				                .fields)
			};

			g_array_append_val(s->report->findings, f);
		}
		report_file_free(more);
	}
	if (!r->complete) {
		json_t *open = json_object_get(s->report->head, "incomplete");

		json_object_set_new(s->report->head, "complete", json_false());
		if (open == NULL) {
			open = json_array();
			json_object_set_new(s->report->head, "incomplete", open);
		}
		json_array_append_new(open, json_string(r->analysis));
	}
	report_free(r);
}

static bool detect(const struct looking *l, struct side *s, const struct specs *specs,
                   struct error *error)
{
	struct detection on = { .trace = s->trace,
		                .specs = specs,
		                .all_verdicts = true,
		                .budget_pair = l->race.budget_pair,
		                .budget_total = l->race.budget_total };
	struct report *r = NULL;
	bool good = true;

	for (int d = 0; good && d < DETECTOR_COUNT; d++) {
		bool asked = l->detectors[d] && detector_applies((enum detector)d, &on);

		/* a report is due even when the trace cannot have such findings */
		if (!asked && (!l->detectors[d] || l->races || s->report != NULL))
			continue;
		r = detector_run((enum detector)d, &on, progress_on_stderr(), error);
		good = r != NULL;
		if (good)
			take_report(s, r, true);
	}
	model_free(on.model);
	return good;
}

static bool analyse(const struct arguments *a, struct side *s, const struct looking *l,
                    struct error *error)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) paths = spec_rules_choose(a, s->trace, notes);
	struct specs *specs = specs_open(paths, error);
	bool good = specs != NULL;

	if (good && l->races) {
		struct report *r =
		        race_options_fit(a, s->trace, &l->race, error)
		                ? races_find(s->trace, &l->race, progress_on_stderr(), error)
		                : NULL;

		good = r != NULL &&
		       races_mark_missing(s->trace, &l->race, r, progress_on_stderr(), error);
		if (good)
			take_report(s, r, false);
		else
			report_free(r);
	}
	good = good && detect(l, s, specs, error);
	if (specs != NULL)
		specs_free(specs);
	progress_done();
	return good;
}

static bool open_report(struct side *s)
{
	struct error error;

	if (!report_file_is(s->path))
		return true;
	s->report = report_file_open(s->path, &error);
	if (s->report == NULL) {
		fail(&error);
		return false;
	}
	s->budget_spent = json_is_true(json_object_get(s->report->head, "budget-spent"));
	return true;
}

static bool open_and_analyse(const struct arguments *a, const struct looking *l, struct side *s)
{
	struct error error;

	if (s->report != NULL)
		return true;
	s->trace = open_trace(a, s->path);
	if (s->trace == NULL)
		return false;
	if (analyse(a, s, l, &error))
		return true;
	fail(&error);
	return false;
}

/* The subject of a report; only reports on the same subject are compared. */
static const char *subject_of(const struct report_file *r)
{
	const char *word = json_word(r->head, "analysis");
	enum analysis analysis;

	if (json_object_get(r->head, "executions") != NULL)
		return "an exploration";
	return analysis_from_word(word, &analysis) ? "data races" : word;
}

/* Does the command (other than check and explore) of this analysis look for findings of the
 * kind? */
static bool looks_for(const char *analysis, const char *kind)
{
	static const struct {
		const char *analysis;
		enum finding_kind kinds[3];
	} looks[] = {
		{ "deadlocks", { FINDING_DEADLOCK, FINDING_STUCK, FINDING_STUCK } },
		{ "cov",
		  { FINDING_ORDER_VIOLATION, FINDING_USE_AFTER_FREE, FINDING_USE_AFTER_FREE } },
		{ "rd2",
		  { FINDING_COMMUTATIVITY_RACE, FINDING_COMMUTATIVITY_RACE,
		    FINDING_COMMUTATIVITY_RACE } },
		{ "atomic",
		  { FINDING_ATOMIC_SET_VIOLATION, FINDING_ATOMIC_SET_VIOLATION,
		    FINDING_ATOMIC_SET_VIOLATION } },
		{ "misuse", { FINDING_LOCK_MISUSE, FINDING_LOCK_MISUSE, FINDING_LOCK_MISUSE } },
		{ "failure", { FINDING_CRASH, FINDING_ASSERTION, FINDING_EXIT } },
	};
	enum analysis race;

	if (analysis_from_word(analysis, &race))
		return strcmp(kind, finding_kind_word(FINDING_DATA_RACE)) == 0;
	for (size_t i = 0; i < G_N_ELEMENTS(looks); i++)
		for (size_t k = 0; strcmp(looks[i].analysis, analysis) == 0 && k < 3; k++)
			if (strcmp(finding_kind_word(looks[i].kinds[k]), kind) == 0)
				return true;
	return false;
}

/* Keeps those findings of a report of check that the other report's command looks for. */
static void leave_common(struct report_file *check, const struct report_file *other)
{
	const char *analysis = json_word(other->head, "analysis");

	for (guint i = check->findings->len; *analysis && i-- > 0;) {
		json_t *f = g_array_index(check->findings, struct filed_finding, i).fields;

		if (looks_for(analysis, json_word(f, "kind")))
			continue;
		json_decref(f);
		g_array_remove_index(check->findings, i);
	}
}

static bool is_check(const struct report_file *r)
{
	return r != NULL && report_file_is_check(r);
}

static bool refuse(const struct side *s, const char *remedy, const char *expected,
                   const char *found)
{
	struct error error;

	error_set(&error, s->path, remedy, "expected %s, found a report of %s", expected,
	          *found ? printable(found) : "something else");
	fail(&error);
	return false;
}

/* Open both sides; unless named, a report's analysis is used for the trace, too. */
static bool open_sides(const struct arguments *a, struct looking *l, struct side *old,
                       struct side *new)
{
	old->path = a->words->pdata[0];
	new->path = a->words->pdata[1];
	if (!open_report(old) || !open_report(new))
		return false;
	const struct side *named = old->report != NULL ? old : new;
	if (is_check(old->report) || is_check(new->report)) {
		if (old->report == NULL || new->report == NULL)
			look_for_all(l);
		else if (is_check(old->report))
			leave_common(old->report, new->report);
		else
			leave_common(new->report, old->report);
		return open_and_analyse(a, l, old) && open_and_analyse(a, l, new);
	}
	if (old->report != NULL && new->report != NULL) {
		const char *is = subject_of(new->report), *was = subject_of(old->report);

		if (strcmp(is, was) != 0) {
			g_autofree char *expected = g_strdup_printf(
			        "a report of %s, as the first is", printable(was));
			refuse(new, "give two reports of one command", expected, is);
			return false;
		}
	} else if (named->report == NULL) {
		look_for_all(l);
	} else if (!look_for(l, json_word(named->report->head, "analysis"),
	                     argument_value(a, "analysis") != NULL)) {
		return refuse(named, "compare it with a report of the same command",
		              "a report about a trace", subject_of(named->report));
	}
	return open_and_analyse(a, l, old) && open_and_analyse(a, l, new);
}

/* -- printing ------------------------------------------------------------------------- */

static json_t *side_json(const struct report_file *r)
{
	static const char *const taken[] = { "trace",  "program",  "analysis",
		                             "events", "complete", "incomplete" };
	json_t *j = json_object();

	for (size_t i = 0; i < G_N_ELEMENTS(taken); i++) {
		json_t *value = json_object_get(r->head, taken[i]);

		if (value != NULL)
			json_object_set(j, taken[i], value);
	}
	return j;
}

static void print_json(const struct changes *c, const struct side *old, const struct side *new)
{
	json_auto_t *head =
	        json_pack("{sssososo}", "heddle", HEDDLE_VERSION, "old", side_json(old->report),
	                  "new", side_json(new->report), "counts", changes_counts(c));
	char *text = json_dumps(head, 0);
	const char *separator = "\n";

	printf("%.*s, \"findings\": [", (int)strlen(text) - 1, text);
	for (guint i = 0; i < new->report->findings->len; i++) {
		const json_t *f =
		        g_array_index(new->report->findings, struct filed_finding, i).fields;

		if (!filed_is_found(f))
			continue;
		json_auto_t *j = json_copy((json_t *)f);
		json_object_del(j, "witness"); /* a number here */
		changes_add_state(c, i, j);
		fputs(separator, stdout);
		json_dumpf(j, stdout, 0);
		separator = ",\n";
	}
	fputs("\n]", stdout);
	json_auto_t *absent = changes_absent(c);
	findings_print_absent(absent, stdout);
	puts("}");
	free(text);
}

static void print_sarif(const struct changes *c, const struct side *new,
                        enum output_format format)
{
	struct sarif *s = sarif_begin(stdout, format);

	for (guint i = 0; i < new->report->findings->len; i++) {
		const json_t *f =
		        g_array_index(new->report->findings, struct filed_finding, i).fields;

		if (filed_is_found(f))
			sarif_add(s, f, match_state_word(changes_state(c, i)));
	}
	changes_absent_sarif(c, s);
	sarif_end(s);
}

static void print_incomplete(const struct report_file *r)
{
	const json_t *open = json_object_get(r->head, "incomplete");
	size_t i;
	json_t *word;

	if (is_check(r)) /* a report of check says it by kind */
		return;
	fputs("; not complete: ", stdout);
	json_array_foreach((json_t *)open, i, word)
	        printf("%s%s", i ? ", " : "", json_string_value(word));
	if (open == NULL)
		fputs(subject_of(r), stdout);
}

static void print_text(const struct changes *c, const struct side *old, const struct side *new)
{
	changes_print_text(c, MATCH_NEW, stdout);
	changes_print_text(c, MATCH_UNCHANGED, stdout);
	changes_print_text(c, MATCH_UPDATED, stdout);
	changes_print_text(c, MATCH_ABSENT, stdout);
	printf("%s against %s: ", printable(new->path), printable(old->path));
	changes_print_counts(c, stdout);
	if (!json_is_true(json_object_get(new->report->head, "complete")))
		print_incomplete(new->report);
	putchar('\n');
}

static int print_changes(const struct arguments *a, const struct changes *c,
                         const struct side *old, const struct side *new)
{
	enum output_format format = argument_format(a, true);
	switch (format) {
	case FORMAT_JSON:
		print_json(c, old, new);
		break;
	case FORMAT_SARIF:
	case FORMAT_QUICKFIX:
		print_sarif(c, new, format);
		break;
	case FORMAT_TEXT:
		print_text(c, old, new);
		break;
	}
	if (changes_count(c, MATCH_NEW) > 0)
		return EXIT_FOUND;
	return new->budget_spent ? EXIT_BUDGET : EXIT_NOTHING;
}

static int compare(const struct arguments *a, const struct side *old, const struct side *new,
                   const struct race_options *race)
{
	const struct changes_sides sides = { .old = old->report,
		                             .new = new->report,
		                             .old_trace = old->trace,
		                             .new_trace = new->trace,
		                             .race = race };
	struct error error;
	struct changes *c = changes_new(&sides, progress_on_stderr(), &error);

	progress_done();
	int status = c != NULL ? print_changes(a, c, old, new) : fail(&error);
	changes_free(c);
	return status;
}

static int run(struct arguments *a)
{
	struct side old = { 0 }, new = { 0 };
	struct looking looking = { 0 };
	int status = EXIT_BAD;

	argument_words(a, 2, 2);
	argument_format(a, true);
	if (!race_options_parse(a, &looking.race))
		return EXIT_BAD;
	if (open_sides(a, &looking, &old, &new))
		status = compare(a, &old, &new, &looking.race);
	side_release(&old);
	side_release(&new);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.usage = "OLD NEW",
	.summary = "findings that are new, gone or left in the second of two traces or reports",
	.details =
	        "OLD and NEW are traces, which are searched for findings of every kind, or JSON reports\n"
	        "of one command; where one is a report, the trace is searched by the same analysis.\n"
	        "Findings are the same when their kind and places agree: function and line in it, or\n"
	        "FILE:LINE; or else the nearest lines of the same functions with the same variable.\n"
	        "Where a side is a trace, the report says why a finding of the other is not in it: proved\n"
	        "impossible, not executed, always ordered.  Exit status: 0 nothing new, 1 something new,\n"
	        "2 bad input, 3 nothing new, and a budget ran out.",
	.options = options,
	.run = run,
};
