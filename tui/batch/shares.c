/*
 * shares.c - see shares.h.
 *
 * Each share is this command with --shard I/N and the same options, in a process of its own,
 * whose report goes to a file; `heddle merge` joins them. An exploration is divided into tasks
 * instead (tasks.h), but for one that looks for an error: when one has no more work while
 * others have, all are ended, joined and divided again.
 */
#include "tui/batch/shares.h"
#include "tui/batch/reports/report_file.h"

#include "engine/base/file.h"
#include "engine/explore/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_JOBS = 256, MOST_SHARDS = 1000000 };

/* -- options ------------------------------------------------------------------------------- */

void argument_shard(const struct arguments *a, uint32_t *shard, uint32_t *shards)
{
	const char *text = argument_value(a, "shard");
	char *end = NULL;
	*shard = *shards = 0;
	if (text == NULL)
		return;
	guint64 i = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0, n = 0;
	if (i > 0 && *end == '/' && g_ascii_isdigit(end[1]))
		n = g_ascii_strtoull(end + 1, &end, 10);
	if (i < 1 || i > n || n > MOST_SHARDS || *end)
		exit(usage_error(a, "--shard: expected I/N with I from 1 to N, found '%s'",
		                 text));
	if (argument_value(a, "baseline"))
		exit(usage_error(a,
		                 "--baseline is for 'heddle merge', as a share does not know "
		                 "what the others find"));
	*shard = (uint32_t)i - 1;
	*shards = (uint32_t)n;
}

static unsigned jobs_of(const struct arguments *a)
{
	uint64_t jobs = argument_number(a, "jobs", 1);
	if (jobs < 1 || jobs > MOST_JOBS)
		exit(usage_error(a, "--jobs wants a number from 1 to %d, found '%s'", MOST_JOBS,
		                 argument_value(a, "jobs")));
	if (jobs > 1 && argument_value(a, "shard"))
		exit(usage_error(a, "--jobs and --shard: each job takes a share already"));
	return (unsigned)jobs;
}

static bool is_exploration(const struct arguments *a)
{
	return strcmp(a->command->name, "explore") == 0;
}

/* STATE.task.I, the task of one of several processes that explore STATE. */
static char *task_of(const char *state, unsigned job)
{
	return g_strdup_printf("%s.task.%u", state, job + 1);
}

static char *base_of(const char *state)
{
	return g_strdup_printf("%s.task.base", state);
}

/* Were processes that explored parts of this state killed? */
static bool has_tasks(const char *state)
{
	char *base = state ? base_of(state) : NULL;
	bool there = base && g_file_test(state, G_FILE_TEST_EXISTS) && tasks_are(base);
	g_free(base);
	return there;
}

/* Shares of a search for an error are by strategies of their own, so that each finds others. */
static bool shares_are_tasks(const struct arguments *a)
{
	return is_exploration(a) &&
	       (argument_value(a, "resume") || !argument_flag(a, "until-error"));
}

bool shares_asked(const struct arguments *a, bool keeps)
{
	const char *resume = argument_value(a, "resume");
	uint32_t shard, shards;
	argument_shard(a, &shard, &shards);
	return jobs_of(a) > 1 || (keeps && resume) || (!keeps && has_tasks(resume));
}

/* -- processes ----------------------------------------------------------------------------- */

struct jobs {
	const struct arguments *a;
	unsigned count;
	char *folder; /* of the reports; owned */
	pid_t *pids;  /* 0: not running; owned */
	bool until_error, signalled;
	bool balances;   /* when one has ended, the others are stopped */
	gint64 earliest; /* but not before this time */
	int worst;       /* exit status of a job that could not do its share, or 0 */
	bool *lost;      /* by job: it had no report when it was stopped; owned */
	const volatile int *interrupted;
};

static void jobs_begin(struct jobs *j, const struct arguments *a, unsigned count)
{
	*j = (struct jobs){ .a = a,
		            .count = count,
		            .pids = g_new0(pid_t, count),
		            .lost = g_new0(bool, count),
		            .until_error = argument_flag(a, "until-error"),
		            .interrupted = catch_interruption() };
}

static void jobs_end(struct jobs *j)
{
	g_free(j->pids);
	g_free(j->lost);
	g_free(j->folder);
}

static bool is_flag(const struct arguments *a, const char *name)
{
	const struct command_option *o = a->command->options;
	while (o->name && strcmp(o->name, name) != 0)
		o++;
	return o->argument == NULL;
}

/* Begins the command with the options that are not `replaced` (NULL-terminated); command_end
 * adds the program. */
static GPtrArray *command_begin(const struct arguments *a, const char *const *replaced)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(words, g_strdup("heddle"));
	g_ptr_array_add(words, g_strdup(a->command->name));
	for (guint i = 0; i < a->option_names->len; i++) {
		const char *name = a->option_names->pdata[i],
		           *value = a->option_values->pdata[i];
		if (!g_strv_contains(replaced, name))
			g_ptr_array_add(words, !is_flag(a, name)
			                               ? g_strdup_printf("--%s=%s", name, value)
			                               : g_strdup_printf("--%s", name));
	}
	return words;
}

static void command_add(GPtrArray *words, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static void command_add(GPtrArray *words, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	g_ptr_array_add(words, g_strdup_vprintf(format, values));
	va_end(values);
}

static void command_end(const struct arguments *a, GPtrArray *words)
{
	if (!a->command->takes_program) /* operands may begin with '-' */
		g_ptr_array_add(words, g_strdup("--"));
	for (guint i = 0; i < a->words->len; i++)
		g_ptr_array_add(words, g_strdup(a->words->pdata[i]));
	if (a->rest)
		g_ptr_array_add(words, g_strdup("--"));
	for (char **word = a->rest; word && *word; word++)
		g_ptr_array_add(words, g_strdup(*word));
	g_ptr_array_add(words, NULL);
}

/* Runs heddle with its standard output in a new file (NULL: ours); a negative number: errno. */
static pid_t start(GPtrArray *words, const char *output, bool quiet)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid < 0 ? -errno : pid;
	int out = output ? open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : 1;
	int nowhere = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : 2;
	if (out < 0) {
		struct error error;
		error_set(&error, place_line(output, 0).text, "choose another place",
		          "cannot write the file: %s", g_strerror(errno));
		_exit(fail(&error));
	}
	if (out >= 0 && nowhere >= 0 && dup2(out, 1) == 1 && dup2(nowhere, 2) == 2)
		execv("/proc/self/exe", (char **)words->pdata);
	_exit(EXIT_OURS);
}

static void tell_all(struct jobs *j)
{
	for (unsigned i = 0; i < j->count && !j->signalled; i++)
		if (j->pids[i] > 0)
			kill(j->pids[i], SIGINT);
	j->signalled = true;
}

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_OURS;
}

static int wait_for(pid_t pid)
{
	int status = 0;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 ? status_of(status) : EXIT_OURS;
}

static bool is_result(int code)
{
	return code == EXIT_NOTHING || code == EXIT_FOUND || code == EXIT_BUDGET;
}

static void note_ended(struct jobs *j, unsigned job, int status)
{
	int code = status_of(status);
	j->pids[job] = 0;
	j->lost[job] = j->signalled && WIFSIGNALED(status);
	if (!is_result(code) && !j->lost[job] && !j->worst)
		j->worst = code;
	if (j->until_error && code == EXIT_FOUND)
		tell_all(j);
}

/* Waits until all have ended; after an error, or an interruption, they are stopped. */
static void wait_for_all(struct jobs *j)
{
	const struct timespec pause = { 0, 5000000 };
	for (unsigned left = j->count; left > 0;) {
		left = 0;
		for (unsigned i = 0; i < j->count; i++) {
			int status = 0;
			pid_t ended =
			        j->pids[i] > 0 ? waitpid(j->pids[i], &status, WNOHANG) : 0;
			left += j->pids[i] > 0 && ended == 0;
			if (ended != 0 && j->pids[i] > 0)
				note_ended(j, i, status);
		}
		if (*j->interrupted || (j->balances && left > 0 && left < j->count &&
		                        g_get_monotonic_time() >= j->earliest))
			tell_all(j);
		if (left > 0)
			nanosleep(&pause, NULL);
	}
}

static void start_job(struct jobs *j, unsigned job, GPtrArray *words, const char *report)
{
	j->pids[job] = start(words, report, job > 0);
	if (j->pids[job] < 0)
		j->worst = EXIT_OURS;
	g_ptr_array_unref(words);
}

/* Runs heddle on files, in the format asked for; returns the exit status. */
static int merged(const GPtrArray *files, const char *format, const char *baseline,
                  const char *output)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(words, g_strdup("heddle"));
	g_ptr_array_add(words, g_strdup("merge"));
	command_add(words, "--format=%s", format ? format : "text");
	if (baseline)
		command_add(words, "--baseline=%s", baseline);
	g_ptr_array_add(words, g_strdup("--lenient"));
	g_ptr_array_add(words, g_strdup("--"));
	for (guint i = 0; i < files->len; i++)
		g_ptr_array_add(words, g_strdup(files->pdata[i]));
	g_ptr_array_add(words, NULL);
	fflush(stdout);
	int status = wait_for(start(words, output, false));
	g_ptr_array_unref(words);
	return status;
}

/* -- shares -------------------------------------------------------------------------------- */

static char *report_of(const struct jobs *j, unsigned job)
{
	return g_strdup_printf("%s/%u.json", j->folder, job + 1);
}

/* The command of the I-th share. Files that it writes have its number in their names. */
static GPtrArray *share_of(const struct jobs *j, unsigned job)
{
	static const char *const replaced[] = { "jobs",   "output",   "format", "runs",
		                                "resume", "baseline", NULL };
	const struct arguments *a = j->a;
	bool checks = strcmp(a->command->name, "check") == 0;
	const char *output = argument_value(a, "output"), *runs = argument_value(a, "runs");
	GPtrArray *words = command_begin(a, replaced);
	uint64_t most = argument_number(a, "runs", EXPLORE_RUNS);
	if (is_exploration(a))
		command_add(words, "--runs=%" PRIu64, (most + j->count - 1) / j->count);
	else if (runs)
		command_add(words, "--runs=%s", runs);
	command_add(words, "--shard=%u/%u", job + 1, j->count);
	command_add(words, "--format=json");
	if (output || checks)
		command_add(words, "--output=%s.%u", output ? output : "check", job + 1);
	if (argument_value(a, "resume"))
		command_add(words, "--resume=%s.%u", argument_value(a, "resume"), job + 1);
	command_end(a, words);
	return words;
}

static int merge_shares(const struct jobs *j)
{
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
	const char *tree = is_exploration(j->a) ? argument_value(j->a, "output") : NULL;
	for (unsigned i = 0; i < j->count; i++)
		if (!j->lost[i])
			g_ptr_array_add(files, report_of(j, i));
	if (tree)
		merged(files, "json", NULL, tree);
	int status = merged(files, argument_value(j->a, "format"),
	                    argument_value(j->a, "baseline"), NULL);
	g_ptr_array_unref(files);
	return status;
}

static void remove_reports(const struct jobs *j)
{
	for (unsigned i = 0; i < j->count; i++) {
		char *path = report_of(j, i);
		unlink(path);
		g_free(path);
	}
	rmdir(j->folder);
}

/* Prints that the reports cannot be kept while the command runs; the exit status. */
static int has_no_room(struct error *error)
{
	error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
	          "cannot keep the reports: %s", g_strerror(errno));
	return fail(error);
}

static int run_shares(const struct arguments *a)
{
	struct error error = { 0 };
	struct jobs j;
	jobs_begin(&j, a, jobs_of(a));
	j.folder = g_dir_make_tmp("heddle-XXXXXX", NULL);
	if (j.folder == NULL) {
		jobs_end(&j);
		return has_no_room(&error);
	}
	for (unsigned i = 0; i < j.count; i++) {
		char *report = report_of(&j, i);
		start_job(&j, i, share_of(&j, i), report);
		g_free(report);
	}
	wait_for_all(&j);
	int status = j.worst ? j.worst : merge_shares(&j);
	remove_reports(&j);
	jobs_end(&j);
	return status;
}

/* -- a share that is kept ------------------------------------------------------------------ */

static void digest_text(GChecksum *sum, const char *text)
{
	g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

/* Adds the contents of a file to the sum. */
static bool digest_file(GChecksum *sum, const char *path)
{
	g_autofree char *digest = file_digest(path);

	if (digest != NULL)
		digest_text(sum, digest);
	return digest != NULL;
}

/* The identity of a share: command, options, contents of the files that they name, contents of
 * traces or the program, its arguments. Owned by the caller. */
static char *identity_of(const struct arguments *a)
{
	static const char *const left_out[] = { "jobs",   "format",   "resume",
		                                "output", "baseline", NULL };
	static const char *const files[] = { "spec", "expect", "suppressions", NULL };
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	GPtrArray *words = command_begin(a, left_out);
	for (guint i = 0; i < words->len; i++)
		digest_text(sum, words->pdata[i]);
	for (guint i = 0; i < a->option_names->len; i++)
		if (g_strv_contains(files, a->option_names->pdata[i]) &&
		    !digest_file(sum, a->option_values->pdata[i]))
			digest_text(sum, "");
	for (guint i = 0; i < a->words->len; i++)
		if (!digest_file(sum, a->words->pdata[i]))
			digest_text(sum, a->words->pdata[i]);
	char *program = a->rest && a->rest[0] ? g_find_program_in_path(a->rest[0]) : NULL;
	if (program == NULL || !digest_file(sum, program))
		digest_text(sum, "");
	for (char **word = a->rest; word && *word; word++)
		digest_text(sum, *word);
	char *text = g_strdup(g_checksum_get_string(sum));
	g_free(program);
	g_ptr_array_unref(words);
	g_checksum_free(sum);
	return text;
}

/* The first member of a kept report, which names its share. */
static char *member_of(const char *identity)
{
	return g_strdup_printf("{\"share\": \"%s\",", identity);
}

/* Is the file the report of this share? *there: the file exists. */
static bool is_kept(const char *path, const char *identity, bool *there, struct error *error)
{
	char *member = member_of(identity), begin[128] = "";
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has none */
	*there = file >= 0 || errno != ENOENT;
	bool same = file >= 0 && read(file, begin, strlen(member)) == (ssize_t)strlen(member) &&
	            strcmp(begin, member) == 0;
	if (file >= 0)
		close(file);
	g_free(member);
	return same || !*there ||
	       error_set(error, path,
	                 "give --resume a file of its own, or delete this one and begin again",
	                 "is no report of this command with these options and inputs");
}

/* Moves the finished report to the share's file, whole or not at all. */
static bool keep_report(const char *path, const char *made, const char *identity,
                        struct error *error)
{
	char *text = NULL, *member = member_of(identity);
	gsize length = 0;
	bool good =
	        g_file_get_contents(made, &text, &length, NULL) && length > 2 && *text == '{';
	struct file_writer *w = good ? file_writer_open(path, error) : NULL;
	if (!good)
		error_set(error, path, "run the share again", "its report cannot be read");
	if (w) {
		file_writer_put(w, member, strlen(member));
		file_writer_put(w, text + 1, length - 1);
	}
	g_free(member);
	g_free(text);
	return w && file_writer_commit(w, error);
}

/* Makes the share, and keeps its report when it is complete. */
static int make_share(const struct arguments *a, const char *path, const char *identity,
                      struct error *error)
{
	static const char *const replaced[] = { "jobs", "format", "resume", "baseline", NULL };
	struct jobs j;
	char *made = g_strdup_printf("%s.part%d", path, (int)getpid());
	GPtrArray *words = command_begin(a, replaced);
	if (argument_value(a, "shard") == NULL)
		command_add(words, "--shard=1/1");
	command_add(words, "--format=json");
	command_end(a, words);
	jobs_begin(&j, a, 1);
	start_job(&j, 0, words, made);
	wait_for_all(&j);
	int status = j.worst ? j.worst : EXIT_NOTHING;
	bool whole = status == EXIT_NOTHING && !*j.interrupted;
	if (status == EXIT_NOTHING && *j.interrupted)
		error_set(error, path, "run it again", "is not written: it was interrupted");
	if (!whole || !keep_report(path, made, identity, error))
		status = status ? status : EXIT_BAD;
	unlink(made);
	g_free(made);
	jobs_end(&j);
	return status;
}

static int run_kept(const struct arguments *a)
{
	const char *path = argument_value(a, "resume");
	struct error error = { 0 };
	bool there;
	char *identity = identity_of(a);
	int status = is_kept(path, identity, &there, &error) ? EXIT_NOTHING : EXIT_BAD;
	if (status == EXIT_NOTHING && !there)
		status = make_share(a, path, identity, &error);
	g_free(identity);
	if (status != EXIT_NOTHING)
		return *error.what ? fail(&error) : status;
	GPtrArray *files = g_ptr_array_new();
	g_ptr_array_add(files, (char *)path);
	status =
	        merged(files, argument_value(a, "format"), argument_value(a, "baseline"), NULL);
	g_ptr_array_unref(files);
	return status;
}

/* -- an exploration with a state ----------------------------------------------------------- */

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
	GPtrArray *words = command_begin(r->a, replaced);
	command_add(words, "--runs=%" PRIu64, MAX(runs, 1));
	command_add(words, "--budget=%s",
	            g_ascii_dtostr(budget, sizeof budget, seconds_left(r)));
	command_add(words, "--resume=%s", state);
	command_add(words, "--format=json");
	if (output)
		command_add(words, "--output=%s.%u", output, job);
	command_end(r->a, words);
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
	struct jobs j;
	GPtrArray *files = task_files(r);
	jobs_begin(&j, r->a, r->count);
	j.balances = true;
	j.earliest = g_get_monotonic_time() + least;
	for (unsigned i = 0; i < r->count; i++)
		start_job(&j, i, explorer_of(r, files->pdata[i], runs / r->count + 1, i + 1),
		          "/dev/null");
	wait_for_all(&j);
	int status = j.worst;
	if (!take_in(r, files, error) && status == 0)
		status = EXIT_BAD;
	g_ptr_array_unref(files);
	jobs_end(&j);
	return status;
}

/* The first step: one job makes or checks the state. */
static int run_first(const struct rounds *r)
{
	struct jobs j;
	jobs_begin(&j, r->a, 1);
	start_job(&j, 0, explorer_of(r, r->state, 1, 0), "/dev/null");
	wait_for_all(&j);
	int status = j.worst;
	jobs_end(&j);
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
	GPtrArray *words = command_begin(r->a, replaced);
	command_add(words, "--budget=%s",
	            g_ascii_dtostr(budget, sizeof budget, seconds_left(r)));
	command_add(words, "--resume=%s", r->state);
	command_end(r->a, words);
	fflush(stdout);
	int status = wait_for(start(words, NULL, false));
	g_ptr_array_unref(words);
	return status;
}

static int print_state(const struct rounds *r)
{
	const char *tree = argument_value(r->a, "output");
	GPtrArray *files = g_ptr_array_new();
	g_ptr_array_add(files, (char *)r->state);
	if (tree)
		merged(files, "json", NULL, tree);
	int status = merged(files, argument_value(r->a, "format"), NULL, NULL);
	g_ptr_array_unref(files);
	return status;
}

static int run_rounds(const struct arguments *a, const char *state)
{
	const char *budget = argument_value(a, "budget");
	struct error error = { 0 };
	struct rounds r = { .a = a,
		            .state = state,
		            .count = jobs_of(a),
		            .seconds = budget ? g_ascii_strtod(budget, NULL) : EXPLORE_SECONDS,
		            .began = g_get_monotonic_time(),
		            .most = argument_number(a, "runs", EXPLORE_RUNS),
		            .interrupted = catch_interruption() };
	bool over = false, ended = false;
	bool clear = !has_tasks(r.state) || recover(&r, &error);
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

/* The same with a state that is not kept. */
static int run_rounds_once(const struct arguments *a)
{
	struct error error = { 0 };
	g_autofree char *folder = g_dir_make_tmp("heddle-XXXXXX", NULL);
	if (folder == NULL)
		return has_no_room(&error);
	g_autofree char *state = g_strdup_printf("%s/state", folder);
	int status = run_rounds(a, state);
	remove_tasks(&(struct rounds){ .state = state });
	unlink(state);
	rmdir(folder);
	return status;
}

/* -- the command --------------------------------------------------------------------------- */

/* Are all traces files? Each process reads them, and a kept report is compared with them:
 * pipes do not allow that. */
static bool traces_are_files(const struct arguments *a, struct error *error)
{
	for (guint i = 0; i < a->words->len; i++) {
		const char *path = a->words->pdata[i];
		bool input = strcmp(path, "-") == 0;
		GStatBuf status;

		if (!input && (g_stat(path, &status) != 0 || S_ISREG(status.st_mode)))
			continue;
		return error_set(error, input ? "standard input" : place_line(path, 0).text,
		                 "write the trace to a file, and name that",
		                 "cannot be read more than once, as --jobs and --resume do");
	}
	return true;
}

/* Is the baseline readable? It is used by the merge, but a mistake is reported before the
 * work is done. */
static bool baseline_is_good(const struct arguments *a, struct error *error)
{
	const char *path = argument_value(a, "baseline");
	struct report_file *r = path ? report_file_open(path, error) : NULL;
	bool good = path == NULL || r != NULL;

	report_file_free(r);
	return good;
}

int shares_run(const struct arguments *a)
{
	struct error error;

	if (!traces_are_files(a, &error) || !baseline_is_good(a, &error))
		return fail(&error);
	if (is_exploration(a) && argument_value(a, "resume"))
		return run_rounds(a, argument_value(a, "resume"));
	if (shares_are_tasks(a))
		return run_rounds_once(a);
	return jobs_of(a) > 1 ? run_shares(a) : run_kept(a);
}
