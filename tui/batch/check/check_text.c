/*
 * check_text.c - see check_text.h.
 */
#include "tui/batch/check/check_text.h"
#include "engine/harm/harm.h"
#include "tui/batch/print/finding_json.h"
#include "tui/batch/print/names.h"
#include "tui/batch/print/point_json.h"

#include <string.h>

static const json_t *finding_at(const struct report_file *r, guint i)
{
	return g_array_index(r->findings, struct filed_finding, i).fields;
}

/* -- one finding ---------------------------------------------------------------------------- */

static bool has_harm(const json_t *f, enum harm harm)
{
	return strcmp(json_word(f, "harm"), harm_word(harm)) == 0;
}

static void print_difference(const json_t *f)
{
	static const char stuck[] = "stuck: ";
	const char *difference = json_word(f, "difference"), *at = json_word(f, "at");

	if (g_str_has_prefix(json_word(f, "text"), difference))
		return; /* said already */
	if (g_str_has_prefix(difference, stuck))
		printf("    what it does: %s wait%s for ever", difference + strlen(stuck),
		       strchr(difference, ',') ? "" : "s");
	else
		printf("    what it does: %s", difference);
	if (*at)
		printf(" (written last at %s)", at);
	putchar('\n');
}

static void print_harm(const json_t *f)
{
	if (has_harm(f, HARM_DIFFERS))
		print_difference(f);
	else if (has_harm(f, HARM_SAME) && !json_is_true(json_object_get(f, "happened")))
		printf("    what it does: nothing, as far as is seen, %s\n",
		       json_word(f, "why"));
	else if (has_harm(f, HARM_UNFOLLOWED))
		printf("    what it does is not known: %s\n", json_word(f, "why"));
}

static void print_spurious(const json_t *f)
{
	const char *text = json_word(f, "spurious-wakeup");

	if (*text)
		printf("    in this run %s: a spurious wake-up, which POSIX and C++ allow at any "
		       "time, so a wait belongs in a loop\n",
		       text);
}

static void print_point(const json_t *f)
{
	const json_t *point = json_object_get(f, "point-of-no-return");
	const char *trace = json_word(point, "trace");
	g_autofree char *text = point_text(point);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++)
		if (**line)
			printf("    %s\n", *line);
	if (*trace && strcmp(trace, json_word(f, "trace")) != 0)
		printf("    heddle %s   (opens the run of that point in the explorer: | goes there)\n",
		       trace);
}

/* Prints the finding whose two orders were being run when this one was found. */
static void print_cause(const struct report_file *r, guint i)
{
	const json_t *cause = json_object_get(finding_at(r, i), "cause");
	json_int_t of = json_integer_value(cause);

	if (cause != NULL && of != (json_int_t)i && of >= 0 &&
	    of < (json_int_t)r->findings->len)
		printf("    it was met when both orders of this were run: %s\n",
		       json_word(finding_at(r, (guint)of), "text"));
}

/* `command`: of the program, or "". `before`: options for its runs. */
static void print_seen(const json_t *f, const char *before, const char *command)
{
	const char *trace = json_word(f, "trace"), *witness = json_word(f, "witness-file"),
	           *again = json_word(f, "again");
	size_t runs = json_array_size(json_object_get(f, "runs"));

	if (*trace)
		printf("    heddle %s   (opens it in the explorer; %zu run%s show%s it)\n",
		       trace, runs, plural(runs), runs == 1 ? "s" : "");
	if (*witness && *command)
		printf("    heddle replay --witness %s %s-- %s\n", witness, before, command);
	else if (*witness)
		printf("    the schedule: %s\n", witness);
	if (*again && json_is_true(json_object_get(f, "happened")))
		printf("    %s\n", again);
}

/* The finding as finding_print is to print it: without the members that the sentence ("text")
 * is made of. */
static json_t *heading_of(const json_t *f)
{
	json_t *heading = json_copy((json_t *)f);

	if (json_is_true(json_object_get(f, "happened")))
		json_object_set_new(heading, "verdict",
		                    json_string(verdict_word(VERDICT_HAPPENED)));
	static const char *const elsewhere[] = { "story",  "waits",   "condition",
		                                 "points", "missing", "after-main" };
	for (size_t i = 0; i < G_N_ELEMENTS(elsewhere); i++)
		json_object_del(heading, elsewhere[i]);
	return heading;
}

static void print_finding(const struct report_file *r, guint i)
{
	const json_t *f = finding_at(r, i);
	json_auto_t *heading = heading_of(f);

	finding_print(heading, stdout);
	if (*json_word(f, "text"))
		printf("    %s\n", json_word(f, "text"));
	if (*json_word(f, "after-main"))
		printf("    %s\n", json_word(f, "after-main"));
	print_spurious(f);
	print_harm(f);
	print_point(f);
	print_cause(r, i);
	g_autofree char *command = json_command(r->head);
	g_autofree char *before = json_before(r->head);
	print_seen(f, before, command);
}

/* -- the report ----------------------------------------------------------------------------- */

static bool is_known(const struct changes *c, const json_t *f, guint i)
{
	return c != NULL && filed_is_found(f) && changes_state(c, i) != MATCH_NEW;
}

/* Whether schedules are left that were not run, which no finding and no exit status says. */
static const char *extent_of(const struct report_file *r)
{
	const json_t *exploration = json_object_get(r->head, "exploration");
	bool all = json_is_true(json_object_get(exploration, "complete")), races = false;

	for (guint i = 0; i < r->findings->len; i++)
		races |= strcmp(json_word(finding_at(r, i), "kind"),
		                finding_kind_word(FINDING_DATA_RACE)) == 0;
	return !*json_word(r->head, "program") ? ""
	       : all && races ? "; every schedule was run, except for what data races allow"
	       : all          ? "; every schedule that makes a difference was run"
	       : json_is_true(json_object_get(r->head, "budget-spent"))
	               ? "; not every schedule was run, and the time ran out"
	               : "; not every schedule was run";
}

/* "./bank: 2 findings in 12 runs; not every schedule was run" */
static void print_summary(const struct report_file *r, guint suppressed)
{
	const char *program = json_word(r->head, "program");
	size_t runs = json_array_size(json_object_get(r->head, "runs"));

	printf("%s%s%u finding%s in %zu run%s%s\n", program, *program ? ": " : "",
	       r->findings->len, plural(r->findings->len), runs, plural(runs), extent_of(r));
	if (suppressed > 0)
		printf("suppressed: %u finding%s (--format json lists them, each with its line)\n",
		       suppressed, plural(suppressed));
}

/* Prints the sentences that begin with START, without it, below the heading. */
static void print_list(const json_t *sentences, const char *start, const char *heading)
{
	size_t i;
	json_t *sentence;

	json_array_foreach((json_t *)sentences, i, sentence)
	{
		const char *text = json_string_value(sentence);

		if (!g_str_has_prefix(text, start))
			continue;
		if (heading != NULL)
			puts(heading);
		heading = NULL;
		printf("    - %s\n", text + strlen(start) + strlen(": "));
	}
}

void check_print_coverage(const json_t *sentences)
{
	static const struct {
		const char *start, *heading;
	} lists[] = {
		{ "Not covered", "not covered:" },
		{ "Not looked for", "not looked for:" },
	};
	size_t i, k;
	json_t *sentence;

	json_array_foreach((json_t *)sentences, i, sentence)
	{
		const char *text = json_string_value(sentence);

		for (k = 0; k < G_N_ELEMENTS(lists); k++)
			if (g_str_has_prefix(text, lists[k].start))
				break;
		if (k == G_N_ELEMENTS(lists))
			printf("note: %s\n", text);
	}
	for (k = 0; k < G_N_ELEMENTS(lists); k++)
		print_list(sentences, lists[k].start, lists[k].heading);
}

void check_print(const struct report_file *r, const struct changes *changes)
{
	guint suppressed = 0;

	for (guint k = 0; k < r->findings->len; k++) {
		const json_t *f = finding_at(r, k);

		suppressed += filed_is_suppressed(f);
		if (filed_is_suppressed(f) || is_known(changes, f, k))
			continue;
		fputs(changes != NULL ? "new: " : "", stdout);
		print_finding(r, k);
	}
	if (changes != NULL)
		changes_print_text(changes, MATCH_ABSENT, stdout);
	print_summary(r, suppressed);
	if (changes != NULL) {
		fputs("against the baseline: ", stdout);
		changes_print_counts(changes, stdout);
		putchar('\n');
	}
	check_print_coverage(json_object_get(r->head, "coverage"));
}
