/*
 * cmd_merge.c - `heddle merge`: merges the reports of shards.
 */
#include "engine/explore/tasks.h"
#include "tui/batch/print/explore_tree.h"
#include "tui/batch/reports/report_merge.h"
#include "tui/batch/reports/report_print.h"
#include "tui/batch/reports/shake_merge.h"

static const struct command_option options[] = {
	{ "lenient", NULL, "join what is there, when shards or tasks are missing", 0 },
	{ "tasks", "N",
	  "of explorations: divide what is left into N tasks, PREFIX.1 to PREFIX.N (and PREFIX.base)",
	  0 },
	{ "output", "PREFIX", "with --tasks; without it, of explorations: the file of the join",
	  'o' },
	OPTION_BASELINE,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

/* -- states of explorations ----------------------------------------------------------- */

static bool write_tasks(struct arguments *a, struct tasks *t, struct error *error)
{
	bool divides = argument_value(a, "tasks") != NULL;
	const char *output = argument_output(a, false, divides ? FILE_KINDS : FILE_STATE);
	uint64_t tasks = argument_number(a, "tasks", 0);

	if (output == NULL)
		return true;
	return divides ? tasks_divide(t, output, (uint32_t)tasks, error)
	               : tasks_keep(t, output, error);
}

static int merge_states(struct arguments *a)
{
	enum output_format format = argument_format(a, true);
	struct error error = { 0 };
	uint64_t tasks = argument_number(a, "tasks", 1);
	bool divides = argument_value(a, "tasks") != NULL;

	if (tasks < 1 || tasks > MOST_TASKS)
		return usage_error(a, "--tasks wants a number from 1 to %d, found '%s'",
		                   MOST_TASKS, argument_value(a, "tasks"));
	if (divides && argument_value(a, "output") == NULL)
		return usage_error(a,
		                   "--tasks wants --output PREFIX, the names of their files");
	struct tasks *t = tasks_join(a->words, argument_flag(a, "lenient"), &error);
	if (t == NULL || !write_tasks(a, t, &error)) {
		tasks_free(t);
		return fail(&error);
	}
	struct explore_asked asked = { .program = tasks_program(t),
		                       .memory = "sc",
		                       .options = tasks_options(t) };
	asked.bounded = tasks_bounded(t, &asked.preemptions);
	asked.spurious = tasks_spurious(t);
	int status = explore_print(tasks_report(t), &asked, format);
	tasks_free(t);
	return status;
}

static int merge_reports(struct arguments *a)
{
	GPtrArray *parts = g_ptr_array_new_with_free_func((GDestroyNotify)report_file_free);
	struct report_file *all = NULL, *part;
	struct error error;

	argument_format(a, true);
	do {
		part = report_file_open(a->words->pdata[parts->len], &error);
		if (part != NULL)
			g_ptr_array_add(parts, part);
	} while (part != NULL && parts->len < a->words->len);
	if (part != NULL && report_file_is_shake(parts->pdata[0])) {
		int status = reports_fit(parts, argument_flag(a, "lenient"), &error)
		                     ? shake_merge(parts, argument_format(a, false))
		                     : fail(&error);
		g_ptr_array_unref(parts);
		return status;
	}
	if (part != NULL)
		all = reports_merge(parts, argument_flag(a, "lenient"), &error);
	int status = all != NULL ? report_file_print(a, all) : fail(&error);
	report_file_free(all);
	g_ptr_array_unref(parts);
	return status;
}

static int run(struct arguments *a)
{
	argument_words(a, 1, G_MAXUINT);
	if (tasks_are(a->words->pdata[0]))
		return merge_states(a);
	if (argument_value(a, "tasks") || argument_value(a, "output"))
		return usage_error(a,
		                   "--tasks and --output are for states of explorations "
		                   "(explore --resume), and '%s' is none",
		                   (char *)a->words->pdata[0]);
	return merge_reports(a);
}

const struct command command_merge = {
	.name = "merge",
	.usage = "REPORT... | STATE... [--tasks N -o PREFIX]",
	.summary =
	        "join reports of shards (--shard I/N) or of traces, or the tasks of an exploration",
	.details =
	        "The reports are JSON, of one trace (or program), analysis and options; every shard must\n"
	        "be there, once.  The result is what the run without --shard reports, and complete when\n"
	        "all of its parts are.  Reports of several whole traces, of one analysis and its options,\n"
	        "become a list with each finding once, and the reports that have it.  Reports of 'check' are joined into one list, whatever runs they\n"
	        "are of.  States of explorations (explore --resume) are joined into one.  --tasks divides\n"
	        "the pending schedules evenly into files for explore --resume, the tasks of the next\n"
	        "round; PREFIX.base, beside them, has what all tasks know.\n"
	        "Exit status: as that of races, explore or check.",
	.options = options,
	.run = run,
};
