/* cmd_deadlocks.c - `heddle deadlocks`: predictable deadlocks, with witnesses. */
#include "engine/predict/deadlock.h"
#include "tui/batch/race_options.h"

static const struct command_option options[] = {
	{ "pairs", "sites|events",
	  "one finding for each cycle of source locations, or for each set of requests", 0 },
	{ "verdicts", "all", "list also what is impossible or unknown", 0 },
	{ "missing", NULL, "take code that was not recorded into account (barrier pairs)", 0 },
	{ "values", NULL, "a read may see any write of the same value", 0 },
	{ "budget", "PAIR,ALL", "seconds of the solver for a cycle, in all (default: 1,5)", 0 },
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

static int run(struct arguments *a)
{
	struct print_options print = { .format = argument_format(a, true) };
	struct race_options find;
	struct error error = { .where = "" };
	struct report *r;
	struct trace *t;
	int status;

	argument_words(a, 1, 1);
	if (!race_options_parse(a, &find))
		return EXIT_BAD;
	find.pairs_events =
	        argument_choice(a, "pairs", (const char *[]){ "sites", "events", NULL }, 0) ==
	        1;
	find.all_verdicts = print.all_verdicts =
	        argument_choice(a, "verdicts", (const char *[]){ "race", "all", NULL }, 0) == 1;
	t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	r = race_options_fit(a, t, &find, &error)
	            ? deadlocks_find(t, &find, progress_on_stderr(), &error)
	            : NULL;
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
	.details = "Looks for threads that can each hold a lock and wait for one that the next "
	           "of\n"
	           "them holds. Every cycle gets a verdict: race (it can happen, with a "
	           "witness),\n"
	           "impossible (with a proof) or unknown (the budget ran out).",
	.options = options,
	.run = run,
};
