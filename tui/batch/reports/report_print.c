/*
 * report_print.c - see report_print.h.
 */
#include "tui/batch/reports/report_print.h"

#include "tui/batch/check/check_text.h"
#include "tui/batch/print/exploration_text.h"
#include "tui/batch/reports/report_merge.h"

#include <stdlib.h>
#include <string.h>

/* -- as JSON -------------------------------------------------------------------------- */

/* A finding, with its state against the baseline before its own fields. */
static void put_finding(const struct report_file *r, const struct changes *c, guint i)
{
	const struct filed_finding *f = &g_array_index(r->findings, struct filed_finding, i);
	json_auto_t *state = json_object();

	if (c != NULL)
		changes_add_state(c, i, state);
	if (json_object_size(state) == 0) {
		fwrite(f->text, 1, f->length, stdout);
		return;
	}
	char *begin = json_dumps(state, 0);
	printf("%.*s, ", (int)strlen(begin) - 1, begin);
	fwrite(f->text + 1, 1, f->length - 1, stdout);
	free(begin);
}

/* The findings as in the parts, with witnesses. */
static void print_whole(const struct report_file *r, const struct changes *c)
{
	if (c != NULL)
		json_object_set_new(r->head, "baseline", changes_counts(c));

	char *head = json_dumps(r->head, report_file_is_exploration(r) ? JSON_INDENT(1) : 0);
	const char *separator = "\n";

	if (report_file_is_exploration(r)) {
		puts(head);
		free(head);
		return;
	}
	fwrite(head, 1, strlen(head) - 1, stdout);
	free(head);
	fputs(", \"findings\": [", stdout);
	for (guint i = 0; i < r->findings->len; i++) {
		fputs(separator, stdout);
		put_finding(r, c, i);
		separator = ",\n";
	}
	fputs("\n]", stdout);
	if (c != NULL) {
		json_auto_t *absent = changes_absent(c);

		findings_print_absent(absent, stdout);
	}
	puts("}");
}

/* -- as text -------------------------------------------------------------------------- */

static long long number(const struct report_file *r, const char *key)
{
	return json_integer_value(json_object_get(r->head, key));
}

static void print_sentences(const json_t *list, const char *before)
{
	size_t i;
	json_t *sentence;

	json_array_foreach((json_t *)list, i, sentence)
	        printf("%s%s\n", before, json_string_value(sentence));
}

static const json_t *finding_at(const struct report_file *r, guint i)
{
	return g_array_index(r->findings, struct filed_finding, i).fields;
}

static bool is_known(const struct report_file *r, const struct changes *c, guint i)
{
	return c != NULL && filed_is_found(finding_at(r, i)) &&
	       changes_state(c, i) != MATCH_NEW;
}

/* The findings, except those of the baseline and suppressed ones. */
static void print_list(const struct report_file *r, const struct changes *c)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const json_t *f = finding_at(r, i);

		if (filed_is_suppressed(f) || is_known(r, c, i))
			continue;
		fputs(c != NULL && filed_is_found(f) ? "new: " : "", stdout);
		finding_print(f, stdout);
	}
	if (c != NULL)
		changes_print_text(c, MATCH_ABSENT, stdout);
}

/* Prints and returns the number of suppressed findings. */
static guint print_suppressed(const struct report_file *r)
{
	guint count = 0;

	for (guint i = 0; i < r->findings->len; i++)
		count += filed_is_suppressed(finding_at(r, i));
	if (count > 0)
		printf("suppressed: %u finding%s (--format json lists them, each with its line)\n",
		       count, plural(count));
	return count;
}

static void print_against(const struct changes *c)
{
	if (c == NULL)
		return;
	fputs("against the baseline: ", stdout);
	changes_print_counts(c, stdout);
	putchar('\n');
}

static void print_findings(const struct report_file *r, const struct changes *c)
{
	print_list(r, c);
	guint count = r->findings->len - print_suppressed(r);
	const json_t *asked = json_object_get(r->head, "options");
	struct promise promise = { .analysis = json_word(r->head, "analysis"),
		                   .any = r->findings->len > 0,
		                   .several = json_object_get(r->head, "traces") != NULL,
		                   .values = json_is_true(json_object_get(asked, "values")),
		                   .same_pairing = *json_word(r->head, "given") != 0,
		                   .uninstrumented = json_is_true(
		                           json_object_get(r->head, "uninstrumented")) };
	const char *why = json_word(r->head, "not-complete");
	char *sentence = json_is_true(json_object_get(r->head, "complete"))
	                         ? complete_sentence(&promise)
	                         : g_strconcat("not complete", *why ? ": " : "", why, NULL);
	printf("%s: %u finding%s by %s in %lld event%s, %s\n", json_word(r->head, "trace"),
	       count, plural(count), json_word(r->head, "analysis"), number(r, "events"),
	       plural((uint64_t)number(r, "events")), sentence);
	g_free(sentence);
	print_sentences(json_object_get(r->head, "notes"), "note: ");
	print_against(c);
}

/* -- as SARIF ------------------------------------------------------------------------- */

static void print_sarif(const struct report_file *r, const struct changes *c,
                        enum output_format format)
{
	struct sarif *s = sarif_begin(stdout, format);

	for (guint i = 0; i < r->findings->len; i++) {
		const json_t *f = finding_at(r, i);
		bool known = c != NULL && filed_is_found(f);

		sarif_add(s, f, known ? match_state_word(changes_state(c, i)) : NULL);
	}
	if (c != NULL)
		changes_absent_sarif(c, s);
	sarif_end(s);
}

/* -- as asked ------------------------------------------------------------------------- */

static int status_of(const struct report_file *r, const struct changes *c)
{
	bool found = json_array_size(json_object_get(r->head, "errors")) > 0 ||
	             json_array_size(json_object_get(r->head, "races")) > 0;

	for (guint i = 0; i < r->findings->len && !found; i++)
		found = filed_is_found(finding_at(r, i)) && !is_known(r, c, i);
	if (found)
		return EXIT_FOUND;
	if (report_file_is_exploration(r))
		return json_is_true(json_object_get(r->head, "complete")) ? EXIT_NOTHING
		                                                          : EXIT_BUDGET;
	return json_is_true(json_object_get(r->head, "budget-spent")) ? EXIT_BUDGET
	                                                              : EXIT_NOTHING;
}

static int print_as_asked(const struct arguments *a, const struct report_file *r,
                          const struct changes *c)
{
	enum output_format format = argument_format(a, true);

	bool listed = format == FORMAT_SARIF || format == FORMAT_QUICKFIX;
	if (format == FORMAT_JSON)
		print_whole(r, c);
	else if (listed && report_file_is_exploration(r))
		exploration_list(r->head, format);
	else if (listed)
		print_sarif(r, c, format);
	else if (report_file_is_exploration(r))
		exploration_print(r->head);
	else if (report_file_is_check(r))
		check_print(r, c);
	else
		print_findings(r, c);
	return status_of(r, c);
}

int report_file_print(const struct arguments *a, const struct report_file *r)
{
	const char *baseline = argument_value(a, "baseline");
	struct error error;

	if (baseline == NULL)
		return print_as_asked(a, r, NULL);
	if (report_file_is_exploration(r))
		return usage_error(a, "--baseline: expected findings, found an exploration: "
		                      "'heddle diff OLD NEW' compares explorations");
	struct report_file *old = report_file_open(baseline, &error);
	const struct changes_sides sides = { .old = old, .new = r };
	struct changes *c =
	        old != NULL ? changes_new(&sides, progress_on_stderr(), &error) : NULL;
	progress_done();
	int status = c != NULL ? print_as_asked(a, r, c) : fail(&error);
	changes_free(c);
	report_file_free(old);
	return status;
}
