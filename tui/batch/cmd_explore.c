/*
 * cmd_explore.c - `heddle explore`: runs a program along every schedule that matters and prints
 * the errors, as text, JSON, and a tree for the explorer.
 */
#include "engine/record/recorded.h"
#include "engine/explore/explore.h"
#include "engine/trace/own_code.h"
#include "tui/batch/command.h"
#include "tui/batch/print/exploration_text.h"
#include "tui/batch/print/terminal.h"
#include "tui/batch/print/explore_tree.h"
#include "tui/batch/print/linear_json.h"
#include "tui/batch/print/point_json.h"
#include "tui/batch/print/print.h"
#include "tui/batch/reports/partings.h"
#include "tui/batch/reports/report_file.h"
#include "tui/batch/shares/shares.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- JSON: the report, and the tree that the explorer opens ------------------------------- */

static json_t *text_or_null(const char *text)
{
	return text && *text ? json_text(text) : json_null();
}

/* A text of several lines, kept as lines. */
static json_t *story_json(const char *story)
{
	if (story == NULL || *story == '\0')
		return json_null();
	GString *text = g_string_new(NULL);
	char **lines = g_strsplit(story, "\n", -1);
	for (char **l = lines; *l; l++) {
		g_string_append(text, l == lines ? "" : "\n");
		append_escaped(text, *l, strlen(*l));
	}
	json_t *j = json_stringn(text->str, text->len);
	g_strfreev(lines);
	g_string_free(text, TRUE);
	return j;
}

static json_t *texts_json(const GPtrArray *texts)
{
	json_t *list = json_array();
	for (guint i = 0; i < texts->len; i++)
		json_array_append_new(list, json_text(texts->pdata[i]));
	return list;
}

static json_t *runs_json(const struct explore_report *r)
{
	json_t *list = json_array();
	for (guint i = 0; i < r->runs->len; i++) {
		const struct explore_run *run = &g_array_index(r->runs, struct explore_run, i);
		json_t *item = json_pack(
		        "{s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:i, s:o, s:I, s:I, s:b, s:o, "
		        "s:o}",
		        "run", (int)i, "parent",
		        run->parent == NONE ? json_null() : json_integer(run->parent), "flip",
		        text_or_null(run->reversal), "thread", text_or_null(run->thread),
		        "place", text_or_null(run->place), "variable",
		        text_or_null(run->variable), "end", explore_end_word(run->end),
		        "status", run->status, "story", story_json(run->story), "events",
		        (json_int_t)run->events, "pruned", (json_int_t)run->pruned, "redundant",
		        run->redundant, "trace", text_or_null(run->trace), "class",
		        json_sprintf("%016" PRIx64, run->class_));
		json_object_set_new(item, "inside-library", json_boolean(run->library));
		json_object_set_new(item, "switches", json_integer(run->switches));
		json_object_set_new(item, "error",
		                    run->error == NONE ? json_null()
		                                       : json_integer(run->error));
		json_object_set_new(item, "printed", text_or_null(run->printed));
		if (run->output != 0)
			json_object_set_new(item, "output",
			                    json_sprintf("%016" PRIx64, run->output));
		if (run->commuting_count > 0) {
			json_object_set_new(item, "commuting", texts_json(run->commuting));
			json_object_set_new(item, "commuting-pairs",
			                    json_integer((json_int_t)run->commuting_count));
		}
		json_array_append_new(list, item);
	}
	return list;
}

static json_t *error_places_json(const struct explore_error *e)
{
	return e->places ? texts_json(e->places) : json_array();
}

static const struct explore_run *run_at(const struct explore_report *r, uint32_t run)
{
	return &g_array_index(r->runs, struct explore_run, run);
}

/* The reversals from the first run to this one; of a long list the last few. */
static json_t *way_json(const struct explore_report *r, uint32_t run)
{
	enum { MOST = 12 };
	json_t *way = json_array();
	int count = 0;
	const struct explore_run *at = run_at(r, run);
	for (; at->parent != NONE && count < MOST; at = run_at(r, at->parent), count++)
		json_array_insert_new(way, 0,
		                      json_sprintf("%s%s%s%s", at->reversal,
		                                   *at->place ? " (" : "", at->place,
		                                   *at->place ? ")" : ""));
	if (at->parent != NONE)
		json_array_insert_new(way, 0, json_string("..."));
	return way;
}

static json_t *errors_json(const struct explore_report *r)
{
	json_t *list = json_array();
	for (guint i = 0; i < r->errors->len; i++) {
		const struct explore_error *e =
		        &g_array_index(r->errors, struct explore_error, i);
		const struct explore_run *run = run_at(r, e->run);
		json_t *item = json_pack(
		        "{s:s, s:i, s:o, s:o, s:i, s:I, s:o}", "kind", explore_end_word(e->end),
		        "status", e->status, "story", story_json(e->story), "locations",
		        error_places_json(e), "run", (int)e->run, "count", (json_int_t)e->count,
		        "trace", text_or_null(run->trace));
		json_object_set_new(item, "shortest", json_integer(e->shortest));
		/* the run shown in the report: of a history the smallest */
		json_object_set_new(item, "way",
		                    way_json(r, e->history ? e->shortest : e->run));
		if (e->history != NULL) {
			json_object_set_new(item, "history", history_json(e->history));
			json_object_set_new(item, "shortest-trace",
			                    text_or_null(run_at(r, e->shortest)->trace));
		}
		json_t *point = point_json(r, i);
		if (point != NULL)
			json_object_set_new(item, "point-of-no-return", point);
		json_array_append_new(list, item);
	}
	return list;
}

static json_t *races_json(const struct explore_report *r)
{
	json_t *list = json_array();
	for (guint i = 0; i < r->races->len; i++) {
		const struct explore_race *race =
		        &g_array_index(r->races, struct explore_race, i);
		if (!explore_race_begins(r, i))
			continue;
		json_t *item =
		        json_pack("{s:[o, o], s:[o, o], s:o, s:i, s:o}", "locations",
		                  json_text(race->own_first), json_text(race->own_second),
		                  "sites", json_text(race->first), json_text(race->second),
		                  "variable", json_text(race->variable), "run", (int)race->run,
		                  "trace", text_or_null(run_at(r, race->run)->trace));
		json_set_explored(r, i, item);
		json_array_append_new(list, item);
	}
	return list;
}

/* Executions that looked for new classes. */
static uint64_t searching(const struct explore_report *r)
{
	return r->runs->len - r->shortening;
}

static uint64_t redundant(const struct explore_report *r)
{
	uint64_t count = 0;
	for (guint i = 0; i < searching(r); i++)
		count += g_array_index(r->runs, struct explore_run, i).redundant;
	return count;
}

/* Pairs of calls whose other order the specifications made unnecessary, in the first run that
 * has some: {"run", "pairs", "first": [...]}; or NULL. */
static json_t *commuting_json(const struct explore_report *r)
{
	enum { MOST = 3 };
	uint32_t first = 0;
	while (first < r->runs->len && run_at(r, first)->commuting_count == 0)
		first++;
	if (first == r->runs->len)
		return NULL;
	const struct explore_run *run = run_at(r, first);
	json_t *pairs = json_array();
	for (guint i = 0; i < run->commuting->len && i < MOST; i++)
		json_array_append_new(pairs, json_text(run->commuting->pdata[i]));
	return json_pack("{s:i, s:I, s:o}", "run", (int)first, "pairs",
	                 (json_int_t)run->commuting_count, "first", pairs);
}

static json_t *words_json(const char *const *words)
{
	json_t *list = json_array();
	for (; *words != NULL; words++)
		json_array_append_new(list, json_string(*words));
	return list;
}

/* Do the classes stand for others, too (--symmetry)? */
static bool stand_for_more(const struct explore_report *r)
{
	return r->stand_for > r->classes;
}

static json_t *partings_json(const struct explore_report *r)
{
	struct partings *p = partings_new();

	for (guint i = 0; i < r->runs->len; i++)
		partings_add(p, run_at(r, i)->variable, run_at(r, i)->place);
	return partings_end(p);
}

/* What was asked for beyond every schedule of sequentially consistent memory. */
static void add_asked(json_t *root, const struct explore_report *r,
                      const struct explore_asked *asked)
{
	if (asked->bounded)
		json_object_set_new(root, "bound",
		                    json_pack("{s:i, s:b}", "preemptions",
		                              (int)asked->preemptions, "complete",
		                              r->complete_within));
	if (asked->spurious > 0)
		json_object_set_new(root, "spurious", json_integer(asked->spurious));
	json_object_set_new(root, "memory", json_string(asked->memory));
	for (guint i = 0; asked->orders && i < asked->orders->len; i++) {
		const struct explore_order *o =
		        &g_array_index(asked->orders, struct explore_order, i);
		if (i == 0)
			json_object_set_new(root, "orders", json_array());
		json_array_append_new(json_object_get(root, "orders"),
		                      json_pack("{s:o, s:s}", "place", json_text(o->place),
		                                "order", explore_order_words[o->order]));
	}
	if (strcmp(asked->memory, "sc") != 0) {
		json_object_set_new(root, "graphs", json_integer((json_int_t)r->graphs));
		json_object_set_new(root, "graphs-blocked",
		                    json_integer((json_int_t)r->graphs_blocked));
	}
	if (asked->shard)
		json_object_set_new(root, "shard", json_string(asked->shard));
	if (asked->shard)
		json_object_set_new(root, "kernel-threads", json_boolean(r->kernel_threads));
}

/* NULL: all runs that end well print the same. */
static json_t *outputs_json(const struct explore_report *r)
{
	enum { SHOWN = 4 };
	g_autoptr(GArray) outputs = explore_outputs(r);
	if (outputs->len < 2)
		return NULL;
	json_t *first = json_array();
	for (guint i = 0; i < MIN(outputs->len, SHOWN); i++) {
		uint32_t run = g_array_index(outputs, uint32_t, i);
		json_array_append_new(first, json_pack("{s:i, s:o}", "run", (int)run, "printed",
		                                       text_or_null(run_at(r, run)->printed)));
	}
	return json_pack("{s:i, s:o}", "count", (int)outputs->len, "first", first);
}

/* The report without "runs", the largest part of a long one. */
static json_t *summary_json(const struct explore_report *r, const struct explore_asked *asked)
{
	json_t *root = json_pack(
	        "{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o}",
	        "heddle", HEDDLE_VERSION, "program", json_text(asked->program), "options",
	        json_text(asked->options), "executions", (json_int_t)searching(r), "pruned",
	        (json_int_t)r->pruned, "states",
	        (json_int_t)(r->classes - r->shortening_classes), "redundant",
	        (json_int_t)redundant(r), "waiting", (json_int_t)r->waiting, "abandoned",
	        (json_int_t)r->abandoned, "complete", r->complete, "gaps",
	        texts_json(r->reasons), "notes", texts_json(r->notes), "errors", errors_json(r),
	        "races", races_json(r));
	json_object_set_new(root, "partings", partings_json(r));
	if (r->races_open->len > 0)
		json_object_set_new(root, "races-open", texts_json(r->races_open));
	json_object_set_new(root, "threads", texts_json(r->threads));
	json_object_set_new(root, "looked-for", words_json(explore_sought));
	json_object_set_new(root, "not-looked-for", words_json(explore_unsought));
	if (stand_for_more(r))
		json_object_set_new(root, "stand-for", json_integer((json_int_t)r->stand_for));
	json_t *outputs = outputs_json(r);
	if (outputs != NULL)
		json_object_set_new(root, "outputs", outputs);
	json_t *commuting = commuting_json(r);
	if (commuting != NULL)
		json_object_set_new(root, "commuting", commuting);
	if (r->filled > 0)
		json_object_set_new(root, "filled", json_integer((json_int_t)r->filled));
	if (r->shortening > 0) {
		json_object_set_new(root, "shortening",
		                    json_integer((json_int_t)r->shortening));
		json_object_set_new(root, "shortening-states",
		                    json_integer((json_int_t)r->shortening_classes));
	}
	if (r->estimate.classes > 0)
		json_object_set_new(root, "estimate",
		                    json_pack("{s:I, s:[I, I]}", "classes",
		                              (json_int_t)r->estimate.classes, "spread",
		                              (json_int_t)r->estimate.low,
		                              (json_int_t)r->estimate.high));
	/* for the first error that has a point */
	for (guint i = 0; i < r->points->len && i < 1; i++)
		json_object_set_new(
		        root, "point-of-no-return",
		        point_json(r, g_array_index(r->points, struct explore_point, i).error));
	add_asked(root, r, asked);
	return root;
}

static json_t *report_json(const struct explore_report *r, const struct explore_asked *asked)
{
	json_t *root = summary_json(r, asked);
	json_object_set_new(root, "runs", runs_json(r));
	return root;
}

static bool write_tree(const struct explore_report *r, const struct explore_asked *asked,
                       const char *path, struct error *error)
{
	json_t *root = report_json(r, asked);
	char *text = json_dumps(root, JSON_INDENT(1));
	json_decref(root);
	bool good = file_may_become(path, FILE_REPORT, error) &&
	            file_write_whole(path, text, strlen(text), error);
	free(text);
	return good;
}

bool explore_write_tree(const struct explore_report *r, const char *program, const char *path,
                        struct error *error)
{
	struct explore_asked asked = { .program = program, .memory = "sc", .options = "" };
	return write_tree(r, &asked, path, error);
}

/* -- the command --------------------------------------------------------------------------- */

enum { LONGEST = 1000000 }; /* bound on the seconds for a run */

static double seconds_of(const struct arguments *a, const char *name, double otherwise)
{
	const char *text = argument_value(a, name);
	char *end = NULL;
	double value = text ? g_ascii_strtod(text, &end) : otherwise;
	if (text && (end == text || *end || !(value >= 0)))
		exit(usage_error(a, "--%s wants seconds, found '%s'", name, text));
	return value;
}

static char *options_text(const struct arguments *a)
{
	static const char *const compared[] = { "final", "check",  "steps",
		                                "seed",  "memory", "bound" };
	GString *text = g_string_new(NULL);
	GPtrArray *files = argument_values(a, "spec");
	for (guint i = 0; i < files->len; i++)
		g_string_append_printf(text, "%s--spec %s", text->len ? " " : "",
		                       (char *)files->pdata[i]);
	g_ptr_array_unref(files);
	for (size_t i = 0; i < G_N_ELEMENTS(compared); i++) {
		const char *value = argument_value(a, compared[i]);
		if (value)
			g_string_append_printf(text, "%s--%s %s", text->len ? " " : "",
			                       compared[i], value);
	}
	return g_string_free(text, FALSE);
}

/* Prints as SARIF or as lines for editors, from the JSON of a report file. */
static void print_list(const struct explore_report *r, enum output_format format)
{
	json_auto_t *report =
	        json_pack("{s:s, s:i, s:o, s:o}", "heddle", HEDDLE_VERSION, "executions",
	                  (int)r->runs->len, "errors", errors_json(r), "races", races_json(r));
	exploration_list(report, format);
}

int explore_print(const struct explore_report *r, const struct explore_asked *asked,
                  enum output_format format)
{
	if (format == FORMAT_JSON) {
		json_t *root = report_json(r, asked);
		json_dumpf(root, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(root);
	} else if (format != FORMAT_TEXT) {
		print_list(r, format);
	} else {
		json_auto_t *summary = summary_json(r, asked);
		excerpts_begin(NULL);
		exploration_print(summary);
		excerpts_end();
	}
	return r->errors->len || r->races->len ? EXIT_FOUND
	       : r->complete                   ? EXIT_NOTHING
	                                       : EXIT_BUDGET;
}

static int explore_with(struct arguments *a, struct explore_options *o)
{
	struct error error = { 0 };
	struct explore_asked asked = { .program = o->argv[0],
		                       .shard = argument_value(a, "shard"),
		                       .memory = memory_model_word(o->memory),
		                       .bounded = o->bounded,
		                       .preemptions = o->preemptions,
		                       .spurious = o->spurious,
		                       .orders = o->orders };
	enum output_format format = argument_format(a, true);
	char *text = options_text(a);
	o->interrupted = catch_interruption();
	o->options_text = asked.options = text;
	struct explore_report *r = explore(o, progress_on_stderr(), &error);
	progress_done();
	int status = r == NULL ? fail(&error) : explore_print(r, &asked, format);
	if (r != NULL && o->save && !write_tree(r, &asked, o->save, &error)) {
		/* the report is not lost with its file */
		explore_name_kept(r, &error);
		status = fail(&error);
	}
	g_free(text);
	explore_report_free(r);
	return status;
}

/* The memory model, or a usage error with an exit. */
static enum memory_model model_of(const struct arguments *a)
{
	static const char *const others[] = {
		"spec", "results", "final",  "check", "shard",
		"jobs", "seed",    "resume", "bound", "spurious"
	};
	const char *word = argument_value(a, "memory");
	enum memory_model model = MEMORY_SC;
	if (word != NULL && !memory_model_parse(word, &model))
		exit(usage_error(a, "--memory wants sc, tso or rc11, found '%s'", word));
	for (size_t i = 0; model != MEMORY_SC && i < G_N_ELEMENTS(others); i++)
		if (argument_value(a, others[i]) != NULL)
			exit(usage_error(a, "--memory %s goes without --%s", word, others[i]));
	return model;
}

/* --order PLACE=ORDER, or a usage error with an exit: GArray of struct explore_order, whose places
 * are in `words`; NULL: none. */
static GArray *read_orders(struct arguments *a, enum memory_model memory, GPtrArray *words)
{
	GArray *orders = g_array_new(FALSE, TRUE, sizeof(struct explore_order));
	for (guint i = 0; i < words->len; i++) {
		char *place = words->pdata[i], *equals = strrchr(place, '=');
		struct explore_order o = { .order = ORDER_RLX, .place = place };
		while (equals && explore_order_words[o.order] &&
		       strcmp(explore_order_words[o.order], equals + 1) != 0)
			o.order++;
		if (equals == NULL || equals == place || explore_order_words[o.order] == NULL)
			exit(usage_error(
			        a,
			        "--order wants FILE:LINE=ORDER, ORDER relaxed, acquire, "
			        "release, acq_rel or seq_cst, found '%s'",
			        place));
		*equals = '\0';
		g_array_append_val(orders, o);
	}
	if (orders->len > 0 && memory != MEMORY_RC11)
		exit(usage_error(a, "--order goes with --memory rc11 alone"));
	return orders;
}

/* --bound preemptions=N, or a usage error with an exit. */
static void read_bound(struct arguments *a, struct explore_options *o)
{
	static const char kind[] = "preemptions=";
	const char *text = argument_value(a, "bound");
	char *end = NULL;
	if (text == NULL)
		return;
	const char *number = g_str_has_prefix(text, kind) ? text + strlen(kind) : "";
	guint64 n = g_ascii_isdigit(*number) ? g_ascii_strtoull(number, &end, 10) : 0;
	if (end == NULL || *end || n > MOST_PREEMPTIONS)
		exit(usage_error(a, "--bound wants preemptions=N, N from 0 to %d, found '%s'",
		                 MOST_PREEMPTIONS, text));
	if (argument_value(a, "spec") != NULL)
		exit(usage_error(a, "--bound goes without --spec: it counts switches between "
		                    "single events"));
	o->bounded = true;
	o->preemptions = (uint32_t)n;
}

/* --spurious N, or a usage error with an exit. */
static uint32_t read_spurious(const struct arguments *a)
{
	uint64_t n = argument_number(a, "spurious", 0);
	if (n > MOST_SPURIOUS)
		exit(usage_error(a, "--spurious wants at most %d", MOST_SPURIOUS));
	return (uint32_t)n;
}

/* A usage error with an exit, for options that --symmetry goes without. */
static void check_symmetry(struct arguments *a)
{
	static const char *const others[] = { "spec", "memory", "bound", "shard" };
	for (size_t i = 0; argument_flag(a, "symmetry") && i < G_N_ELEMENTS(others); i++)
		if (argument_value(a, others[i]) != NULL)
			exit(usage_error(a, "--symmetry goes without --%s", others[i]));
}

/* The options that stand for themselves: without specifications, shares, bounds and orders. */
static struct explore_options options_of(const struct arguments *a)
{
	return (struct explore_options){
		.argv = a->rest,
		.resume = argument_value(a, "resume"),
		.save = argument_output(a, false, FILE_REPORT),
		.seed = argument_number(a, "seed", 0),
		.max_runs = argument_number(a, "runs", EXPLORE_RUNS),
		.max_steps = argument_number(a, "steps", 0),
		.spurious = read_spurious(a),
		.seconds = seconds_of(a, "budget", EXPLORE_SECONDS),
		.by_results = argument_flag(a, "results"),
		.linearizable = argument_flag(a, "linearizable"),
		.symmetry = argument_flag(a, "symmetry"),
		.until_error = argument_flag(a, "until-error"),
		.memory = model_of(a),
		.query_seconds = 1,
		.timeout_ms = (unsigned)(MIN(seconds_of(a, "timeout", 10), LONGEST) * 1000)
	};
}

static int run(struct arguments *a)
{
	struct error error = { 0 };
	char **argv = a->rest;
	if (!argv || !argv[0])
		return no_program(a);
	struct explore_options o = options_of(a);
	if (o.linearizable && argument_value(a, "spec") == NULL)
		return usage_error(a,
		                   "--linearizable wants the effects of the methods: --spec");
	if (o.linearizable && o.by_results)
		return usage_error(a, "--linearizable goes without --results: no invocation is "
		                      "taken to be one step");
	read_bound(a, &o);
	check_symmetry(a);
	recorded_remember(argv);
	argument_format(a, true);
	argument_shard(a, &o.shard, &o.shards);
	bool divided = shares_asked(a, false);
	GPtrArray *files = argument_values(a, "spec");
	GPtrArray *given = argument_values(a, "order"),
	          *words = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < given->len; i++)
		g_ptr_array_add(words, g_strdup(given->pdata[i]));
	GArray *orders = read_orders(a, o.memory, words);
	o.orders = orders;
	struct specs *specs = files->len ? specs_open(files, &error) : NULL;
	struct finals *finals = files->len && !specs
	                                ? NULL
	                                : finals_new(argument_value(a, "final"),
	                                             argument_value(a, "check"), &error);
	int status;
	o.spec_files = files;
	o.specs = specs;
	o.finals = finals;
	if (finals == NULL)
		status = fail(&error);
	else
		status = divided ? shares_run(a) : explore_with(a, &o);
	finals_free(finals);
	if (specs)
		specs_free(specs);
	g_ptr_array_unref(files);
	g_ptr_array_unref(given);
	g_ptr_array_unref(words);
	g_array_unref(orders);
	return status;
}

static const struct command_option options[] = {
	{ "output", "FILE",
	  "keep the tree in FILE, and traces of failing runs as FILE.runN.hdl", 'o' },
	OPTION_BEFORE,
	{ "spec", "FILE", "invocations of its objects are single steps, and may commute", 0 },
	{ "results", NULL,
	  "orders of invocations with the same results are one, where the effects determine the results",
	  0 },
	{ "linearizable", NULL,
	  "with --spec: are the objects linearizable?  In each schedule, can the calls on each be put "
	  "in an order, each between its beginning and its return, that explains what they returned?",
	  0 },
	{ "symmetry", NULL,
	  "runs that differ only in which of threads that are alike (the same function and argument) does what are the same",
	  0 },
	{ "runs", "N", "at most N runs (default 10000)", 'n' },
	{ "budget", "SECONDS", "for everything (default 60; 0: no limit)", 0 },
	{ "seed", "N",
	  "choose the first run's schedule at random, by this seed (default: the lowest thread first; with --until-error by pause)",
	  0 },
	{ "final", "X,...", "runs also differ by the values of these variables at the end", 0 },
	{ "check", "CONDITION", "must hold at the end of each run: 'x == 3 && s.count >= 0'",
	  0 },
	{ "steps", "N", "cut a run after N steps (default: no limit)", 0 },
	{ "resume", "FILE",
	  "keep the exploration's state in FILE, and go on from there next time", 0 },
	OPTION_SHARD("what follows from the first run"),
	OPTION_JOBS,
	{ "memory", "sc|tso|rc11",
	  "the memory model, by which loads may read older values (default sc)", 0 },
	{ "order", "FILE:LINE=ORDER",
	  "--memory rc11: as if the atomics on that line had this order; may be repeated", 0 },
	{ "bound", "preemptions=N",
	  "only schedules with at most N preemptions (switches away from a thread that could go on)",
	  0 },
	{ "spurious", "N",
	  "also schedules with up to N waits for a condition, of those without a time limit, that "
	  "end without a signal",
	  0 },
	{ "until-error", NULL, "end at the first run that fails", 0 },
	{ "timeout", "SECONDS", "end a run after this time (default 10)", 0 },
	OPTION_FORMAT_SARIF,
	{ 0 },
};

const struct command command_explore = {
	.name = "explore",
	.usage = "[-o FILE] [--spec FILE]... [--runs N] [--budget SECONDS] -- PROG ARGS",
	.summary = "run a program along every schedule that makes a difference",
	.details = "Two runs are the same when each thread reads the same values; with --spec, "
	           "when\n"
	           "the invocations of the specified objects return the same and those that do "
	           "not\n"
	           "commute come in the same order.  Every other outcome of an operation that "
	           "depends\n"
	           "on the order begins a run of its own.  Exit status 1 when a run failed or "
	           "has a\n"
	           "data race, 3 when not all was explored.",
	.options = options,
	.run = run,
	.takes_program = true,
};
