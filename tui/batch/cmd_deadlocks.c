/* cmd_deadlocks.c - `heddle deadlocks`: predictable deadlocks, with witnesses. */
#include "engine/predict/deadlock.h"
#include "tui/batch/command.h"

#include <stdlib.h>

static const struct command_option options[] = {
	{ "pairs", "sites|events",
	  "one finding for each cycle of source locations, or for each set of requests", 0 },
	{ "verdicts", "all", "list also what is impossible or unknown", 0 },
	{ "values", NULL, "a read may see any write of the same value", 0 },
	{ "budget", "PAIR,ALL", "seconds of the solver for a cycle, in all (default: 1,5)", 0 },
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

static bool read_budget(const char *text, struct race_options *o)
{
	char *end;

	if (text == NULL)
		return true;
	o->budget_pair = strtod(text, &end);
	if (end == text || *end != ',')
		return false;
	text = end + 1;
	o->budget_total = strtod(text, &end);
	return end != text && *end == '\0' && o->budget_pair >= 0 && o->budget_total >= 0;
}

static int run(struct arguments *a)
{
	struct print_options print = { .format = argument_format(a, true) };
	struct race_options find;
	struct error error = { .where = "" };
	struct report *r;
	struct trace *t;
	int status;

	argument_words(a, 1, 1);
	race_options_init(&find);
	find.pairs_events = argument_choice(a, "pairs", (const char *[]){ "sites", "events", NULL },
					    0) == 1;
	find.all_verdicts = print.all_verdicts =
		argument_choice(a, "verdicts", (const char *[]){ "race", "all", NULL }, 0) == 1;
	find.use_values = argument_flag(a, "values");
	if (!read_budget(argument_value(a, "budget"), &find))
		return usage_error(a, "--budget takes two numbers of seconds, as in 1,5, not '%s'",
				   argument_value(a, "budget"));
	t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	r = deadlocks_find(t, &find, progress_on_stderr(), &error);
	progress_done();
	status = r == NULL ? fail(&error) : print_report(r, &print);
	report_free(r);
	trace_close(t);
	return status;
}

const struct command command_deadlocks = {
	.name = "deadlocks",
	.usage = "TRACE [--verdicts all] [--budget PAIR,ALL]",
	.summary = "predictable deadlocks: lock-order cycles with a witness",
	.details = "Looks for threads that can each hold a lock and wait for one that the next of\n"
		   "them holds. Every cycle gets a verdict: race (it can happen, with a witness),\n"
		   "impossible (with a proof) or unknown (the budget ran out).",
	.options = options,
	.run = run,
};
