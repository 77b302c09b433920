/*
 * shares_rounds.c - an exploration by several processes, in rounds: its state is divided into
 * tasks (tasks.h), each explored by a process, and joined again.
 *
 * Tasks lie beside the state; a later command takes in those that a killed one has left.
 */
#include "tui/batch/shares/shares_private.h"

#include "engine/explore/tasks.h"

#include <glib/gstdio.h>
#include <inttypes.h>
#include <unistd.h>

/* STATE.task.I, the task of one of several processes that explore STATE. */
static char *task_of(const char *state, unsigned job)
{
	return g_strdup_printf("%s.task.%u", state, job + 1);
}

static char *base_of(const char *state)
{
	return g_strdup_printf("%s.task.base", state);
}

bool shares_has_tasks(const char *state)
{
	char *base = state ? base_of(state) : NULL;
	bool there = base && g_file_test(state, G_FILE_TEST_EXISTS) && tasks_are(base);
	g_free(base);
	return there;
}

struct rounds {
	const struct arguments *a;
	const char *state;
	unsigned count;
	double seconds; /* in all; 0: no limit */
	gint64 began;
	uint64_t most, before; /* number of runs that may be made, and of the state's runs
	                        * before */
	const volatile int *interrupted;
};

static double seconds_left(const struct rounds *r)
{
	double used = (double)(g_get_monotonic_time() - r->began) / G_USEC_PER_SEC;
	return r->seconds > 0 ? MAX(r->seconds - used, 0.001) : 0;
}

/* The command of one job that explores a state, with `runs` runs. */
static GPtrArray *explorer_of(const struct rounds *r, const char *state, uint64_t runs,
                              unsigned job)
{
	static const char *const replaced[] = { "jobs",   "output", "format", "runs",
		                                "resume", "budget", NULL };
	const char *output = argument_value(r->a, "output");
	char budget[G_ASCII_DTOSTR_BUF_SIZE];
	GPtrArray *words = shares_command_begin(r->a, replaced);
	shares_command_add(words, "--runs=%" PRIu64, MAX(runs, 1));
	shares_command_add(words, "--budget=%s",
	                   g_ascii_dtostr(budget, sizeof budget, seconds_left(r)));
	shares_command_add(words, "--resume=%s", state);
	shares_command_add(words, "--format=json");
	if (output)
		shares_command_add(words, "--output=%s.%u", output, job);
	shares_command_end(r->a, words);
	return words;
}

static GPtrArray *task_files(const struct rounds *r)
{
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
	for (unsigned i = 0; i < r->count; i++)
		g_ptr_array_add(files, task_of(r->state, i));
	return files;
}

/* Removes the tasks' files, the base last: while it exists, tasks may be left. */
static void remove_tasks(const struct rounds *r)
{
	for (unsigned i = 0; i < MOST_JOBS; i++) {
		char *path = task_of(r->state, i);
		unlink(path);
		g_free(path);
	}
	char *base = base_of(r->state);
	unlink(base);
	g_free(base);
}

/* Adds the tasks' results to the state; the tasks' files are removed when it is written. */
static bool take_in(const struct rounds *r, const GPtrArray *files, struct error *error)
{
	struct tasks *all = tasks_join(files, false, error);
	bool good = all != NULL && tasks_keep(all, r->state, error);
	tasks_free(all);
	if (good)
		remove_tasks(r);
	return good;
}

/* Does a division lack some of its tasks, since a process that made or removed them was
 * killed? Then they have no results, or the state has them. */
static bool are_incomplete(const GPtrArray *files)
{
	struct error none;
	struct tasks *some = files->len > 0 ? tasks_join(files, true, &none) : NULL;
	tasks_free(some);
	return some != NULL || files->len == 0;
}

/* Takes in tasks that a killed process has left. */
static bool recover(const struct rounds *r, struct error *error)
{
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
	struct error why = { 0 };
	for (unsigned i = 0; i < MOST_JOBS; i++) {
		char *path = task_of(r->state, i);
		if (g_file_test(path, G_FILE_TEST_EXISTS))
			g_ptr_array_add(files, path);
		else
			g_free(path);
	}
	bool good = files->len > 0 && take_in(r, files, &why);
	if (!good && are_incomplete(files)) {
		remove_tasks(r);
		good = true;
	}
	if (!good)
		*error = why;
	g_ptr_array_unref(files);
	return good;
}

/* Runs one round; returns EXIT_NOTHING, or the status of a job that failed. */
static int run_round(const struct rounds *r, uint64_t runs, gint64 least, struct error *error)
{
	struct share_jobs j;
	GPtrArray *files = task_files(r);
	shares_jobs_begin(&j, r->a, r->count);
	j.balances = true;
	j.earliest = g_get_monotonic_time() + least;
	for (unsigned i = 0; i < r->count; i++)
		shares_start_job(&j, i,
		                 explorer_of(r, files->pdata[i], runs / r->count + 1, i + 1),
		                 "/dev/null");
	shares_wait_for_all(&j);
	int status = j.worst;
	if (!take_in(r, files, error) && status == 0)
		status = EXIT_BAD;
	g_ptr_array_unref(files);
	shares_jobs_end(&j);
	return status;
}

/* The first step: one job makes or checks the state. */
static int run_first(const struct rounds *r)
{
	struct share_jobs j;
	shares_jobs_begin(&j, r->a, 1);
	shares_start_job(&j, 0, explorer_of(r, r->state, 1, 0), "/dev/null");
	shares_wait_for_all(&j);
	int status = j.worst;
	shares_jobs_end(&j);
	return status;
}

static bool is_over(const struct rounds *r, const struct tasks *t, uint64_t *left)
{
	uint64_t made = tasks_runs(t) - MIN(r->before, tasks_runs(t));
	*left = r->most - MIN(made, r->most);
	return tasks_left(t) == 0 || *left == 0 || *r->interrupted ||
	       (r->seconds > 0 && seconds_left(r) <= 0.001) ||
	       (argument_flag(r->a, "until-error") && tasks_failed(t));
}

/* Reads the state; NULL and `error`. */
static struct tasks *open_state(const struct rounds *r, struct error *error)
{
	GPtrArray *files = g_ptr_array_new();
	g_ptr_array_add(files, (char *)r->state);
	struct tasks *t = tasks_join(files, false, error);
	g_ptr_array_unref(files);
	return t;
}

/* One round, or *over; *ended: all is explored, with findings. The exit status of a
 * job that failed, else EXIT_NOTHING. */
static int run_next(const struct rounds *r, bool *over, bool *ended, struct error *error)
{
	gint64 from = g_get_monotonic_time();
	struct tasks *t = open_state(r, error);
	uint64_t left = 0;
	*over = t == NULL || is_over(r, t, &left);
	*ended = t != NULL && tasks_left(t) == 0 && tasks_failed(t);
	char *prefix = g_strdup_printf("%s.task", r->state);
	bool good = t != NULL && (*over || tasks_divide(t, prefix, r->count, error));
	g_free(prefix);
	tasks_free(t);
	if (!good || *over)
		return good ? EXIT_NOTHING : EXIT_BAD;
	/* joining may take a tenth of the time, not more */
	gint64 least = MAX(10 * (g_get_monotonic_time() - from), G_USEC_PER_SEC / 2);
	return run_round(r, left, least, error);
}

/* When all is explored, with findings: runs one more command on the state, which searches the
 * points of no return with the program, and reports. */
static int report_end(const struct rounds *r)
{
	static const char *const replaced[] = { "jobs", "runs", "budget", "resume", NULL };
	char budget[G_ASCII_DTOSTR_BUF_SIZE];
	GPtrArray *words = shares_command_begin(r->a, replaced);
	shares_command_add(words, "--budget=%s",
	                   g_ascii_dtostr(budget, sizeof budget, seconds_left(r)));
	shares_command_add(words, "--resume=%s", r->state);
	shares_command_end(r->a, words);
	fflush(stdout);
	int status = shares_wait_for(shares_start(words, NULL, false));
	g_ptr_array_unref(words);
	return status;
}

static int print_state(const struct rounds *r)
{
	const char *tree = argument_value(r->a, "output");
	GPtrArray *files = g_ptr_array_new();
	g_ptr_array_add(files, (char *)r->state);
	if (tree)
		shares_merged(files, "json", NULL, tree);
	int status = shares_merged(files, argument_value(r->a, "format"), NULL, NULL);
	g_ptr_array_unref(files);
	return status;
}

int shares_run_rounds(const struct arguments *a, const char *state)
{
	const char *budget = argument_value(a, "budget");
	struct error error = { 0 };
	struct rounds r = { .a = a,
		            .state = state,
		            .count = shares_jobs_of(a),
		            .seconds = budget ? g_ascii_strtod(budget, NULL) : EXPLORE_SECONDS,
		            .began = g_get_monotonic_time(),
		            .most = argument_number(a, "runs", EXPLORE_RUNS),
		            .interrupted = catch_interruption() };
	bool over = false, ended = false;
	bool clear = !shares_has_tasks(r.state) || recover(&r, &error);
	int status = clear ? run_first(&r) : EXIT_BAD;
	struct tasks *t = status == EXIT_NOTHING ? open_state(&r, &error) : NULL;
	if (t == NULL)
		return *error.what ? fail(&error) : status;
	r.most = r.most ? r.most : UINT32_MAX;
	r.before = tasks_runs(t) - 1; /* run_first made one of these */
	tasks_free(t);
	while (status == EXIT_NOTHING && !over)
		status = run_next(&r, &over, &ended, &error);
	if (status != EXIT_NOTHING)
		return *error.what ? fail(&error) : status;
	return ended && !*r.interrupted ? report_end(&r) : print_state(&r);
}

int shares_run_rounds_once(const struct arguments *a)
{
	struct error error = { 0 };
	g_autofree char *folder = g_dir_make_tmp("heddle-XXXXXX", NULL);
	if (folder == NULL)
		return shares_no_room(&error);
	g_autofree char *state = g_strdup_printf("%s/state", folder);
	int status = shares_run_rounds(a, state);
	remove_tasks(&(struct rounds){ .state = state });
	unlink(state);
	rmdir(folder);
	return status;
}
