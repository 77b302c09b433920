/*
 * exploration_text.c - see exploration_text.h.
 */
#include "tui/batch/print/exploration_text.h"
#include "engine/explore/explore.h"
#include "engine/trace/own_code.h"
#include "tui/batch/print/finding_json.h"
#include "tui/batch/print/names.h"
#include "tui/batch/print/point_json.h"
#include "tui/batch/reports/report_file.h"

#include <inttypes.h>
#include <string.h>

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* "note: " before each. */
static void print_notes(const json_t *sentences)
{
	size_t i;
	json_t *sentence;

	json_array_foreach((json_t *)sentences, i, sentence)
	        printf("note: %s\n", json_string_value(sentence));
}

/* -- findings ------------------------------------------------------------------------------- */

/* The number of all executions, including those for a schedule of an error with fewer
 * switches. */
static json_int_t all_runs(const json_t *report)
{
	return number_of(report, "executions") + number_of(report, "shortening");
}

/* "exit status 1, in 2 of 4 runs, first in run 1". An error is counted in runs that differ. */
static void print_ending(const json_t *report, const json_t *error)
{
	enum explore_end end = explore_end_of(json_word(error, "kind"));
	int status = (int)number_of(error, "status");
	json_int_t count = number_of(error, "count");
	json_int_t differ =
	        number_of(report, "states") + number_of(report, "shortening-states");
	json_int_t runs = MAX(differ, count);

	fputs("    ", stdout);
	if (end == EXPLORE_STATUS)
		printf("exit status %d, ", status);
	else if (end == EXPLORE_SIGNAL)
		printf("signal %d (%s), ", status, strsignal(status));
	printf("in %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
	       "%s run%s, first in run %" JSON_INTEGER_FORMAT "\n",
	       count, runs, runs < all_runs(report) ? " different" : "", plural((uint64_t)runs),
	       number_of(error, "run"));
}

static void print_way(const json_t *error)
{
	const json_t *way = json_object_get(error, "way");
	size_t i;
	json_t *step;

	if (json_array_size(way) > 0)
		puts("    differs from run 0 in this:");
	json_array_foreach((json_t *)way, i, step)
	        printf("      %s\n", json_string_value(step));
}

/* Prints the point after which the error can no longer be avoided. */
static void print_point(const json_t *error)
{
	g_autofree char *text = point_text(json_object_get(error, "point-of-no-return"));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++)
		if (**line)
			printf("    %s\n", *line);
}

static void print_error(const json_t *report, const json_t *error)
{
	json_auto_t *finding = finding_of_explored(error);
	enum explore_end end = explore_end_of(json_word(error, "kind"));
	const char *shortest = json_word(error, "shortest-trace"),
	           *trace = *shortest ? shortest : json_word(error, "trace");

	json_object_del(finding, "count"); /* print_ending prints the count of runs */
	if (end == EXPLORE_LINEARIZABILITY || end == EXPLORE_SPECIFICATION)
		json_object_set_new(finding, "kind", json_string(explore_end_word(end)));
	finding_print(finding, stdout);
	print_ending(report, error);
	print_way(error);
	print_point(error);
	if (*trace)
		printf("    heddle %s\n", trace);
}

/* The names of a race's variables as people write them, each once. */
static json_t *own_names(const json_t *race)
{
	const json_t *names = json_object_get(race, "variables");
	json_t *own = json_array();
	size_t i;

	for (i = 0; i < json_array_size(names) || i == 0; i++) {
		g_autoptr(GString) name = g_string_new(NULL);
		own_code_append_name(
		        names ? json_element(names, i) : json_word(race, "variable"), name);
		json_auto_t *one = json_pack("{s:[s]}", "names", name->str),
		            *all = json_pack("{sO}", "names", own);
		json_add_elements(all, one, "names");
	}
	return own;
}

/* Prints the races; returns their number. */
static guint print_races(const json_t *races)
{
	size_t i;
	json_t *race;

	json_array_foreach((json_t *)races, i, race)
	{
		json_auto_t *finding = finding_of_explored(race);
		json_object_set_new(finding, "variables", own_names(race));
		finding_print(finding, stdout);
		printf("    first in run %" JSON_INTEGER_FORMAT "\n", number_of(race, "run"));
		if (*json_word(race, "trace"))
			printf("    heddle %s\n", json_word(race, "trace"));
	}
	return (guint)json_array_size(races);
}

/* -- what is covered ------------------------------------------------------------------------ */

/* A property of the program that no schedule explains and that voids the result; or NULL.
 * Owned by the caller. */
static char *what_voids(const json_t *report)
{
	static const struct {
		enum explore_end end;
		const char *text;
	} voids[] = { { EXPLORE_USE_AFTER_FREE, "uses after free" },
		      { EXPLORE_UNWRITTEN, "reads of uninitialised memory" } };
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	if (json_array_size(json_object_get(report, "races")) > 0)
		g_ptr_array_add(words, (char *)"data races");
	for (size_t k = 0; k < G_N_ELEMENTS(voids); k++) {
		bool any = false;
		size_t i;
		json_t *error;
		json_array_foreach(json_object_get(report, "errors"), i, error) any |=
		        explore_end_of(json_word(error, "kind")) == voids[k].end;
		if (any)
			g_ptr_array_add(words, (char *)voids[k].text);
	}
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < words->len; i++)
		g_string_append_printf(text, "%s%s",
		                       i == 0                ? ""
		                       : i + 1 == words->len ? " and "
		                                             : ", ",
		                       (const char *)words->pdata[i]);
	return g_string_free(text, words->len == 0);
}

/* How far a promise goes: ", but for which of the threads that are alike does what (1 class
 * stands for 6)", " (but data races may be missed)". Owned by the caller. */
static char *limits_of(const json_t *report)
{
	json_int_t of = number_of(report, "stand-for"), states = number_of(report, "states");
	GString *text = g_string_new(NULL);
	json_int_t spurious = number_of(report, "spurious");

	if (spurious > 0)
		g_string_append_printf(text,
		                       ", with at most %" JSON_INTEGER_FORMAT
		                       " spurious wake-up%s in a run, of waits without a "
		                       "time limit",
		                       spurious, plural((uint64_t)spurious));
	if (of > 0)
		g_string_append_printf(text,
		                       " but for which of the threads that are alike does what "
		                       "(%" JSON_INTEGER_FORMAT
		                       " class%s for %" JSON_INTEGER_FORMAT ")",
		                       states, states == 1 ? "" : "es", of);
	/* what may be missed is named by a note */
	if (json_array_size(json_object_get(report, "races-open")) > 0)
		g_string_append(text, " (but data races may be missed)");
	return g_string_free(text, FALSE);
}

static void print_completeness(const json_t *report)
{
	g_autofree char *but = what_voids(report);
	const char *shard = json_word(report, "shard");
	const json_t *bound = json_object_get(report, "bound");
	json_int_t most = number_of(bound, "preemptions");
	bool complete = json_is_true(json_object_get(report, "complete"));
	g_autofree char *open = limits_of(report);

	if (complete && *shard)
		printf("complete for share %s of what follows from the first run%s%s%s%s\n",
		       shard, open, but ? ", except for what its " : "", but ? but : "",
		       but ? " allow" : "");
	else if (complete && but)
		printf("complete for this input%s, except for what its %s allow: with them a "
		       "program may do more than any schedule shows\n",
		       open, but);
	else if (complete)
		printf("complete for this input%s: whatever %s, the program behaves as in one of "
		       "these runs\n",
		       open,
		       number_of(report, "graphs") > 0
		               ? "its loads may read by this memory model"
		               : "the schedule");
	else if (json_is_true(json_object_get(bound, "complete")))
		printf("complete for schedules with at most %" JSON_INTEGER_FORMAT
		       " preemption%s%s%s%s%s\n",
		       most, plural((uint64_t)most), open, but ? ", except for what its " : "",
		       but ? but : "", but ? " allow" : "");
	else
		puts("not complete");
}

/* "./bank: 1 finding in 4 runs, all different, complete for this input: ..." */
static void print_summary(const json_t *report, guint findings)
{
	json_int_t runs = number_of(report, "executions"),
	           different = number_of(report, "states");

	printf("%s: %u finding%s in %" JSON_INTEGER_FORMAT " run%s",
	       json_word(report, "program"), findings, plural(findings), runs,
	       plural((uint64_t)runs));
	if (different != runs)
		printf(", %" JSON_INTEGER_FORMAT " of them different", different);
	else if (runs > 1)
		printf(", all different");
	fputs(", ", stdout);
	print_completeness(report);
}

/* "failed assertions, crashes, deadlocks" */
static void print_list(const json_t *words)
{
	size_t i;
	json_t *word;

	json_array_foreach((json_t *)words, i, word)
	        printf("%s%s", i ? ", " : "", json_string_value(word));
}

/* A promise of completeness is of the kinds of error that were looked for. */
static void print_sought(const json_t *report)
{
	const json_t *bound = json_object_get(report, "bound");
	bool promised = json_is_true(json_object_get(report, "complete")) ||
	                json_is_true(json_object_get(bound, "complete"));

	/* a report by an earlier version has no lists */
	if (!promised || json_array_size(json_object_get(report, "looked-for")) == 0)
		return;
	fputs("note: looked for: ", stdout);
	print_list(json_object_get(report, "looked-for"));
	fputs("\nnote: not looked for: ", stdout);
	print_list(json_object_get(report, "not-looked-for"));
	putchar('\n');
}

/* -- notes ---------------------------------------------------------------------------------- */

static void print_graphs(const json_t *report)
{
	json_int_t graphs = number_of(report, "graphs"),
	           blocked = number_of(report, "graphs-blocked");

	if (graphs == 0)
		return;
	printf("note: %" JSON_INTEGER_FORMAT " execution graph%s under --memory %s", graphs,
	       plural((uint64_t)graphs), json_word(report, "memory"));
	if (blocked > 0)
		printf(", %" JSON_INTEGER_FORMAT " of them with threads that wait for ever",
		       blocked);
	putchar('\n');
}

/* "with release at a.c:31 and acquire at a.c:40 in place of the program's own orders" */
static void print_orders(const json_t *orders)
{
	size_t i, count = json_array_size(orders);
	json_t *order;

	json_array_foreach((json_t *)orders, i, order)
	        printf("%s%s at %s",
	               i == 0           ? "note: with "
	               : i + 1 == count ? " and "
	                                : ", ",
	               json_word(order, "order"), json_word(order, "place"));
	if (count > 0)
		puts(" in place of the program's own orders");
}

/* An estimated number: "5040", "3.2 x 10^9"; owned by the caller. */
static char *estimated(json_int_t number)
{
	enum { EXACT = 1000000 };
	double rest = (double)number;
	int power = 0;

	if (number < EXACT)
		return g_strdup_printf("%" JSON_INTEGER_FORMAT, number);
	while (rest >= 9.95) {
		rest /= 10;
		power++;
	}
	return g_strdup_printf("%.1f x 10^%d", rest, power);
}

static void print_estimate(const json_t *estimate)
{
	const json_t *spread = json_object_get(estimate, "spread");
	json_int_t classes = number_of(estimate, "classes");
	g_autofree char *low = estimated(json_integer_value(json_array_get(spread, 0))),
	                *high = estimated(json_integer_value(json_array_get(spread, 1))),
	                *mean = estimated(classes);

	if (classes >= (json_int_t)ESTIMATE_MOST)
		puts("note: more than 10^15 different runs in all, estimated from those that "
		     "were made");
	else if (estimate != NULL)
		printf("note: about %s different runs in all, estimated from those that were "
		       "made (%s to %s in eight of ten estimates)\n",
		       mean, low, high);
}

/* Where the number of runs comes from, if there are too many. */
static void print_partings(const json_t *report)
{
	enum { SHOWN = 3, FEWEST = 30 };
	json_int_t all = all_runs(report), shown = 0;
	size_t i;
	json_t *one;

	if (number_of(report, "waiting") == 0 || all < FEWEST)
		return;
	json_array_foreach(json_object_get(report, "partings"), i, one)
	{
		g_autoptr(GString) name = g_string_new(NULL);

		if (number_of(one, "runs") * 10 < all || shown == SHOWN)
			break;
		own_code_append_name(json_word(one, "variable"), name);
		printf("%s%s (%s) in %" JSON_INTEGER_FORMAT,
		       shown++ == 0 ? "note: where runs part from each other: " : ", ",
		       name->str, json_word(one, "place"), number_of(one, "runs"));
	}
	if (shown > 0)
		printf(" of %" JSON_INTEGER_FORMAT
		       "; a specification of such an object (--spec) may make fewer runs\n",
		       all);
}

/* Reorderings that the specifications made unnecessary, in the first run with some. */
static void print_commuting(const json_t *commuting)
{
	const json_t *first = json_object_get(commuting, "first");
	json_int_t pairs = number_of(commuting, "pairs");
	size_t i;
	json_t *pair;

	if (commuting == NULL)
		return;
	printf("note: in run %" JSON_INTEGER_FORMAT ", %" JSON_INTEGER_FORMAT
	       " pair%s of calls commute%s by the specification: the other order was not run\n",
	       number_of(commuting, "run"), pairs, plural((uint64_t)pairs),
	       pairs == 1 ? "s" : "");
	json_array_foreach((json_t *)first, i, pair)
	        printf("    %s\n", json_string_value(pair));
	if (pairs > (json_int_t)json_array_size(first))
		puts("    ...");
}

static void print_counts(const json_t *report)
{
	json_int_t pruned = number_of(report, "pruned"),
	           abandoned = number_of(report, "abandoned"),
	           shortening = number_of(report, "shortening");

	if (pruned > 0)
		printf("note: these runs cover %" JSON_INTEGER_FORMAT
		       " more schedule%s, which %s not run\n",
		       pruned, plural((uint64_t)pruned), pruned == 1 ? "was" : "were");
	if (abandoned > 0)
		printf("note: %" JSON_INTEGER_FORMAT " more run%s before that was known\n",
		       abandoned, plural((uint64_t)abandoned));
	if (shortening > 0)
		printf("note: %" JSON_INTEGER_FORMAT
		       " more run%s, for a schedule of the error with fewer switches\n",
		       shortening, plural((uint64_t)shortening));
}

/* Runs that end well and print different things, though nobody has said which is right. */
static void print_outputs(const json_t *report)
{
	const json_t *outputs = json_object_get(report, "outputs"), *first;
	size_t i;
	json_t *run;

	if (outputs == NULL)
		return;
	first = json_object_get(outputs, "first");
	printf("note: runs that end well print %" JSON_INTEGER_FORMAT
	       " different outputs ('heddle check --expect FILE' takes which is right); their "
	       "last lines: ",
	       number_of(outputs, "count"));
	json_array_foreach((json_t *)first, i, run)
	        printf("%s'%s' (run %" JSON_INTEGER_FORMAT ")", i == 0 ? "" : ", ",
	               json_word(run, "printed"), number_of(run, "run"));
	puts(number_of(outputs, "count") > (json_int_t)json_array_size(first) ? ", ..." : "");
}

void exploration_print(const json_t *report)
{
	const json_t *errors = json_object_get(report, "errors");
	size_t i;
	json_t *error;

	json_array_foreach((json_t *)errors, i, error) print_error(report, error);
	guint races = print_races(json_object_get(report, "races"));
	print_summary(report, (guint)json_array_size(errors) + races);
	/* what the last line rests on first, figures last */
	print_orders(json_object_get(report, "orders"));
	print_notes(json_object_get(report, "gaps"));
	print_notes(json_object_get(report, "races-open"));
	print_notes(json_object_get(report, "notes"));
	print_outputs(report);
	print_sought(report);
	print_graphs(report);
	print_estimate(json_object_get(report, "estimate"));
	print_partings(report);
	print_commuting(json_object_get(report, "commuting"));
	print_counts(report);
}

/* By way of the findings that a report read from a file has. */
void exploration_list(const json_t *report, enum output_format format)
{
	json_auto_t *found = json_pack(
	        "{s:O, s:O, s:O, s:O}", "heddle", json_object_get(report, "heddle"),
	        "executions", json_object_get(report, "executions"), "errors",
	        json_object_get(report, "errors"), "races", json_object_get(report, "races"));
	struct report_file *file = report_file_of_json("explore", found);
	struct sarif *s = sarif_begin(stdout, format);
	for (guint i = 0; i < file->findings->len; i++)
		sarif_add(s, g_array_index(file->findings, struct filed_finding, i).fields,
		          NULL);
	sarif_end(s);
	report_file_free(file);
}
