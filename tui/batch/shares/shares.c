/*
 * shares.c - see shares.h.
 *
 * Each share is this command with --shard I/N and the same options, in a process of its own,
 * whose report goes to a file; `heddle merge` joins them. An exploration is divided into tasks
 * instead (shares_rounds.c), but for one that looks for an error.
 */
#include "tui/batch/shares/shares_private.h"
#include "tui/batch/reports/report_file.h"

#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shares of a search for an error are by strategies of their own, so that each finds others. */
static bool shares_are_tasks(const struct arguments *a)
{
	return shares_is_exploration(a) &&
	       (argument_value(a, "resume") || !argument_flag(a, "until-error"));
}

bool shares_asked(const struct arguments *a, bool keeps)
{
	const char *resume = argument_value(a, "resume");
	uint32_t shard, shards;
	argument_shard(a, &shard, &shards);
	return shares_jobs_of(a) > 1 || (keeps && resume) ||
	       (!keeps && shares_has_tasks(resume));
}

/* -- shares -------------------------------------------------------------------------------- */

static char *report_of(const struct share_jobs *j, unsigned job)
{
	return g_strdup_printf("%s/%u.json", j->folder, job + 1);
}

/* The command of the I-th share. Files that it writes have its number in their names. */
static GPtrArray *share_of(const struct share_jobs *j, unsigned job)
{
	static const char *const replaced[] = { "jobs",   "output",   "format", "runs",
		                                "resume", "baseline", NULL };
	const struct arguments *a = j->a;
	bool checks = strcmp(a->command->name, "check") == 0;
	const char *output = argument_value(a, "output"), *runs = argument_value(a, "runs");
	GPtrArray *words = shares_command_begin(a, replaced);
	uint64_t most = argument_number(a, "runs", EXPLORE_RUNS);
	if (shares_is_exploration(a))
		shares_command_add(words, "--runs=%" PRIu64, (most + j->count - 1) / j->count);
	else if (runs)
		shares_command_add(words, "--runs=%s", runs);
	shares_command_add(words, "--shard=%u/%u", job + 1, j->count);
	shares_command_add(words, "--format=json");
	if (output || checks)
		shares_command_add(words, "--output=%s.%u", output ? output : "check", job + 1);
	if (argument_value(a, "resume"))
		shares_command_add(words, "--resume=%s.%u", argument_value(a, "resume"),
		                   job + 1);
	shares_command_end(a, words);
	return words;
}

static int merge_shares(const struct share_jobs *j)
{
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
	const char *tree = shares_is_exploration(j->a) ? argument_value(j->a, "output") : NULL;
	for (unsigned i = 0; i < j->count; i++)
		if (!j->lost[i])
			g_ptr_array_add(files, report_of(j, i));
	if (tree)
		shares_merged(files, "json", NULL, tree);
	int status = shares_merged(files, argument_value(j->a, "format"),
	                           argument_value(j->a, "baseline"), NULL);
	g_ptr_array_unref(files);
	return status;
}

static void remove_reports(const struct share_jobs *j)
{
	for (unsigned i = 0; i < j->count; i++) {
		char *path = report_of(j, i);
		unlink(path);
		g_free(path);
	}
	rmdir(j->folder);
}

static int run_shares(const struct arguments *a)
{
	struct error error = { 0 };
	struct share_jobs j;
	shares_jobs_begin(&j, a, shares_jobs_of(a));
	j.folder = g_dir_make_tmp("heddle-XXXXXX", NULL);
	if (j.folder == NULL) {
		shares_jobs_end(&j);
		return shares_no_room(&error);
	}
	for (unsigned i = 0; i < j.count; i++) {
		char *report = report_of(&j, i);
		shares_start_job(&j, i, share_of(&j, i), report);
		g_free(report);
	}
	shares_wait_for_all(&j);
	int status = j.worst ? j.worst : merge_shares(&j);
	remove_reports(&j);
	shares_jobs_end(&j);
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
	GPtrArray *words = shares_command_begin(a, left_out);
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
	struct share_jobs j;
	g_autofree char *made = g_strdup_printf("%s.part%d", path, (int)getpid());
	int fd = open(made, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) { /* before the work, and by the name that was given */
		error_set(error, place_line(path, 0).text, "choose another place",
		          "cannot write the file: %s", g_strerror(errno));
		return EXIT_BAD;
	}
	close(fd);
	GPtrArray *words = shares_command_begin(a, replaced);
	if (argument_value(a, "shard") == NULL)
		shares_command_add(words, "--shard=1/1");
	shares_command_add(words, "--format=json");
	shares_command_end(a, words);
	shares_jobs_begin(&j, a, 1);
	shares_start_job(&j, 0, words, made);
	shares_wait_for_all(&j);
	int status = j.worst ? j.worst : EXIT_NOTHING;
	bool whole = status == EXIT_NOTHING && !*j.interrupted;
	if (status == EXIT_NOTHING && *j.interrupted)
		error_set(error, path, "run it again", "is not written: it was interrupted");
	if (!whole || !keep_report(path, made, identity, error))
		status = status ? status : EXIT_BAD;
	unlink(made);
	shares_jobs_end(&j);
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
	status = shares_merged(files, argument_value(a, "format"),
	                       argument_value(a, "baseline"), NULL);
	g_ptr_array_unref(files);
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
	if (shares_is_exploration(a) && argument_value(a, "resume"))
		return shares_run_rounds(a, argument_value(a, "resume"));
	if (shares_are_tasks(a))
		return shares_run_rounds_once(a);
	return shares_jobs_of(a) > 1 ? run_shares(a) : run_kept(a);
}
