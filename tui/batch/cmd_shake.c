/*
 * cmd_shake.c - heddle shake: runs a program with many seeds and prints a table of the outcomes
 * (exit status or signal, output), with a seed for each.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/hash.h"
#include "engine/explore/hunt/portfolio.h"
#include "engine/predict/misuse.h"
#include "engine/record/layout.h"
#include "tui/batch/command.h"
#include "tui/batch/shake/shake_outcomes.h"
#include "tui/batch/print/print.h"
#include "tui/batch/print/terminal.h"
#include "tui/batch/reports/shake_merge.h"
#include "tui/batch/shake/shake_run.h"
#include "tui/batch/shares/shares.h"

struct shake {
	struct shaken runs;
	json_t *command; /* as json_set_command; owned */
	unsigned depth;
	uint64_t steps; /* pct: length of a run; a guess until measured */
	bool measured;
	unsigned tries; /* for each failing outcome, runs that search for fewer switches */
	bool until_error;
	uint64_t planned; /* runs of all shares */
	/* -- the share */
	uint32_t shard, shards; /* shards 0: all */
	char *share, *options;  /* --shard as given, or NULL; owned */
	uint64_t made, left;    /* number of runs made; of runs not made, for lack of time or
	                         * after an interruption */
	uint64_t failed;        /* number of the first run that failed, from 1; 0: none */
};

static char *how_it_ended(const struct shake_outcome *o)
{
	if (o->deadlock)
		return g_strdup("deadlock");
	if (o->timed_out)
		return g_strdup("timed out");
	if (o->signal)
		return g_strdup_printf("signal %d (%s)", o->signal, strsignal(o->signal));
	return g_strdup_printf("exit status %d", o->status);
}

/* The text report says "waits for ever": "deadlock" would mean a circle of locks, and the runs
 * of this outcome may wait for a signal as well (`heddle deadlocks` distinguishes them). */
static char *ended_in_words(const struct shake_outcome *o)
{
	return o->deadlock ? g_strdup("waits for ever") : how_it_ended(o);
}

/* By enum log_misuse: the rules' names. */
static const char *const misuses[] = {
#define M(name, word) word,
	LOG_MISUSES(M)
#undef M
};

static json_t *findings_json(const struct shake_outcome *o)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < LOG_MISUSE_COUNT; i++)
		if (o->misuses >> i & 1)
			json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "kind",
			                                      "lock-misuse", "verdict",
			                                      "happened", "rule", misuses[i],
			                                      "note", misuse_text(misuses[i])));
	return list;
}

static json_t *left_out_json(const struct outcomes *x)
{
	json_t *list = json_array();
	for (guint i = 0; i < x->left_out->len; i++) {
		const struct left_out *l = &g_array_index(x->left_out, struct left_out, i);
		json_array_append_new(
		        list, json_pack("{s:o, s:I, s:b}", "line", json_text(l->shape), "texts",
		                        (json_int_t)l->texts, "every-run", l->steady));
	}
	return list;
}

static void print_json(const struct outcomes *x, const struct shake *shake)
{
	json_t *list = json_array();
	for (guint i = 0; i < x->list->len; i++) {
		const struct shake_outcome *o = x->list->pdata[i];
		char *ended = how_it_ended(o);
		json_t *item =
		        json_pack("{s:s, s:i, s:I, s:s, s:I, s:s, s:s, s:I, s:o}", "end", ended,
		                  "status", o->status, "count", (json_int_t)o->count, "output",
		                  o->hash, "seed", (json_int_t)o->seed, "strategy",
		                  record_strategies[o->strategy], "line", o->line, "outputs",
		                  (json_int_t)o->outputs, "findings", findings_json(o));
		json_object_set_new(item, "run", json_integer((json_int_t)o->run));
		json_object_set_new(item, "options", json_text(o->again));
		if (o->use)
			json_object_set_new(item, "use", json_text(o->use));
		if (o->elusive)
			json_object_set_new(item, "elusive", json_true());
		if (o->untried)
			json_object_set_new(item, "untried", json_true());
		if (o->fewest)
			json_object_set_new(item, "fewest",
			                    json_pack("{ss sI sI}", "options", o->fewest,
			                              "switches", (json_int_t)o->switches,
			                              "tries", (json_int_t)o->tries));
		if (o->strategy == STRATEGY_PCT)
			json_object_set_new(item, "steps", json_integer(o->steps));
		if (o->strategy == STRATEGY_PCT)
			json_object_set_new(item, "depth", json_integer(shake->depth));
		if (o->signal)
			json_object_set_new(item, "signal", json_integer(o->signal));
		json_array_append_new(list, item);
		g_free(ended);
	}
	json_t *report = json_pack("{s:s, s:I, s:o, s:o}", "heddle", HEDDLE_VERSION, "runs",
	                           (json_int_t)shake->made, "outcomes", list, "lines-left-out",
	                           left_out_json(x));
	json_object_update(report, shake->command);
	if (shake->runs.memory != WEAK_SC)
		json_object_set_new(report, "memory",
		                    json_string(weak_model_words[shake->runs.memory]));
	if (shake->left > 0)
		json_object_set_new(report, "left", json_integer((json_int_t)shake->left));
	if (shake->failed > 0)
		json_object_set_new(report, "first-failure",
		                    json_integer((json_int_t)shake->failed));
	json_dumpf(report, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(report);
}

/* The outcomes of a share, unmerged: which lines are compared depends on all shares. */
static void print_share(const struct outcomes *x, const struct shake *shake)
{
	json_t *list = json_array();
	for (guint i = 0; i < x->list->len; i++)
		json_array_append_new(list, outcome_json(x->list->pdata[i]));
	json_t *report = json_pack("{ss ss ss so so}", "heddle", HEDDLE_VERSION, "command",
	                           "shake", "shard", shake->share, "options",
	                           json_text(shake->options), "outcomes", list);
	json_object_update(report, shake->command);
	json_object_set_new(report, "runs", json_integer((json_int_t)shake->made));
	json_object_set_new(report, "left", json_integer((json_int_t)shake->left));
	json_object_set_new(report, "memory", json_integer(shake->runs.memory));
	json_object_set_new(report, "depth", json_integer(shake->depth));
	json_object_set_new(report, "first-failure", json_integer((json_int_t)shake->failed));
	json_dumpf(report, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(report);
}

/* Its last line of output; with the digest when another outcome's is the same. */
static char *what_it_said(const struct outcomes *x, const struct shake_outcome *o)
{
	for (guint i = 0; i < x->list->len; i++) {
		const struct shake_outcome *other = x->list->pdata[i];
		if (other != o && strcmp(other->line, o->line) == 0 &&
		    strcmp(other->hash, o->hash) != 0)
			return g_strdup_printf("%s (output %.8s)", o->line, o->hash);
	}
	return g_strdup(o->line);
}

/* Options that make the run again, with the memory model. */
static char *how_again(const char *options, const struct shake *shake)
{
	return g_strdup_printf("%s%s%s%s", shake->runs.memory ? "--memory " : "",
	                       shake->runs.memory ? weak_model_words[shake->runs.memory] : "",
	                       shake->runs.memory ? " " : "", options);
}

/* Is the run that is to be recorded given by its turns, and a run with fewer of them known?
 * Then the table has the fewer ones. */
static bool has_fewer_turns(const struct shake_outcome *o)
{
	return o->fewest != NULL && strstr(o->again, "--turns ") != NULL;
}

static int widest(GPtrArray *column, const char *heading, int most)
{
	int width = (int)strlen(heading);
	for (guint i = 0; i < column->len; i++)
		width = MAX(width, MIN((int)g_utf8_strlen(column->pdata[i], -1), most));
	return width;
}

/* Misuse of locks, with the options that record such a run. */
static void print_findings(const struct outcomes *x, const struct shake *shake)
{
	for (unsigned m = 0; m < LOG_MISUSE_COUNT; m++) {
		const struct shake_outcome *first = NULL;
		uint64_t runs = 0;
		for (guint i = 0; i < x->list->len; i++) {
			const struct shake_outcome *o = x->list->pdata[i];
			if (!(o->misuses >> m & 1))
				continue;
			runs += o->count;
			first = first ? first : o;
		}
		if (!first)
			continue;
		char *again = how_again(first->again, shake);
		printf("lock-misuse, in %" PRIu64
		       " runs: a thread %s; 'heddle races' says where, on "
		       "the trace of %s\n",
		       runs, misuse_text(misuses[m]), again);
		g_free(again);
	}
}

/* Further facts of failing outcomes. */
static void print_fewest(const struct outcomes *x)
{
	for (guint i = 0; i < x->list->len; i++) {
		const struct shake_outcome *o = x->list->pdata[i];
		char *ended = ended_in_words(o);
		if (o->use)
			printf("use after free, in %" PRIu64 " runs (%s): %s\n", o->count,
			       ended, o->use);
		if (o->elusive)
			printf("%s, in %" PRIu64 " runs: not under record, where the "
			       "addresses of the heap or of stacks are others\n",
			       ended, o->count);
		if (o->fewest)
			printf("%s with %u switch%s of threads, no fewer found in %u runs%s%s\n",
			       ended, o->switches, o->switches == 1 ? "" : "es", o->tries,
			       has_fewer_turns(o) ? "" : ": ",
			       has_fewer_turns(o) ? "" : o->fewest);
		g_free(ended);
	}
}

static void print_left_out(const struct outcomes *x)
{
	enum { MOST = 8 };
	for (guint i = 0; i < x->left_out->len && i < MOST; i++) {
		const struct left_out *l = &g_array_index(x->left_out, struct left_out, i);
		printf("%s: \"%s\" (%" PRIu64 " different)\n",
		       l->steady ? "varies from run to run, and was not compared"
		                 : "progress, not compared",
		       l->shape, l->texts);
	}
	if (x->left_out->len > MOST)
		printf("... and %u more such lines\n", x->left_out->len - MOST);
}

/* The table: frequency, ending, output, and how to record it again: below each where the
 * terminal is too narrow, so that these options are not broken. */
static void print_table(const struct outcomes *x, const struct shake *shake)
{
	const GPtrArray *outcomes = x->list;
	enum { ENDS, SAYS, AGAIN, COLUMNS, LONGEST = 32, FRAME = 12 };
	static const char *const headings[] = { "end", "last line of output", "options" };
	GPtrArray *texts[COLUMNS];
	int widths[COLUMNS];
	for (int c = 0; c < COLUMNS; c++)
		texts[c] = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < outcomes->len; i++) {
		g_ptr_array_add(texts[ENDS], ended_in_words(outcomes->pdata[i]));
		g_ptr_array_add(texts[SAYS], what_it_said(x, outcomes->pdata[i]));
		const struct shake_outcome *o = outcomes->pdata[i];
		g_ptr_array_add(texts[AGAIN],
		                how_again(has_fewer_turns(o) ? o->fewest : o->again, shake));
	}
	for (int c = 0; c < COLUMNS; c++)
		widths[c] = widest(texts[c], headings[c], c == AGAIN ? INT_MAX : LONGEST);
	g_autofree char *command = json_command(shake->command);
	g_autofree char *before = json_before(shake->command);
	printf("%" PRIu64 " runs, %u %s; 'heddle record %sOPTIONS -- %s' records one again\n",
	       shake->made, outcomes->len, outcomes->len == 1 ? "outcome" : "outcomes", before,
	       command);
	unsigned columns = terminal_columns();
	bool apart = columns > 0 &&
	             FRAME + widths[ENDS] + widest(texts[SAYS], headings[SAYS], INT_MAX) +
	                             widths[AGAIN] >
	                     (int)columns;
	printf("  runs  %-*s  %-*s%s%s\n", widths[ENDS], headings[ENDS], widths[SAYS],
	       headings[SAYS], apart ? "" : "  ", apart ? "" : headings[AGAIN]);
	for (guint i = 0; i < outcomes->len; i++) {
		const struct shake_outcome *o = outcomes->pdata[i];
		printf("%6" PRIu64 "  %-*s  %-*s%s%s\n", o->count, widths[ENDS],
		       (char *)texts[ENDS]->pdata[i], widths[SAYS],
		       (char *)texts[SAYS]->pdata[i], apart ? "\n        " : "  ",
		       (char *)texts[AGAIN]->pdata[i]);
	}
	for (int c = 0; c < COLUMNS; c++)
		g_ptr_array_free(texts[c], TRUE);
	print_findings(x, shake);
	print_fewest(x);
	print_left_out(x);
	if (shake->left > 0)
		printf("%" PRIu64 " more runs were not made: the time was up, or it was "
		       "interrupted\n",
		       shake->left);
}

static int report_as(struct outcomes *outcomes, const struct shake *shake,
                     enum output_format format)
{
	bool share = shake->share != NULL && format == FORMAT_JSON;
	if (share)
		print_share(outcomes, shake);
	outcomes_group(outcomes);
	if (format == FORMAT_JSON && !share)
		print_json(outcomes, shake);
	else if (!share)
		print_table(outcomes, shake);
	return outcomes_tell(outcomes) ? EXIT_FOUND
	       : shake->left > 0       ? EXIT_BUDGET
	                               : EXIT_NOTHING;
}

/* -- shares joined ------------------------------------------------------------------------- */

int shake_merge(const GPtrArray *reports, enum output_format format)
{
	struct error error;
	const struct report_file *first = reports->pdata[0];
	struct outcomes *all = outcomes_new();
	struct shake shake = { .command = json_object() };
	static const char *const of_command[] = { "program", "arguments" };
	for (size_t i = 0; i < G_N_ELEMENTS(of_command); i++)
		json_object_set(shake.command, of_command[i],
		                json_object_get(first->head, of_command[i]));
	json_int_t memory = json_integer_value(json_object_get(first->head, "memory"));
	shake.runs.memory =
	        memory > 0 && memory <= WEAK_RC11 ? (enum weak_model)memory : WEAK_SC;
	shake.depth = (unsigned)json_integer_value(json_object_get(first->head, "depth"));
	for (guint i = 0; i < reports->len; i++) {
		const struct report_file *r = reports->pdata[i];
		size_t k;
		json_t *value;
		json_array_foreach(json_object_get(r->head, "outcomes"), k, value)
		{
			struct shake_outcome *o = outcome_of_json(value);
			if (o == NULL) {
				outcomes_free(all);
				json_decref(shake.command);
				error_set(&error, r->name, "make it again with --shard I/N",
				          "\"outcomes\": expected those of a share of shake");
				return fail(&error);
			}
			outcomes_add(all, o);
		}
		shake.made += (uint64_t)json_integer_value(json_object_get(r->head, "runs"));
		shake.left += (uint64_t)json_integer_value(json_object_get(r->head, "left"));
		json_int_t failed =
		        json_integer_value(json_object_get(r->head, "first-failure"));
		if (failed > 0 && (shake.failed == 0 || (uint64_t)failed < shake.failed))
			shake.failed = (uint64_t)failed;
	}
	outcomes_sort(all);
	int status = report_as(all, &shake, format);
	outcomes_free(all);
	json_decref(shake.command);
	return status;
}

/* -- the command --------------------------------------------------------------------------- */

/* Options that all shares must have in common. */
static char *options_text(const struct arguments *a)
{
	static const char *const compared[] = { "runs",   "seed",  "strategy", "depth", "steps",
		                                "target", "turns", "memory",   "tries" };
	GString *text = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(compared); i++) {
		const char *value = argument_value(a, compared[i]);
		if (value)
			g_string_append_printf(text, "%s--%s %s", text->len ? " " : "",
			                       compared[i], value);
	}
	for (char **word = a->rest + 1; *word; word++)
		g_string_append_printf(text, " %s", *word);
	return g_string_free(text, FALSE);
}

/* The strategy that learns, by its place in portfolio_words; -1: none. It serves sequentially
 * consistent runs: the older stores that loads may read are drawn by chance. */
static int learning(const struct arguments *a)
{
	const char *word = argument_value(a, "strategy");
	bool given = argument_value(a, "target") || argument_value(a, "turns");
	if (!word)
		return given || argument_choice(a, "memory", weak_model_words, WEAK_SC) !=
		                               WEAK_SC
		               ? -1
		               : 0;
	for (int i = 0; portfolio_words[i]; i++)
		if (strcmp(word, portfolio_words[i]) == 0 && !given)
			return i;
	return -1;
}

/* The mixer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* The seed of run `n`: that of run 0 is the one given, the others are drawn from both, so that
 * two seeds share no runs but by chance. 40 bits: few digits, and hardly a seed twice in a
 * million runs. The seeds of pause that have a meaning follow one another. */
static uint64_t seed_of(const struct strategy *how, uint64_t n)
{
	if (n == 0 || (how->kind == STRATEGY_PAUSE && how->seed + n < LOG_PAUSES))
		return how->seed + n;
	return mixed(mixed(hash_word(how->seed + 1)) + hash_word(n)) >> 24;
}

/* How run `n` is made without a portfolio; under --memory by default by one of four in turn. */
static struct strategy strategy_of(const struct shake *shake, const struct strategy *named,
                                   uint64_t n)
{
	struct strategy how = strategy_copy(named);
	static const enum log_strategy turns[] = { STRATEGY_RANDOM, STRATEGY_POS, STRATEGY_PCT,
		                                   STRATEGY_NOISE };
	if (how.kind == STRATEGY_COUNT)
		how.kind = turns[n % G_N_ELEMENTS(turns)];
	how.seed = seed_of(&how, n);
	how.steps = how.kind == STRATEGY_PCT ? shake->steps : 0;
	return how;
}

/* Has the outcome failed? An exit status is a failure if other runs have another one. */
static bool has_failed(const struct outcomes *x, const struct shake_outcome *o)
{
	bool other = false;
	for (guint i = 0; i < x->list->len; i++)
		other |= ((const struct shake_outcome *)x->list->pdata[i])->status != o->status;
	return outcome_fails(o) || (o->status != 0 && other && !o->timed_out);
}

static bool is_new(const struct outcomes *x, uint64_t n)
{
	for (guint i = 0; i < x->list->len; i++)
		if (((const struct shake_outcome *)x->list->pdata[i])->run == n)
			return true;
	return false;
}

/* Minimises the first run of a kind: searches for as few switches as possible. */
static void minimise(struct shake *shake, const struct outcomes *x, const struct strategy *how,
                     uint64_t n)
{
	for (guint i = 0; i < x->list->len; i++) {
		struct shake_outcome *o = x->list->pdata[i];
		if (o->run == n && has_failed(x, o) && !o->timed_out)
			shaken_fewest(&shake->runs, how, o, shake->tries);
	}
}

/* Run `n`; false: interrupted, or `error`. */
static bool run_one(struct shake *shake, struct outcomes *x, struct portfolio *portfolio,
                    const struct strategy *how, uint64_t n, struct error *error)
{
	struct shaken_run look = { 0 };
	bool looks = portfolio && portfolio_looks(portfolio);
	struct shake_outcome *o = shaken_try(&shake->runs, how, n, looks ? &look : NULL, error);
	if (o && !outcomes_know(x, o)) {
		o->untried = outcomes_vary(x, o, shake->planned) && !shake->runs.never_settles;
		uint64_t shape = o->shape;
		if (!o->untried)
			o = shaken_confirm(&shake->runs, how, o, looks ? &look : NULL, error);
		if (o)
			o->shape = shape;
	}
	if (o == NULL) {
		shaken_run_release(&look);
		return false;
	}
	if (!shake->measured && shake->runs.steps > 0) { /* one run gives the length */
		shake->measured = true;
		shake->steps = shake->runs.steps;
	}
	outcomes_add(x, o);
	shake->made++;
	bool news = is_new(x, n);
	if (portfolio)
		portfolio_learn(portfolio, look.trace, look.turns, news && shake->made > 1);
	shaken_run_release(&look);
	if (news)
		minimise(shake, x, how, n);
	for (guint i = 0; i < x->list->len; i++) {
		const struct shake_outcome *first = x->list->pdata[i];
		if (has_failed(x, first) && (shake->failed == 0 || first->run < shake->failed))
			shake->failed = first->run + 1;
	}
	return true;
}

/* The runs of the share, or all of them; false: `error`. */
static bool run_all(struct shake *shake, struct outcomes *outcomes, const struct arguments *a,
                    const struct strategy *named, uint64_t runs, struct error *error)
{
	double seconds = (double)argument_number(a, "budget", 0);
	gint64 deadline = g_get_monotonic_time() + (gint64)(seconds * G_USEC_PER_SEC);
	const struct progress *progress = progress_on_stderr();
	const volatile int *interrupted = catch_interruption();
	uint64_t step = MAX(shake->shards, 1);
	struct portfolio *portfolio =
	        learning(a) >= 0 ? portfolio_new(&(struct portfolio_options){
	                                   .word = (unsigned)learning(a),
	                                   .seed = named->seed * step + shake->shard,
	                                   .share = shake->shard,
	                                   .shares = shake->shards,
	                                   .depth = shake->depth })
	                         : NULL;
	bool good = true;
	for (uint64_t n = shake->shard; good && n < runs; n += step) {
		bool late = seconds > 0 && g_get_monotonic_time() > deadline;
		bool over = shake->until_error && shake->failed > 0;
		bool goes_on = !late && !over && !*interrupted &&
		               progress_tick(progress, (double)n / (double)runs, "running");
		struct strategy how = portfolio && goes_on ? portfolio_next(portfolio)
		                                           : strategy_of(shake, named, n);
		bool ran = goes_on && run_one(shake, outcomes, portfolio, &how, n, error);
		strategy_release(&how);
		good = ran || !goes_on || shake->runs.interrupted || *interrupted;
		if (over)
			break;
		if (!ran && good) { /* print the table so far */
			shake->left = (runs - n + step - 1) / step;
			break;
		}
	}
	portfolio_free(portfolio);
	return good;
}

/* The strategy of all runs; kind STRATEGY_COUNT: several. */
static bool read_strategy(const struct arguments *a, const struct shake *shake,
                          struct strategy *s, struct error *error)
{
	const char *target = argument_value(a, "target"), *given = argument_value(a, "turns");
	s->kind = learning(a) >= 0 ? STRATEGY_COUNT
	                           : (uint32_t)argument_choice(a, "strategy", record_strategies,
	                                                       given    ? STRATEGY_TURNS
	                                                       : target ? STRATEGY_SURW
	                                                                : STRATEGY_COUNT);
	s->depth = shake->depth;
	s->seed = argument_number(a, "seed", 1);
	return (!target || strategy_read_target(target, &s->target, error)) &&
	       (!given || strategy_read_turns(given, s->turns, error));
}

static int run_shake(struct arguments *a)
{
	struct error error;
	char **argv = a->rest;
	if (!argv || !argv[0])
		return no_program(a);
	uint64_t runs = argument_number(a, "runs", 100);
	if (runs == 0)
		return usage_error(a, "--runs wants one run or more, found 0");
	enum { LONGEST = 1000000 }; /* seconds */
	unsigned timeout = (unsigned)MIN(argument_number(a, "timeout", 10), LONGEST) * 1000;
	enum output_format format = argument_format(a, false);
	if (shares_asked(a, true))
		return shares_run(a);
	enum { GUESS = 1000 }; /* also the runtime's */
	uint64_t steps = argument_number(a, "steps", 0);
	struct strategy named = { .turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn)) };
	struct shake shake = {
		.command = json_object(),
		.runs = { .argv = argv,
		          .timeout_ms = timeout,
		          /* the addresses of a target are those of a recording */
		          .never_settles = argument_value(a, "target") != NULL,
		          .memory = argument_choice(a, "memory", weak_model_words, WEAK_SC) },
		.depth = argument_number(a, "depth", 3),
		.steps = steps ? steps : GUESS,
		.measured = steps > 0,
		.planned = runs,
		.tries = (unsigned)MIN(argument_number(a, "tries", 40), UINT32_MAX),
		.until_error = argument_flag(a, "until-error"),
		.share = g_strdup(argument_value(a, "shard")),
		.options = options_text(a)
	};
	json_set_command(shake.command, argv);
	argument_shard(a, &shake.shard, &shake.shards);
	struct outcomes *outcomes = outcomes_new();
	bool ok = shaken_open(&shake.runs, &error) &&
	          read_strategy(a, &shake, &named, &error) &&
	          run_all(&shake, outcomes, a, &named, runs, &error);
	progress_done();
	shaken_close(&shake.runs);
	int status = ok ? report_as(outcomes, &shake, format) : fail(&error);
	strategy_release(&named);
	g_free(shake.share);
	g_free(shake.options);
	json_decref(shake.command);
	outcomes_free(outcomes);
	return status;
}

static const struct command_option options[] = {
	{ "runs", "N", "number of runs (default 100)", 'n' },
	OPTION_BEFORE,
	{ "seed", "N",
	  "the seed of the first run, from which those of the others are drawn (default 1)",
	  0 },
	{ "strategy", "auto|pairs|feedback|periods|pause|random|pct|noise|rr|pos|surw|turns",
	  "one strategy, or auto: several, which learn from each other's runs (default: auto; under --memory random, pos, pct and noise)",
	  0 },
	{ "target", "PLACE+SIZE=N,...",
	  "surw: the place whose events come in each order equally often, as shake prints it",
	  0 },
	{ "turns", "THREAD:EVENTS,...",
	  "turns: each THREAD runs in turn, until it has made EVENTS events", 0 },
	{ "until-error", NULL, "no more runs after the first that fails", 0 },
	{ "tries", "N",
	  "make at most N more runs to find the fewest switches of threads that a failure needs (default 40; 0: none)",
	  0 },
	{ "depth", "D",
	  "pct: how many pairs of events must come in a certain order for the bug (default 3)",
	  0 },
	{ "steps", "N", "pct: about how many steps a run has (default: measured)", 0 },
	{ "memory", "sc|tso|rc11", "the memory model that the runs are under (default sc)", 0 },
	{ "timeout", "SECONDS", "end a run after this time (default 10)", 0 },
	{ "budget", "SECONDS", "make no more runs after this time (default 0: no limit)", 0 },
	OPTION_SHARD("the runs"),
	OPTION_JOBS,
	OPTION_KEPT,
	OPTION_FORMAT,
	{ 0 },
};

const struct command command_shake = {
	.name = "shake",
	.usage = "[--runs N] [--strategy S] -- PROG ARGS",
	.summary = "run a program under many schedules; a table of outcomes",
	.details =
	        "An outcome is how runs ended and what they printed; each line says how often it came.\n"
	        "The strategy and seed of a line make its outcome come again:\n"
	        "heddle record --strategy S --seed N -- PROG ARGS",
	.options = options,
	.run = run_shake,
	.takes_program = true,
};
