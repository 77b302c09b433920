/*
 * cmd_check.c - `heddle check`: runs all analyses on a program and prints one answer with its
 * coverage.
 */
#include "tui/batch/check/checkup.h"
#include "tui/batch/shares/shares.h"
#include "tui/batch/suppressions.h"

static int answer(const struct arguments *a, struct checkup *c)
{
	enum output_format format = argument_format(a, true);
	struct report_file *old = NULL;
	const char *baseline = argument_value(a, "baseline");
	int status = EXIT_BAD;

	if (baseline != NULL) {
		old = report_file_open(baseline, &c->error);
		if (old == NULL)
			return fail(&c->error);
	}
	if (checkup_run(c, a->words))
		status = checkup_print(c, format, old);
	report_file_free(old);
	return status;
}

static int run(struct arguments *a)
{
	struct checkup c;

	if (a->rest ? a->rest[0] == NULL || a->words->len > 0 : a->words->len == 0)
		return usage_error(a, a->rest && a->words->len > 0
		                              ? "expected a program or traces, found both"
		                              : "no program given after --, and no trace");
	argument_format(a, true);
	if (shares_asked(a, true))
		return shares_run(a);
	int status = EXIT_BAD;
	if (checkup_open(&c, a) && suppressions_parse(a, &c.suppressions)) {
		/* Shares would print one finding several times. */
		c.live = !argument_flag(a, "quiet") && c.share == NULL;
		status = answer(a, &c);
	}
	suppressions_free(c.suppressions);
	checkup_close(&c);
	return status;
}

static const struct command_option options[] = {
	CHECKUP_OPTIONS, OPTION_SHARD("the recordings (or the traces)"),
	OPTION_JOBS,     OPTION_KEPT,
	OPTION_BASELINE, OPTION_SUPPRESSIONS,
	OPTION_LENIENT,  OPTION_FORMAT_SARIF,
	{ 0 },
};

const struct command command_check = {
	.name = "check",
	.usage = "[--budget SECONDS] [--check CONDITION] [--expect FILE] -- PROG ARGS | "
	         "TRACE...",
	.summary = "is this program sound? one list of all findings, and what was covered",
	.details =
	        "Records the program under several strategies and seeds, analyses each run with every\n"
	        "analysis that applies, explores the program where it is small, and runs both orders of\n"
	        "its findings on the real program, to compare the outcomes.  While a recording goes on,\n"
	        "standard error has the races and uses after free that happens-before and EDC find in it\n"
	        "so far (not with -q or --shard).  Stops when the budget is spent or no work is left.\n"
	        "Given traces, it analyses these and runs nothing.  The notes at the end say what was\n"
	        "covered, and what was not.  Exit status: 0 nothing found, 1 something found, 2 bad usage\n"
	        "or a program that cannot be run, 3 nothing found when the budget ran out.",
	.options = options,
	.run = run,
	.takes_program = true,
};
