/*
 * checkup.c - a checkup from its beginning to its end: the request, the time left, the
 * streams of the program's runs. See checkup.h.
 */
#include "engine/base/file.h"
#include "engine/record/interpose.h"
#include "tui/batch/check/checkup.h"
#include "tui/batch/shares/shares.h"
#include "tui/batch/record_live.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_BUDGET = 60, DEFAULT_TIMEOUT = 10, DEFAULT_RUNS = 12 };

static bool tick(void *context, double fraction, const char *what)
{
	struct checkup *c = context;
	char text[160];

	if (checkup_over(c))
		return false;
	g_snprintf(text, sizeof text, "%u run%s, %u finding%s; %s", c->runs->len,
	           plural(c->runs->len), c->list->len, plural(c->list->len),
	           c->doing ? c->doing : "checking");
	if (c->deadline != 0)
		fraction =
		        1 - checkup_left(c) * G_USEC_PER_SEC / (double)(c->deadline - c->began);
	return progress_tick(progress_on_stderr(), fraction, text);
}

static void run_clear(void *data)
{
	struct checkup_run *r = data;

	g_free(r->trace);
	g_free(r->digest);
	g_free(r->options);
	g_ptr_array_unref(r->warnings);
	if (r->outcome)
		outcome_release(r->outcome);
	g_free(r->outcome);
}

static void trials_free(void *data)
{
	struct mined_trials *trials = data;

	g_free(trials->difference);
	g_free(trials->place);
	g_free(trials);
}

static void undecided_free(void *data)
{
	struct undecided *u = data;

	g_free(u->text);
	g_free(u);
}

static void checkup_init(struct checkup *c)
{
	c->runs = g_array_new(FALSE, FALSE, sizeof(struct checkup_run));
	g_array_set_clear_func(c->runs, run_clear);
	c->list = g_ptr_array_new_with_free_func(checked_free);
	c->by_key = g_hash_table_new(g_str_hash, g_str_equal);
	c->digests = g_hash_table_new(g_str_hash, g_str_equal);
	c->mined = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, trials_free);
	c->aims = g_array_new(FALSE, FALSE, sizeof(struct checkup_aim));
	c->aimed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	c->undecided = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, undecided_free);
	c->behind = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, undecided_free);
	c->own_specs = g_ptr_array_new_with_free_func(g_free);
	c->making = "both orders";
	c->waiting = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->postponed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->outputs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	c->ends = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	c->uncovered = g_ptr_array_new_with_free_func(g_free);
	c->late = g_ptr_array_new_with_free_func(g_free);
	c->open_because = g_ptr_array_new_with_free_func(g_free);
	c->progress = (struct progress){ .tick = tick, .context = c };
	c->began = g_get_monotonic_time();
	c->output = c->errors = -1;
	c->input = -1;
}

void checkup_close(struct checkup *c)
{
	record_live_free(c->watcher);
	finals_free(c->finals);
	if (c->hunted)
		explore_report_free(c->hunted);
	if (c->specs)
		g_ptr_array_unref(c->specs);
	g_ptr_array_unref(c->own_specs);
	g_hash_table_destroy(c->by_key);
	g_hash_table_destroy(c->digests);
	g_hash_table_destroy(c->outputs);
	g_hash_table_destroy(c->mined);
	g_hash_table_destroy(c->ends);
	g_array_unref(c->waiting);
	g_array_unref(c->postponed);
	g_array_unref(c->aims);
	g_hash_table_destroy(c->aimed);
	g_hash_table_destroy(c->undecided);
	g_hash_table_destroy(c->behind);
	g_ptr_array_unref(c->list);
	g_array_unref(c->runs);
	g_ptr_array_unref(c->uncovered);
	g_ptr_array_unref(c->late);
	g_ptr_array_unref(c->open_because);
	g_free(c->expected);
	g_free(c->always);
	if (c->binds)
		g_ptr_array_unref(c->binds);
	g_free(c->share);
	if (c->output >= 0)
		close(c->output);
	if (c->errors >= 0)
		close(c->errors);
}

/* -- standard input: every run reads the same ---------------------------------------------- */

/* Copies a pipe's bytes, up to a pause, into a file, which every run reads from its
 * beginning. A pipe without bytes is the caller's own. */
static bool keep_piped_input(struct error *error)
{
	enum { PAUSE = 200, MOST = 64 << 20 };
	struct pollfd pipe = { .fd = STDIN_FILENO, .events = POLLIN };
	int fd = file_open_nameless(g_get_tmp_dir());
	char bytes[65536];
	ssize_t n = 0;
	size_t all = 0;

	if (fd < 0)
		return error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		                 "cannot keep standard input: %s", g_strerror(errno));
	while (all < MOST && poll(&pipe, 1, PAUSE) > 0 &&
	       (n = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
		if (write(fd, bytes, (size_t)n) != n)
			break;
		all += (size_t)n;
	}
	lseek(fd, 0, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	close(fd);
	return true;
}

static bool prepare_streams(struct checkup *c)
{
	struct stat input;

	if (fstat(STDIN_FILENO, &input) == 0 &&
	    (S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode)) &&
	    !keep_piped_input(&c->error))
		return false;
	c->input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	c->output = file_open_nameless(g_get_tmp_dir());
	c->errors = file_open_nameless(g_get_tmp_dir());
	if (c->output < 0 || c->errors < 0)
		return error_set(&c->error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		                 "cannot keep what a run prints: %s", g_strerror(errno));
	return true;
}

/* -- the command --------------------------------------------------------------------------- */

static bool parse_seconds(const struct arguments *a, const char *name, double otherwise,
                          double *seconds)
{
	const char *text = argument_value(a, name);
	char *end = NULL;

	*seconds = text ? g_ascii_strtod(text, &end) : otherwise;
	if (text &&
	    (end == text || *end != '\0' || !(*seconds >= 0) || *seconds > CHECKUP_LONGEST)) {
		usage_error(a, "--%s: expected a number of seconds, found '%s'", name, text);
		return false;
	}
	return true;
}

/* "60", or "60,2" with the seconds for one pair. */
static bool parse_budget(const struct arguments *a, struct checkup *c, double *budget)
{
	const char *text = argument_value(a, "budget");
	char *end = NULL;

	*budget = DEFAULT_BUDGET;
	c->pair_seconds = 1;
	if (text == NULL)
		return true;
	*budget = g_ascii_strtod(text, &end);
	bool good = end != text;
	if (good && *end == ',') {
		const char *pair = end + 1;

		c->pair_seconds = g_ascii_strtod(pair, &end);
		good = end != pair;
	}
	if (good && *end == '\0' && *budget >= 0 && *budget <= CHECKUP_LONGEST &&
	    c->pair_seconds >= 0 && c->pair_seconds <= CHECKUP_LONGEST)
		return true;
	usage_error(a, "--budget: expected a number of seconds, or two as in 60,1, found '%s'",
	            text);
	return false;
}

static bool read_expected(struct checkup *c, const char *path)
{
	return path == NULL || (c->expected = outcome_text(path, &c->error)) != NULL;
}

/* Collects the files with bind lines; others (atomic sets, say) are for the analyses alone. */
static bool find_binds(struct checkup *c)
{
	c->binds = g_ptr_array_new();
	for (guint i = 0; i < c->specs->len; i++) {
		g_autoptr(GPtrArray) one = g_ptr_array_new();
		bool binds;

		g_ptr_array_add(one, c->specs->pdata[i]);
		if (!interposer_binds(one, &binds, &c->error))
			return false;
		if (binds)
			g_ptr_array_add(c->binds, c->specs->pdata[i]);
	}
	return true;
}

static bool parse(const struct arguments *a, struct checkup *c)
{
	double budget, timeout;

	if (!parse_budget(a, c, &budget) ||
	    !parse_seconds(a, "timeout", DEFAULT_TIMEOUT, &timeout))
		return false;
	c->prefix = argument_output(a, false, FILE_KINDS);
	if (c->prefix == NULL)
		c->prefix = "check";
	c->runs_asked = (uint32_t)MIN(argument_number(a, "runs", DEFAULT_RUNS), 100000);
	if (c->runs_asked == 0) {
		usage_error(a, "--runs: expected a number from 1 on, found '0'");
		return false;
	}
	argument_shard(a, &c->shard, &c->shards);
	c->share = g_strdup(argument_value(a, "shard"));
	c->shards = MAX(c->shards, 1);
	if (a->rest) /* one at least */
		c->runs_asked = MAX((c->runs_asked + c->shards - 1 - c->shard) / c->shards, 1);
	c->timeout_ms = (unsigned)MAX(timeout * 1000, 1);
	c->harm = !argument_flag(a, "no-harm");
	c->lenient = argument_flag(a, "lenient");
	c->writes = true;
	c->streams = isatty(STDERR_FILENO);
	c->expected_file = argument_value(a, "expect");
	if (budget > 0)
		c->deadline = c->began + (gint64)(budget * G_USEC_PER_SEC);
	return true;
}

bool checkup_open(struct checkup *c, const struct arguments *a)
{
	*c = (struct checkup){ .arguments = a,
		               .argv = a->rest,
		               .specs = argument_values(a, "spec") };
	checkup_init(c);
	if (!parse(a, c))
		return false;
	checkup_find_specs(c);
	c->finals = finals_new(NULL, argument_value(a, "check"), &c->error);
	if (c->finals != NULL && find_binds(c) && read_expected(c, c->expected_file))
		return true;
	fail(&c->error);
	return false;
}

bool checkup_run(struct checkup *c, const GPtrArray *traces)
{
	bool good;

	c->interrupted = catch_interruption();
	if (c->argv != NULL)
		good = prepare_streams(c) && checkup_program(c);
	else
		good = checkup_traces(c, traces);
	progress_done();
	if (good)
		checkup_settle(c);
	else
		fail(&c->error);
	return good;
}
