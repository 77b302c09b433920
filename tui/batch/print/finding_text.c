/*
 * finding_text.c - a finding as text, from the shape of finding_json.h: one of this run and one
 * of a report file look alike.
 */
#include "engine/trace/own_code.h"
#include "tui/batch/print/finding_json.h"
#include "tui/batch/print/names.h"
#include "tui/batch/print/terminal.h"

#include <string.h>

static long long number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool has_verdict(const json_t *f, enum verdict verdict)
{
	return strcmp(json_word(f, "verdict"), verdict_word(verdict)) == 0;
}

/* -- the heading ---------------------------------------------------------------------------- */

/* As the user knows them; the events have the exact names. */
static void print_names(const json_t *f, FILE *out)
{
	const json_t *names = json_object_get(f, "variables");
	size_t count = json_array_size(names);
	/* parts of a whole, and blocks without their numbers, may have one name */
	g_autoptr(GHashTable) told =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (size_t i = 0; i < count; i++) {
		g_autoptr(GString) name = g_string_new(NULL);
		guint before = g_hash_table_size(told);
		own_code_append_name(json_element(names, i), name);
		if (g_hash_table_add(told, g_strdup(name->str)) && before < NAMES_TOLD)
			fprintf(out, "%s%s", before ? ", " : "  on ", name->str);
	}
	long long more = number_of(f, "more");
	if (g_hash_table_size(told) > NAMES_TOLD)
		more += g_hash_table_size(told) - NAMES_TOLD;
	if (more > 0)
		fprintf(out, " and %lld more", more);
}

static void print_heading(const json_t *f, FILE *out)
{
	/* of a use after free, the events and the sentence say as much */
	bool freed = finding_kind_of(f) == FINDING_USE_AFTER_FREE;
	const json_t *methods = freed ? NULL : json_object_get(f, "methods"),
	             *points = freed ? NULL : json_object_get(f, "points");
	const char *condition = freed ? "" : json_word(f, "condition");
	long long count = number_of(f, "count");

	fprintf(out, "%s: %s",
	        has_verdict(f, VERDICT_RACE)
	                ? finding_verdict_text(finding_kind_of(f), VERDICT_RACE)
	                : json_word(f, "verdict"),
	        json_word(f, "kind"));
	print_names(f, out);
	if (count > 1)
		fprintf(out, "  (%lld%s)", count,
		        strcmp(json_word(f, "counted"), "seen") == 0 ? " seen" : "");
	if (*json_word(f, "note"))
		fprintf(out, "  [%s]", json_word(f, "note"));
	if (number_of(f, "sampled"))
		fprintf(out, "  [accesses sampled: one window in %lld]",
		        number_of(f, "sampled"));
	if (*json_word(f, "unseen"))
		fprintf(out, "  [atomic instructions are not in the trace, as at %s]",
		        json_word(f, "unseen"));
	fputc('\n', out);
	if (methods != NULL)
		fprintf(out, "    %s  with  %s\n", json_element(methods, 0),
		        json_element(methods, 1));
	if (strcmp(condition, "false") == 0)
		fputs("    never commute\n", out);
	else if (*condition)
		fprintf(out, "    commute only if %s\n", condition);
	if (points != NULL)
		fprintf(out, "    access points %s and %s clash\n", json_element(points, 0),
		        json_element(points, 1));
}

/* -- the events ------------------------------------------------------------------------------ */

/* Without a trace: "    T1     bank.c:31  in report, from worker bank.c:38". */
static void print_site(const json_t *site, const char *thread, const json_t *callers, FILE *out)
{
	const char *file = json_word(site, "file");

	if (*thread)
		fprintf(out, "    %-6s ", thread);
	else
		fputs("    ", out);
	if (*file)
		fprintf(out, "%s:%lld", base_name(file), number_of(site, "line"));
	else
		fputs(json_word(site, "name"), out);
	if (*json_word(site, "function"))
		fprintf(out, "  in %s", json_word(site, "function"));
	for (size_t k = 0; k < json_array_size(callers); k++)
		fprintf(out, ", from %s", json_element(callers, k));
	fputc('\n', out);
}

const json_t *finding_places(const json_t *f)
{
	const json_t *own = json_object_get(f, "places");
	return own != NULL ? own : json_object_get(f, "sites");
}

/* Prints the i-th of the events that make the finding. */
static void print_event(const json_t *f, size_t i, const char *thread, FILE *out)
{
	const json_t *lines = json_object_get(f, "lines"),
	             *site = json_array_get(finding_places(f), i),
	             *callers = json_array_get(json_object_get(f, "callers"), i);

	if (lines != NULL)
		fprintf(out, "    %s\n", json_element(lines, i));
	else
		print_site(site, thread, callers, out);
	excerpt_print(json_word(site, "file"), (uint32_t)number_of(site, "line"), out);
}

static void print_events(const json_t *f, FILE *out)
{
	const json_t *requests = json_object_get(f, "requests"),
	             *lines = json_object_get(f, "lines");
	size_t count = json_array_size(requests != NULL ? requests
	                               : lines != NULL  ? lines
	                                                : json_object_get(f, "sites"));

	for (size_t i = 0; i < count; i++)
		print_event(f, i, json_element(json_object_get(f, "threads"), i), out);
}

/* The pairs of lines of a library by which the two places race, if several. */
static void print_exact(const json_t *f, FILE *out)
{
	enum { MOST = 4 };
	const json_t *pairs = json_object_get(f, "exact");
	size_t count = json_array_size(pairs);

	for (size_t i = 0; i < count && i < MOST; i++)
		fprintf(out, "%s%s with %s", i ? ", " : "    inside of ",
		        json_element(json_array_get(pairs, i), 0),
		        json_element(json_array_get(pairs, i), 1));
	if (count > MOST)
		fprintf(out, " and %zu more", count - MOST);
	if (count > 0)
		fputc('\n', out);
}

/* The sets, and the grade (engine/atomic/grade.c). */
static void print_sets(const json_t *f, FILE *out)
{
	const json_t *sets = json_object_get(f, "sets");
	const char *grade = json_word(f, "grade");

	fprintf(out, "    %s",
	        json_array_size(sets) == 1 ? "in atomic set " : "needs atomic sets ");
	for (size_t i = 0; i < json_array_size(sets); i++)
		fprintf(out, "%s%s", i ? ", " : "", json_element(sets, i));
	fprintf(out, "%s\n",
	        *grade == 'A'
	                ? ": such units hold one lock for it, and one here did not (grade A)"
	        : *grade == 'B' ? ", as the specification declares (grade B)"
	        : *grade == 'C' ? ": sets and units are inferred, not declared (grade C)"
	                        : "");
}

static void print_unit(const json_t *unit, const char *after, FILE *out)
{
	fprintf(out, "%s (%s, %lld-%lld)%s", json_word(unit, "unit"), json_word(unit, "thread"),
	        number_of(unit, "begin"), number_of(unit, "end"), after);
}

static void print_cycle(const json_t *f, FILE *out)
{
	const json_t *units = json_object_get(f, "cycle");
	size_t i;
	json_t *edge;

	print_sets(f, out);
	json_array_foreach(json_object_get(f, "edges"), i, edge)
	{
		const json_t *ends[] = {
			json_array_get(units, (size_t)number_of(edge, "from")),
			json_array_get(units, (size_t)number_of(edge, "to")),
		};

		fputs("    ", out);
		print_unit(ends[0], " before ", out);
		print_unit(ends[1], ": ", out);
		fprintf(out, "%s\n", json_word(edge, "variable"));
		for (size_t k = 0; k < 2; k++)
			print_event(f, 2 * i + k, json_word(ends[k], "thread"), out);
	}
	fputs(has_verdict(f, VERDICT_CANDIDATE)
	              ? "    whether the outcome is one of no serial order is not known\n"
	              : "    so no serial order of these units has the same outcome\n",
	      out);
}

/* -- the evidence ---------------------------------------------------------------------------- */

/* Prints the waits; a cycle of requests for locks is said in one sentence. */
static void print_waits(const json_t *f, FILE *out)
{
	const json_t *waits = json_object_get(f, "waits");
	bool locks = finding_kind_of(f) == FINDING_DEADLOCK;
	size_t i;
	json_t *w;

	json_array_foreach((json_t *)waits, i, w) locks &=
	        strcmp(json_word(w, "for"), wait_for_word(WAIT_LOCK)) == 0;
	if (locks && !has_verdict(f, VERDICT_HAPPENED))
		return;
	json_array_foreach((json_t *)waits, i, w)
	        fprintf(out, "    %s\n", json_word(w, "text"));
}

/* The racy reads, worded as in finding_append_behind. */
static void print_racy_reads(const json_t *f, FILE *out)
{
	size_t i;
	json_t *r;

	json_array_foreach(json_object_get(f, "behind"), i, r)
	{
		fprintf(out, "%s%s (itself racing) is read ",
		        i == 0 ? "    only while " : " and ", json_word(r, "variable"));
		if (*json_word(r, "value"))
			fprintf(out, "as %s", json_word(r, "value"));
		else
			fprintf(out, "from event %lld", number_of(r, "write"));
		fprintf(out, ", by %s at %s", json_word(r, "thread"), json_word(r, "location"));
	}
	if (i > 0)
		fputs(": repair that first, or look behind it\n", out);
}

static void print_evidence(const json_t *f, FILE *out)
{
	const json_t *proof = json_object_get(f, "proof");
	const char *by = has_verdict(f, VERDICT_HAPPENED) ? "" : json_word(f, "by");
	const char *given = json_word(proof, "given");

	if (number_of(f, "witness") > 0)
		fprintf(out, "    witness of %lld events, checked%s%s\n",
		        number_of(f, "witness"), *by ? ", by " : "", by);
	if (*json_word(f, "needs"))
		fprintf(out, "    %s\n", json_word(f, "needs"));
	if (proof != NULL)
		fprintf(out, "    proved impossible by the %s%s%s\n",
		        json_word(proof, "method"), *given ? ", given the " : "", given);
	print_racy_reads(f, out);
	if (*json_word(f, "budget"))
		fprintf(out, "    unknown: %s\n",
		        open_reason_text(open_reason_of(json_word(f, "budget"))));
}

static void print_story(const json_t *f, FILE *out)
{
	g_auto(GStrv) lines = g_strsplit(json_word(f, "story"), "\n", -1);

	for (char **line = lines; *line; line++)
		if (**line)
			fprintf(out, "    %s\n", *line);
}

/* Of a report of several traces: the names of those that have it. */
static void print_traces(const json_t *f, FILE *out)
{
	enum { MOST = 4 };
	const json_t *names = json_object_get(f, "traces");
	if (names == NULL)
		names = json_object_get(f, "processes");
	size_t count = json_array_size(names);
	for (size_t i = 0; i < MIN(count, (size_t)MOST); i++)
		fprintf(out, "%s%s", i ? ", " : "    in ",
		        json_string_value(json_array_get(names, i)));
	if (count > MOST)
		fprintf(out, " and %zu more", count - MOST);
	if (count > 0)
		fputc('\n', out);
}

void finding_print(const json_t *f, FILE *out)
{
	print_heading(f, out);
	if (json_object_get(f, "cycle") != NULL) {
		print_cycle(f, out);
		print_traces(f, out);
		return;
	}
	print_events(f, out);
	print_exact(f, out);
	if (*json_word(f, "sentence"))
		fprintf(out, "    %s\n", json_word(f, "sentence"));
	if (*json_word(f, "after-main"))
		fprintf(out, "    %s\n", json_word(f, "after-main"));
	print_waits(f, out);
	print_story(f, out);
	if (*json_word(f, "missing") &&
	    strstr(json_word(f, "sentence"), json_word(f, "missing")) == NULL)
		fprintf(out, "    a %s %s\n", finding_kind_noun(finding_kind_of(f)),
		        json_word(f, "missing"));
	print_evidence(f, out);
	print_traces(f, out);
}
