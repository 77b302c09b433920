/*
 * shares_jobs.c - processes of heddle: their command lines, the wait for them, and the merge of
 * their reports.
 */
#include "tui/batch/shares/shares_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void shares_jobs_begin(struct share_jobs *j, const struct arguments *a, unsigned count)
{
	*j = (struct share_jobs){ .a = a,
		                  .count = count,
		                  .pids = g_new0(pid_t, count),
		                  .lost = g_new0(bool, count),
		                  .until_error = argument_flag(a, "until-error"),
		                  .interrupted = catch_interruption() };
}

void shares_jobs_end(struct share_jobs *j)
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

GPtrArray *shares_command_begin(const struct arguments *a, const char *const *replaced)
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

void shares_command_add(GPtrArray *words, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	g_ptr_array_add(words, g_strdup_vprintf(format, values));
	va_end(values);
}

void shares_command_end(const struct arguments *a, GPtrArray *words)
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

pid_t shares_start(GPtrArray *words, const char *output, bool quiet)
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

static void tell_all(struct share_jobs *j)
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

int shares_wait_for(pid_t pid)
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

static void note_ended(struct share_jobs *j, unsigned job, int status)
{
	int code = status_of(status);
	j->pids[job] = 0;
	j->lost[job] = j->signalled && WIFSIGNALED(status);
	if (!is_result(code) && !j->lost[job] && !j->worst)
		j->worst = code;
	if (j->until_error && code == EXIT_FOUND)
		tell_all(j);
}

void shares_wait_for_all(struct share_jobs *j)
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

void shares_start_job(struct share_jobs *j, unsigned job, GPtrArray *words, const char *report)
{
	j->pids[job] = shares_start(words, report, job > 0);
	if (j->pids[job] < 0)
		j->worst = EXIT_OURS;
	g_ptr_array_unref(words);
}

int shares_merged(const GPtrArray *files, const char *format, const char *baseline,
                  const char *output)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(words, g_strdup("heddle"));
	g_ptr_array_add(words, g_strdup("merge"));
	shares_command_add(words, "--format=%s", format ? format : "text");
	if (baseline)
		shares_command_add(words, "--baseline=%s", baseline);
	g_ptr_array_add(words, g_strdup("--lenient"));
	g_ptr_array_add(words, g_strdup("--"));
	for (guint i = 0; i < files->len; i++)
		g_ptr_array_add(words, g_strdup(files->pdata[i]));
	g_ptr_array_add(words, NULL);
	fflush(stdout);
	int status = shares_wait_for(shares_start(words, output, false));
	g_ptr_array_unref(words);
	return status;
}

int shares_no_room(struct error *error)
{
	error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
	          "cannot keep the reports: %s", g_strerror(errno));
	return fail(error);
}
