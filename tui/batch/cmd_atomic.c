/* cmd_atomic.c - `heddle atomic`: atomic-set serializability violations. */
#include "engine/atomic/atomic.h"
#include "tui/batch/command.h"

#include <stdlib.h>

static const struct command_option options[] = {
	{ "cycles", "N", "list at most N cycles, shortest first", 0 },
	{ "predict", NULL, "also cycles that did not happen and can, each with a witness", 0 },
	{ "budget", "PAIR,ALL", "seconds of solver time, a pair and in all (default: 1,5)", 0 },
	{ "all", NULL, "also cycles of grade C: over inferred sets alone", 0 },
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

static bool read_budget(const char *text, struct atomic_options *o)
{
	char *end;
	if (text == NULL)
		return true;
	o->budget_pair = g_ascii_strtod(text, &end);
	if (end == text || *end != ',')
		return false;
	const char *rest = end + 1;
	o->budget_total = g_ascii_strtod(rest, &end);
	return end != rest && *end == '\0' && o->budget_pair >= 0 && o->budget_total >= 0;
}

static int run(struct arguments *a)
{
	argument_words(a, 1, 1);
	struct print_options print = { .format = argument_format(a, true) };
	struct atomic_options o = { .limit = argument_number(a, "cycles", 0),
		                    .all = argument_flag(a, "all"),
		                    .predict = argument_flag(a, "predict"),
		                    .budget_pair = 1,
		                    .budget_total = 5 };
	if (!read_budget(argument_value(a, "budget"), &o))
		return usage_error(a, "--budget wants two numbers of seconds, as in 1,5");
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	struct atomic_model *m = atomic_model_declared(t);
	struct report *r = atomic_find(t, m, &o, progress_on_stderr());
	progress_done();
	int status = print_report(r, &print);
	report_free(r);
	atomic_model_free(m);
	trace_close(t);
	return status;
}

const struct command command_atomic = {
	.name = "atomic",
	.usage = "TRACE [--predict] [--cycles N] [--all]",
	.summary = "atomic-set serializability violations",
	.options = options,
	.run = run,
};
