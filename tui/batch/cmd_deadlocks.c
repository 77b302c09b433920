/* cmd_deadlocks.c - `heddle deadlocks`: predictable deadlocks, with witnesses. */
#include "engine/predict/deadlock/deadlock.h"
#include "tui/batch/race_options.h"

static const struct command_option options[] = {
	{ "pairs", "sites|events",
	  "one finding for each cycle of source locations, or for each set of requests", 0 },
	{ "verdicts", "all", "list cycles that are impossible or unknown, too", 0 },
	OPTION_MISSING,
	OPTION_VALUES,
	{ "budget", "PAIR,ALL", "seconds of the solver for a cycle and in all (default: 1,5)",
	  0 },
	OPTION_BASELINE,
	OPTION_SUPPRESSIONS,
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

static bool parse(struct arguments *a, struct race_options *find, struct print_options *print)
{
	static const char *const pairs[] = { "sites", "events", NULL };
	static const char *const verdicts[] = { "race", "all", NULL };

	argument_words(a, 1, 1);
	if (!print_options_parse(a, print) || !race_options_parse(a, find))
		return false;
	find->pairs_events = argument_choice(a, "pairs", pairs, 0) == 1;
	print->all_verdicts = argument_choice(a, "verdicts", verdicts, 0) == 1;
	/* a finding that has disappeared may now be impossible */
	find->all_verdicts = print->all_verdicts || print->baseline != NULL;
	return true;
}

static int run_on(struct arguments *a, struct trace *t, const struct race_options *find,
                  struct print_options *print)
{
	struct error error = { .where = "" };
	struct report *r = race_options_fit(a, t, find, &error)
	                           ? deadlocks_find(t, find, progress_on_stderr(), &error)
	                           : NULL;

	if (r != NULL && !deadlocks_mark_missing(t, find, r, progress_on_stderr(), &error)) {
		report_free(r);
		r = NULL;
	}
	progress_done();
	print->trace = t;
	int status = r == NULL ? fail(&error) : print_report(r, print);
	report_free(r);
	return status;
}

static int run(struct arguments *a)
{
	struct print_options print = { 0 };
	struct race_options find;
	struct trace *t = parse(a, &find, &print) ? open_trace(a, a->words->pdata[0]) : NULL;
	int status = t != NULL ? run_on(a, t, &find, &print) : EXIT_BAD;

	print_options_release(&print);
	trace_close(t);
	return status;
}

const struct command command_deadlocks = {
	.name = "deadlocks",
	.usage = "TRACE [--verdicts all] [--budget PAIR,ALL]",
	.summary = "deadlocks and other waits that never end: happened, or with a witness",
	.details =
	        "Lists the deadlock that the recorded run ended in, or the threads that were stuck, as\n"
	        "'happened': which thread waits for which lock, condition, semaphore, barrier or thread,\n"
	        "and which one holds it.  Then looks for cycles of threads that each hold a lock and wait\n"
	        "for one that the next of them holds.  Every cycle gets a verdict: race (it can happen,\n"
	        "with a witness), impossible (with a proof) or unknown (the budget ran out).  Last,\n"
	        "searches all states of other schedules for waits that nothing ends: kind deadlock for\n"
	        "circles through joins, kind stuck for a signal that was lost, a post or an arrival that\n"
	        "does not come, a lock that is never released.  The line after the findings says whether\n"
	        "that search came to its end.",
	.options = options,
	.run = run,
};
