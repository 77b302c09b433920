/*
 * checkup_print.c - the answer of `heddle check` as text, JSON and SARIF.
 */
#include "engine/base/child.h"
#include "tui/batch/check/check_text.h"
#include "tui/batch/check/checkup.h"
#include "tui/batch/print/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Trace file of a run, or of the earlier run that equals it. */
static const char *trace_of(const struct checkup *c, uint32_t run)
{
	const struct checkup_run *r = checkup_run_at(c, run);

	return r->same_as != NONE ? checkup_run_at(c, r->same_as)->trace : r->trace;
}

/* "heddle record --strategy pct --seed 2 -- ./prog": owned by the caller; NULL: not by
 * recording. */
static char *checkup_again(const struct checkup *c, uint32_t run)
{
	const struct checkup_run *r = run == NONE ? NULL : checkup_run_at(c, run);

	if (r == NULL || r->options == NULL)
		return NULL;
	g_autofree char *spelt = child_spelt(c->argv);
	json_auto_t *head = json_object();
	json_set_command(head, c->argv);
	g_autofree char *before = json_before(head);
	return g_strdup_printf("heddle record %s%s -- %s", before, r->options,
	                       printable(spelt));
}

/* Place of an entry in the list, from 0. */
static guint index_of(const struct checkup *c, const struct checked *f)
{
	guint i = 0;

	while (i < c->list->len && c->list->pdata[i] != f)
		i++;
	return i;
}

/* -- JSON --------------------------------------------------------------------------------- */

static void set_text(json_t *j, const char *key, const char *text)
{
	if (text != NULL)
		json_object_set_new(j, key, json_text(text));
}

/* Why its harm is "same"; owned by the caller. */
static char *same_why(const struct checked *f)
{
	return f->happened ? g_strdup("every run for this input ends so")
	                   : g_strdup_printf("for this input: both orders were run and %s",
	                                     f->difference ? f->difference : "ended alike");
}

json_t *checked_json(const struct checkup *c, const struct checked *f)
{
	json_t *j = json_copy(f->fields), *runs = json_array();
	g_autofree char *again = checkup_again(c, f->shown);
	g_autofree char *same = same_why(f);

	json_object_set_new(j, "happened", json_boolean(f->happened));
	json_object_set_new(j, "text", json_text(f->text));
	if (f->harm != HARM_UNASKED)
		json_object_set_new(j, "harm", json_string(harm_word(f->harm)));
	if (f->harm == HARM_DIFFERS)
		set_text(j, "difference", f->difference);
	else
		set_text(j, "why", f->harm == HARM_SAME ? same : f->difference);
	set_text(j, "at", f->place);
	for (guint i = 0; i < f->runs->len; i++)
		if (g_array_index(f->runs, uint32_t, i) != NONE)
			json_array_append_new(
			        runs, json_integer(g_array_index(f->runs, uint32_t, i)));
	json_object_set_new(j, "runs", runs);
	if (f->cause != NULL)
		json_object_set_new(j, "cause", json_integer(index_of(c, f->cause)));
	if (f->shown != NONE)
		set_text(j, "trace", trace_of(c, f->shown));
	set_text(j, "witness-file", f->witness_file);
	set_text(j, "again", again);
	return j;
}

static json_t *runs_json(const struct checkup *c)
{
	json_t *list = json_array();

	for (guint i = 0; i < c->runs->len; i++) {
		const struct checkup_run *r = checkup_run_at(c, i);
		json_t *j = json_pack("{sIsssosisI}", "seed", (json_int_t)r->seed, "strategy",
		                      r->strategy, "trace", json_text(trace_of(c, i)), "exit",
		                      r->exit, "events", (json_int_t)r->events);

		if (r->same_as != NONE)
			json_object_set_new(j, "same-as", json_integer(r->same_as));
		json_set_sentences(j, "warnings", r->warnings);
		json_array_append_new(list, j);
	}
	return list;
}

json_t *checkup_json(const struct checkup *c)
{
	json_t *findings = json_array(), *complete = json_object();

	for (guint i = 0; i < c->list->len; i++)
		json_array_append_new(findings, checked_json(c, c->list->pdata[i]));
	for (int k = 0; k < FINDING_KIND_COUNT; k++)
		json_object_set_new(complete, finding_kind_word((enum finding_kind)k),
		                    json_boolean(checkup_complete(c, (enum finding_kind)k)));
	json_t *j = json_pack("{sssssosososo}", "heddle", HEDDLE_VERSION, "command", "check",
	                      "runs", runs_json(c), "findings", findings, "coverage",
	                      checkup_coverage(c), "complete", complete);
	if (c->argv != NULL)
		json_set_command(j, c->argv);
	if (c->explored)
		json_object_set_new(j, "exploration",
		                    json_pack("{sIsIsIsbsb}", "executions",
		                              (json_int_t)c->executions, "classes",
		                              (json_int_t)c->classes, "waiting",
		                              (json_int_t)c->left, "complete", c->explored_all,
		                              "spurious-wakeup", c->spurious_all));
	if (c->budget_spent)
		json_object_set_new(j, "budget-spent", json_true());
	if (c->share)
		json_object_set_new(j, "shard", json_text(c->share));
	return j;
}

/* -- text --------------------------------------------------------------------------------- */

static bool is_suppressed(const struct checked *f)
{
	return json_object_get(f->fields, "suppressed") != NULL;
}

/* Does the finding count for the exit status? */
static bool counts(const struct checkup *c, const struct changes *changes, guint i)
{
	return (changes == NULL || changes_state(changes, i) == MATCH_NEW) &&
	       !is_suppressed(c->list->pdata[i]);
}

static void print_text(const struct checkup *c, const struct changes *changes)
{
	struct report_file *report = checkup_report(c);

	excerpts_begin(c->argv == NULL && c->runs->len > 0 ? trace_of(c, 0) : NULL);
	check_print(report, changes);
	excerpts_end();
	report_file_free(report);
}

static void print_json(const struct checkup *c, const struct changes *changes)
{
	json_t *j = checkup_json(c), *f;
	size_t i;

	if (changes != NULL) {
		json_array_foreach(json_object_get(j, "findings"), i, f)
		        changes_add_state(changes, (uint32_t)i, f);
		json_object_set_new(j, "baseline", changes_counts(changes));
		json_object_set_new(j, "absent", changes_absent(changes));
	}
	json_dumpf(j, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(j);
}

static void print_sarif(const struct checkup *c, const struct changes *changes,
                        enum output_format format)
{
	struct sarif *s = sarif_begin(stdout, format);

	for (guint i = 0; i < c->list->len; i++) {
		const struct checked *f = c->list->pdata[i];
		json_auto_t *j = checked_json(c, f);

		if (f->schedule != NULL)
			json_object_set(j, "schedule", f->schedule);
		sarif_add(s, j, changes ? match_state_word(changes_state(changes, i)) : NULL);
	}
	if (changes != NULL)
		changes_absent_sarif(changes, s);
	sarif_end(s);
}

struct report_file *checkup_report(const struct checkup *c)
{
	json_auto_t *j = checkup_json(c);
	return report_file_of_json("check", j);
}

int checkup_print(const struct checkup *c, enum output_format format,
                  const struct report_file *baseline)
{
	struct report_file *new = baseline ? checkup_report(c) : NULL;
	struct changes_sides sides = { .old = baseline, .new = new };
	struct error error;
	struct changes *changes = baseline ? changes_new(&sides, NULL, &error) : NULL;
	guint found = 0;

	for (guint i = 0; i < c->list->len; i++)
		found += counts(c, changes, i);
	switch (format) {
	case FORMAT_TEXT:
		print_text(c, changes);
		break;
	case FORMAT_JSON:
		print_json(c, changes);
		break;
	case FORMAT_SARIF:
	case FORMAT_QUICKFIX:
		print_sarif(c, changes, format);
		break;
	}
	changes_free(changes);
	report_file_free(new);
	/* where every schedule was run, undecided pairs of one do not matter */
	return found                                 ? EXIT_FOUND
	       : c->budget_spent && !c->explored_all ? EXIT_BUDGET
	                                             : EXIT_NOTHING;
}
