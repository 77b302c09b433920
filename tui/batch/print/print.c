/*
 * print.c - reports as text, and the choice of format.
 */
#include "tui/batch/print/print.h"
#include "engine/trace/formats.h"
#include "engine/trace/own_code.h"
#include "engine/predict/ladder/behind.h"

#include "engine/order/order.h"
#include "engine/partial/calls.h"
#include "engine/predict/predict.h"
#include "engine/predict/weak_races.h"
#include "engine/trace/weak.h"
#include "tui/batch/reports/changes.h"
#include "tui/batch/print/places.h"
#include "tui/batch/print/terminal.h"
#include "tui/batch/suppressions.h"

#include <jansson.h>
#include <inttypes.h>
#include <string.h>

/* " (*box and 1 more)": addresses common to the calls of a step by uninstrumented code. */
static void append_common(const struct trace *t, const struct step *s,
                          struct missing_calls **calls, GString *line)
{
	struct missing_reason reason;
	if (s->rule != STEP_MUST || s->detail != MUST_MISSING)
		return;
	if (*calls == NULL)
		*calls = missing_calls_new(t);
	if (!missing_reason(*calls, t, s->from, s->to, &reason))
		return;
	g_string_append(line, " (");
	append_escaped(line, reason.address, strlen(reason.address));
	if (reason.more)
		g_string_append_printf(line, " and %u more", reason.more);
	g_string_append_c(line, ')');
}

void print_steps(const struct trace *t, const struct path *path)
{
	struct missing_calls *calls = NULL; /* made on demand */
	g_autoptr(GString) line = g_string_new(NULL);
	for (guint i = 0; path->steps && i < path->steps->len; i++) {
		const struct step *s = &g_array_index(path->steps, struct step, i);
		g_string_printf(line, "  %u -> %u  ", s->from, s->to);
		order_append_sentence(t, s, line);
		append_common(t, s, &calls, line);
		g_string_append_printf(line, "  [%s]", step_rule_text(s->rule));
		puts(line->str);
	}
	missing_calls_free(calls);
}

/* -- text --------------------------------------------------------------------------- */

void print_behind(const struct trace *t, const struct finding *f, const char *indent)
{
	g_autoptr(GString) text = g_string_new(NULL);

	finding_append_behind(t, f, text);
	if (text->len > 0)
		printf("%s%s\n", indent, text->str);
}

/* Does the text of the finding's kind lack the sentence about the program? Others have it as
 * their waits, their cycle or their story. */
static bool needs_sentence(const struct finding *f)
{
	return f->story == NULL && f->waits == NULL && f->requests == NULL &&
	       (f->units == NULL || f->units->len == 0) && verdict_is_found(f->verdict);
}

static void print_with_sentence(const struct trace *t, const struct finding *f,
                                const uint32_t *numbers, FILE *out)
{
	json_auto_t *j = finding_json_for_text(t, f, numbers);

	if (needs_sentence(f)) {
		g_autofree char *sentence = finding_sentence(t, f);
		json_object_set_new(j, "sentence", json_text(sentence));
	}
	finding_print(j, out);
}

void report_print_pair(FILE *out, const struct trace *t, const struct finding *f,
                       const uint32_t numbers[2])
{
	print_with_sentence(t, f, numbers, out);
}

json_t *report_pair_json(const struct trace *t, const struct finding *f,
                         const uint32_t numbers[2])
{
	struct places *places = places_new(t);
	json_t *j = finding_json(places, t, f), *site;
	size_t i;

	for (i = 0; i < 2; i++) {
		const char *member = i == 0 ? "first" : "second";

		if (numbers != NULL)
			json_object_set_new(j, member, json_integer(numbers[i]));
		else
			json_object_del(j, member);
	}
	/* counted from a line that may not be the function's first one in the whole trace */
	json_array_foreach(json_object_get(j, "sites"), i, site)
	        json_object_del(site, "offset");
	json_array_foreach(json_object_get(j, "places"), i, site)
	        json_object_del(site, "offset");
	places_free(places);
	return j;
}

static void print_finding(const struct trace *t, const struct finding *f)
{
	print_with_sentence(t, f, NULL, stdout);
}

/* The claim of a complete analysis, after "no" or "no other"; data races: not listed. */
static const struct {
	const char *analysis, *nothing;
	bool reordered; /* in all reorderings, not only in the run */
} scopes[] = {
	{ "lockset", "pair without a common lock", false },
	{ "deadlocks", "deadlock by locks alone", true },
	{ "cov", "pair of events that can change places", true },
	{ "rd2", "two calls that do not commute and that happens-before leaves unordered",
	  false },
	{ "edc", "pair of calls that can change places and do not commute", true },
	{ "atomic", "violation by these units of work", false },
};

char *complete_sentence(const struct promise *p)
{
	const char *nothing = "data race";
	const char *saw = p->values ? "the value that it saw" : "what it saw";
	bool reordered = true;
	GString *out = g_string_new("complete");

	for (size_t i = 0; i < G_N_ELEMENTS(scopes); i++)
		if (strcmp(scopes[i].analysis, p->analysis) == 0) {
			nothing = scopes[i].nothing;
			reordered = scopes[i].reordered || p->predicted;
		}
	if (p->scope)
		nothing = p->scope;
	if (p->shard)
		g_string_append_printf(out, " for share %s of the pairs", p->shard);
	if (reordered)
		g_string_append_printf(
		        out, ": in all reorderings of %s in which every read sees %s%s, ",
		        p->several ? "each of these runs" : "this run", saw,
		        p->same_pairing ? ", and " REPORT_SAME_PAIRING : "");
	else
		g_string_append_printf(out, ": in %s, ",
		                       p->several ? "each of these runs" : "this run");
	g_string_append_printf(out, "no %s%s%s%s", p->any ? "other " : "", nothing,
	                       p->shard ? " among these pairs" : "",
	                       p->uninstrumented ? " outside of code that is not instrumented"
	                                         : "");
	return g_string_free(out, FALSE);
}

/* `more`: the report has further findings that are suppressed, and not counted. */
static void print_summary(const struct report *r, guint count, bool more,
                          const struct print_options *o)
{
	struct promise promise = { .analysis = r->analysis,
		                   .scope = r->scope,
		                   .shard = o->shard,
		                   .any = count > 0 || more,
		                   .values =
		                           json_is_true(json_object_get(o->options, "values")),
		                   .predicted = o->predicted,
		                   .same_pairing = r->same_pairing,
		                   .uninstrumented = report_lacks_calls(r) };
	g_autofree char *complete = complete_sentence(&promise);
	g_autofree char *why = report_why_open(r);
	printf("%s: %u finding%s by %s in %" G_GUINT64_FORMAT " event%s, %s%s%s\n",
	       trace_name(r->trace), count, plural(count), r->analysis, r->trace->events_count,
	       plural(r->trace->events_count), r->complete ? complete : "not complete",
	       why ? ": " : "", why ? why : "");
	for (guint i = 0; i < r->notes->len; i++)
		printf("note: %s\n", (char *)r->notes->pdata[i]);
}

/* Prints, for each line that suppresses findings, their number; returns the total. */
static guint print_suppressed(const struct report *r, const struct print_options *o)
{
	g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) lines = g_ptr_array_new();
	guint all = 0;

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		const char *line = suppressions_find(o->suppressions, r->trace, f);

		if (line == NULL || !print_lists(f, o))
			continue;
		guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, line));
		all++;
		if (count == 0)
			g_ptr_array_add(lines, (gpointer)line);
		g_hash_table_replace(counts, (gpointer)line, GUINT_TO_POINTER(count + 1));
	}
	for (guint i = 0; i < lines->len; i++) {
		guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, lines->pdata[i]));

		printf("suppressed: %u finding%s by %s\n", count, plural(count),
		       printable(lines->pdata[i]));
	}
	return all;
}

/* Findings of the baseline are not printed. */
static bool is_known(const struct changes *c, const struct finding *f, uint32_t i)
{
	return c != NULL && verdict_is_found(f->verdict) && changes_state(c, i) != MATCH_NEW;
}

static void print_text(const struct report *r, const struct print_options *o)
{
	guint count = 0;

	excerpts_begin(r->trace->path);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		if (!print_lists(f, o) || suppressions_find(o->suppressions, r->trace, f))
			continue;
		if (!is_known(o->changes, f, i)) {
			fputs(o->changes && verdict_is_found(f->verdict) ? "new: " : "",
			      stdout);
			print_finding(r->trace, f);
		}
		count++;
	}
	excerpts_end();
	if (o->changes)
		changes_print_text(o->changes, MATCH_ABSENT, stdout);
	guint suppressed = print_suppressed(r, o);
	print_summary(r, count, suppressed > 0, o);
	if (o->changes) {
		printf("against %s: ", o->baseline->name);
		changes_print_counts(o->changes, stdout);
		putchar('\n');
	}
}

static void print_sarif(const struct report *r, const struct print_options *o)
{
	struct places *places = places_new(r->trace);
	struct sarif *s = sarif_begin(stdout, o->format);

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		const char *state = NULL;

		if (!print_lists(f, o))
			continue;
		if (o->changes && verdict_is_found(f->verdict))
			state = match_state_word(changes_state(o->changes, i));
		json_auto_t *j = finding_json(places, r->trace, f);
		json_set_suppressed(j, suppressions_find(o->suppressions, r->trace, f));
		if (f->verdict == VERDICT_RACE || f->verdict == VERDICT_HAPPENED) {
			g_autofree char *text = finding_sentence(r->trace, f);
			json_object_set_new(j, "text", json_text(text));
		}
		if (f->witness != NULL) {
			g_autoptr(GArray) claimed = finding_claimed(f);
			json_object_set_new(
			        j, "schedule",
			        sarif_schedule(places, r->trace, f->witness, claimed));
		}
		sarif_add(s, j, state);
	}
	if (o->changes)
		changes_absent_sarif(o->changes, s);
	sarif_end(s);
	places_free(places);
}

/* -- reports ------------------------------------------------------------------------------- */

void print_options_release(struct print_options *o)
{
	json_decref(o->options);
	g_free(o->shard);
	g_free(o->digest);
	report_file_free(o->baseline);
	suppressions_free(o->suppressions);
	*o = (struct print_options){ 0 };
}

bool suppressions_parse(const struct arguments *a, struct suppressions **suppressions)
{
	g_autoptr(GPtrArray) paths = argument_values(a, "suppressions");
	struct error error;

	*suppressions = paths->len > 0 ? suppressions_open(paths, &error) : NULL;
	bool good = paths->len == 0 || *suppressions != NULL;
	if (!good)
		say_error(&error);
	return good;
}

bool print_options_parse(const struct arguments *a, struct print_options *o)
{
	const char *baseline = argument_value(a, "baseline");
	struct error error;

	*o = (struct print_options){ .format = argument_format(a, true) };
	if (!suppressions_parse(a, &o->suppressions))
		return false;
	if (baseline == NULL)
		return true;
	o->baseline = report_file_open(baseline, &error);
	if (o->baseline == NULL)
		say_error(&error);
	return o->baseline != NULL;
}

static void print_json(const struct report *r, const struct print_options *o)
{
	json_auto_t *members = o->changes ? changes_members(o->changes) : NULL;
	struct print_options with = *o;

	with.members = members;
	report_print_json(r, &with, stdout);
}

static int print_as_asked(const struct report *r, const struct print_options *o)
{
	bool found = false;

	switch (o->format) {
	case FORMAT_JSON:
		print_json(r, o);
		break;
	case FORMAT_SARIF:
	case FORMAT_QUICKFIX:
		print_sarif(r, o);
		break;
	case FORMAT_TEXT:
		print_text(r, o);
		break;
	}
	for (guint i = 0; i < r->findings->len && !found; i++) {
		const struct finding *f = r->findings->pdata[i];

		found = verdict_is_found(f->verdict) &&
		        (o->changes == NULL || changes_state(o->changes, i) == MATCH_NEW) &&
		        suppressions_find(o->suppressions, r->trace, f) == NULL;
	}
	return found ? EXIT_FOUND : r->budget_spent ? EXIT_BUDGET : EXIT_NOTHING;
}

static int print_against_baseline(const struct report *r, const struct print_options *o)
{
	const struct print_options all = { .all_verdicts = true, .no_witness = true };
	struct report_file *new = report_file_of(r, &all);
	struct print_options with = *o;
	const struct changes_sides sides = {
		.old = o->baseline, .new = new, .new_trace = o->trace, .race = o->race
	};
	struct error error;
	struct changes *c = changes_new(&sides, progress_on_stderr(), &error);
	int status = EXIT_BAD;

	progress_done();
	with.changes = c;
	if (c != NULL)
		status = print_as_asked(r, &with);
	else
		fail(&error);
	changes_free(c);
	report_file_free(new);
	return status;
}

int print_report(const struct report *r, const struct print_options *o)
{
	struct print_options with = *o;

	suppressions_add_recorded(&with.suppressions, r->trace);
	int status =
	        with.baseline ? print_against_baseline(r, &with) : print_as_asked(r, &with);
	if (o->suppressions == NULL)
		suppressions_free(with.suppressions);
	return status;
}
