/* cmd_diff.c - `heddle diff`: what is new in the second of two traces or reports, what is gone,
 * and what a fix left. */
#include "engine/predict/deadlock.h"
#include "tui/batch/changes.h"
#include "tui/batch/race_options.h"

#include <stdlib.h>
#include <string.h>

static const struct command_option options[] = {
	{ "analysis", "A", "which analysis looks at traces (default: auto)", 0 },
	{ "values", NULL, "a read may read any write of the same value", 0 },
	{ "missing", NULL, "take code that was not recorded into account (barrier pairs)", 0 },
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

/* Deadlocks are findings of a trace as races are. */
static bool add_deadlocks(struct side *s, const struct race_options *race, struct error *error)
{
	const struct print_options all = { .all_verdicts = true, .no_witness = true };
	struct race_options find = *race;
	struct report *r;
	struct report_file *more;

	find.all_verdicts = true;
	r = deadlocks_find(s->trace, &find, progress_on_stderr(), error);
	if (r == NULL)
		return false;
	s->budget_spent |= r->budget_spent;
	more = report_file_of(r, &all);
	for (guint i = 0; i < more->findings->len; i++) {
		struct filed_finding f = {
			.fields = json_incref(
			        g_array_index(more->findings, struct filed_finding, i).fields)
		};

		g_array_append_val(s->report->findings, f);
	}
	report_file_free(more);
	report_free(r);
	return true;
}

static bool analyse(const struct arguments *a, struct side *s, const struct race_options *race,
                    struct error *error)
{
	const struct print_options print = { .no_witness = true };
	struct report *r = race_options_fit(a, s->trace, race, error)
	                           ? races_find(s->trace, race, progress_on_stderr(), error)
	                           : NULL;
	bool good = r != NULL;

	if (good) {
		s->budget_spent = r->budget_spent;
		s->report = report_file_of(r, &print);
		good = add_deadlocks(s, race, error);
	}
	report_free(r);
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

static bool open_and_analyse(const struct arguments *a, const struct race_options *race,
                             struct side *s)
{
	struct error error;

	if (s->report != NULL)
		return true;
	s->trace = open_trace(a, s->path);
	if (s->trace == NULL)
		return false;
	if (analyse(a, s, race, &error))
		return true;
	fail(&error);
	return false;
}

/* Both sides; a report's analysis is the trace's too, where none is named. */
static bool open_sides(const struct arguments *a, struct race_options *race, struct side *old,
                       struct side *new)
{
	const struct side *named;

	old->path = a->words->pdata[0];
	new->path = a->words->pdata[1];
	if (!open_report(old) || !open_report(new))
		return false;
	named = old->report != NULL ? old : new;
	if (named->report != NULL && argument_value(a, "analysis") == NULL)
		analysis_from_word(json_word(named->report->head, "analysis"), &race->analysis);
	return open_and_analyse(a, race, old) && open_and_analyse(a, race, new);
}

/* -- printing ------------------------------------------------------------------------- */

static json_t *side_json(const struct report_file *r)
{
	static const char *const taken[] = { "trace", "analysis", "events", "complete" };
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
	json_t *head =
	        json_pack("{sssososo}", "heddle", HEDDLE_VERSION, "old", side_json(old->report),
	                  "new", side_json(new->report), "counts", changes_counts(c));
	char *text = json_dumps(head, 0);
	const char *separator = "\n";

	printf("%.*s, \"findings\": [", (int)strlen(text) - 1, text);
	for (guint i = 0; i < new->report->findings->len; i++) {
		const json_t *f =
		        g_array_index(new->report->findings, struct filed_finding, i).fields;
		json_t *j;

		if (!filed_is_found(f))
			continue;
		j = json_copy((json_t *)f);
		json_object_del(j, "witness"); /* a number here */
		changes_add_state(c, i, j);
		fputs(separator, stdout);
		json_dumpf(j, stdout, 0);
		json_decref(j);
		separator = ",\n";
	}
	fputs("\n]", stdout);
	changes_print_absent(c, stdout);
	puts("}");
	free(text);
	json_decref(head);
}

static void print_sarif(const struct changes *c, const struct side *new)
{
	struct sarif *s = sarif_begin(stdout);

	for (guint i = 0; i < new->report->findings->len; i++) {
		const json_t *f =
		        g_array_index(new->report->findings, struct filed_finding, i).fields;

		if (filed_is_found(f))
			sarif_add(s, f, match_state_word(changes_state(c, i)));
	}
	changes_absent_sarif(c, s);
	sarif_end(s);
}

static void print_text(const struct changes *c, const struct side *old, const struct side *new)
{
	changes_print_text(c, MATCH_NEW, stdout);
	changes_print_text(c, MATCH_UNCHANGED, stdout);
	changes_print_text(c, MATCH_UPDATED, stdout);
	changes_print_text(c, MATCH_ABSENT, stdout);
	printf("%s against %s: ", printable(new->path), printable(old->path));
	changes_print_counts(c, stdout);
	puts(json_is_true(json_object_get(new->report->head, "complete"))
	             ? ""
	             : "; the analysis is not complete");
}

static int print_changes(const struct arguments *a, const struct changes *c,
                         const struct side *old, const struct side *new)
{
	switch (argument_format(a, true)) {
	case FORMAT_JSON:
		print_json(c, old, new);
		break;
	case FORMAT_SARIF:
		print_sarif(c, new);
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
	int status;

	progress_done();
	status = c != NULL ? print_changes(a, c, old, new) : fail(&error);
	changes_free(c);
	return status;
}

static int run(struct arguments *a)
{
	struct side old = { 0 }, new = { 0 };
	struct race_options race;
	int status = EXIT_BAD;

	argument_words(a, 2, 2);
	argument_format(a, true);
	if (!race_options_parse(a, &race))
		return EXIT_BAD;
	if (open_sides(a, &race, &old, &new))
		status = compare(a, &old, &new, &race);
	side_release(&old);
	side_release(&new);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.usage = "OLD NEW",
	.summary = "what is new in the second of two traces or reports, what is gone, what is "
	           "left",
	.details =
	        "OLD and NEW are traces, which are searched for races and deadlocks, or JSON "
	        "reports.\nFindings are the same when their kind and places agree: function "
	        "and "
	        "line in it, or\nFILE:LINE; or else the nearest lines of the same functions "
	        "with "
	        "the same variable.\nWhere a side is a trace, it is asked what became of what "
	        "it "
	        "has not: proved impossible,\nnot executed, always ordered.  Exit status: 0 "
	        "nothing new, 1 something new, 2 bad input,\n3 nothing new, and a budget ran "
	        "out.",
	.options = options,
	.run = run,
};
