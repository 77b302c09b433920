/*
 * explore_jobs.c - see explore_jobs.h.
 *
 * Each job is `heddle explore --shard I/N` with the same options, in a process of its own,
 * whose report goes to a file; `heddle merge` joins them.
 */
#include "tui/batch/explore_jobs.h"

#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct jobs {
	struct arguments *a;
	unsigned count;
	char *folder; /* of the reports; owned */
	pid_t *pids;  /* 0: not running */
	bool until_error, told;
	int worst;  /* exit status of a job that could not explore, or 0 */
	bool *lost; /* by job: it had no report when it was told to end; owned */
};

static char *report_of(const struct jobs *j, unsigned job)
{
	return g_strdup_printf("%s/%u.json", j->folder, job + 1);
}

/* What the jobs do themselves, in place of the option given. */
static bool is_replaced(const char *name)
{
	static const char *const replaced[] = { "jobs", "output", "format", "runs", "resume" };
	for (size_t i = 0; i < G_N_ELEMENTS(replaced); i++)
		if (strcmp(name, replaced[i]) == 0)
			return true;
	return false;
}

static bool is_flag(const struct arguments *a, const char *name)
{
	const struct command_option *o = a->command->options;
	while (o->name && strcmp(o->name, name) != 0)
		o++;
	return o->argument == NULL;
}

/* Owned by the caller: g_ptr_array_unref. */
static GPtrArray *command_of(const struct jobs *j, unsigned job)
{
	const struct arguments *a = j->a;
	const char *output = argument_value(a, "output");
	const char *resume = argument_value(a, "resume");
	uint64_t runs = argument_number(a, "runs", EXPLORE_RUNS);
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(words, g_strdup("heddle"));
	g_ptr_array_add(words, g_strdup("explore"));
	for (guint i = 0; i < a->option_names->len; i++) {
		const char *name = a->option_names->pdata[i],
		           *value = a->option_values->pdata[i];
		if (!is_replaced(name))
			g_ptr_array_add(words, !is_flag(a, name)
			                               ? g_strdup_printf("--%s=%s", name, value)
			                               : g_strdup_printf("--%s", name));
	}
	g_ptr_array_add(words,
	                g_strdup_printf("--runs=%" PRIu64, (runs + j->count - 1) / j->count));
	g_ptr_array_add(words, g_strdup_printf("--shard=%u/%u", job + 1, j->count));
	g_ptr_array_add(words, g_strdup("--format=json"));
	if (output)
		g_ptr_array_add(words, g_strdup_printf("--output=%s.%u", output, job + 1));
	if (resume)
		g_ptr_array_add(words, g_strdup_printf("--resume=%s.%u", resume, job + 1));
	g_ptr_array_add(words, g_strdup("--"));
	for (char **word = a->rest; *word; word++)
		g_ptr_array_add(words, g_strdup(*word));
	g_ptr_array_add(words, NULL);
	return words;
}

/* Runs heddle with its standard output in a new file (NULL: ours); a negative number: errno. */
static pid_t start(GPtrArray *words, const char *output, bool quiet)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid < 0 ? -errno : pid;
	int out = output ? open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : 1;
	int nowhere = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : 2;
	if (out >= 0 && nowhere >= 0 && dup2(out, 1) == 1 && dup2(nowhere, 2) == 2)
		execv("/proc/self/exe", (char **)words->pdata);
	_exit(EXIT_OURS);
}

static void tell_all(struct jobs *j)
{
	for (unsigned i = 0; i < j->count && !j->told; i++)
		if (j->pids[i] > 0)
			kill(j->pids[i], SIGINT);
	j->told = true;
}

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_OURS;
}

/* Until all have ended; after an error, or an interruption, they are told to. */
static void wait_for_all(struct jobs *j, const volatile int *interrupted)
{
	const struct timespec pause = { 0, 5000000 };
	for (unsigned left = j->count; left > 0;) {
		left = 0;
		for (unsigned i = 0; i < j->count; i++) {
			int status = 0;
			pid_t ended =
			        j->pids[i] > 0 ? waitpid(j->pids[i], &status, WNOHANG) : 0;
			left += j->pids[i] > 0 && ended == 0;
			if (ended == 0 || j->pids[i] <= 0)
				continue;
			j->pids[i] = 0;
			int code = status_of(status);
			j->lost[i] = j->told && WIFSIGNALED(status);
			if (code != EXIT_NOTHING && code != EXIT_FOUND && code != EXIT_BUDGET &&
			    !j->lost[i] && !j->worst)
				j->worst = code;
			if (j->until_error && code == EXIT_FOUND)
				tell_all(j);
		}
		if (*interrupted)
			tell_all(j);
		if (left > 0)
			nanosleep(&pause, NULL);
	}
}

/* The exit status of `heddle merge`, in the format asked for; to `output` as JSON. */
static int merge(const struct jobs *j, const char *output)
{
	const char *format = argument_value(j->a, "format");
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	int status = 0;
	g_ptr_array_add(words, g_strdup("heddle"));
	g_ptr_array_add(words, g_strdup("merge"));
	g_ptr_array_add(words, g_strdup_printf("--format=%s", output   ? "json"
	                                                      : format ? format
	                                                               : "text"));
	g_ptr_array_add(words, g_strdup("--lenient"));
	for (unsigned i = 0; i < j->count; i++)
		if (!j->lost[i])
			g_ptr_array_add(words, report_of(j, i));
	g_ptr_array_add(words, NULL);
	fflush(stdout);
	pid_t pid = start(words, output, false);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	g_ptr_array_unref(words);
	return pid > 0 ? status_of(status) : EXIT_OURS;
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

int explore_jobs(struct arguments *a, unsigned jobs, const volatile int *interrupted)
{
	struct error error = { 0 };
	struct jobs j = { .a = a,
		          .count = jobs,
		          .folder = g_dir_make_tmp("heddle-XXXXXX", NULL),
		          .pids = g_new0(pid_t, jobs),
		          .lost = g_new0(bool, jobs),
		          .until_error = argument_flag(a, "until-error") };
	const char *output = argument_value(a, "output");
	int status = EXIT_BAD;
	if (j.folder == NULL) {
		error_set(&error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		          "cannot keep the reports: %s", g_strerror(errno));
		g_free(j.pids);
		g_free(j.lost);
		return fail(&error);
	}
	for (unsigned i = 0; i < jobs; i++) {
		GPtrArray *words = command_of(&j, i);
		char *report = report_of(&j, i);
		j.pids[i] = start(words, report, i > 0);
		j.worst = j.pids[i] < 0 ? EXIT_OURS : j.worst;
		g_free(report);
		g_ptr_array_unref(words);
	}
	wait_for_all(&j, interrupted);
	if (j.worst == 0) {
		status = output ? merge(&j, output) : 0;
		status = merge(&j, NULL);
	} else {
		status = j.worst;
	}
	remove_reports(&j);
	g_free(j.pids);
	g_free(j.lost);
	g_free(j.folder);
	return status;
}
