/*
 * cmd_commute.c - `heddle commute`: commutativity races, order violations, uses after free.
 */
#include "engine/commute/rd2.h"
#include "tui/batch/command.h"

#include <string.h>

static const struct command_option options[] = {
	{ "spec", "FILE", "a specification, besides those that ship; may be repeated", 0 },
	{ "analysis", "rd2|cov", "commutativity races (default), or order violations", 0 },
	{ "pairs", "sites|events", "one finding a pair of source lines (default), or every pair", 0 },
	{ "direct", NULL, "rd2 without access points: compare each invocation with every other", 0 },
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

static const char *const analyses[] = { "rd2", "cov", NULL };
static const char *const pairs[] = { "sites", "events", NULL };

static struct report *analyse(const struct arguments *a, struct model *m, struct error *error)
{
	bool pairs_events = argument_choice(a, "pairs", pairs, 0) == 1;
	struct rd2_options rd2 = { .pairs_events = pairs_events,
				   .direct = argument_flag(a, "direct") };
	return rd2_find(m, &rd2, progress_on_stderr(), error);
}

static int run_on(struct arguments *a, struct trace *t, const struct specs *specs)
{
	struct print_options print = { .format = argument_format(a, true) };
	struct error error = { 0 };
	struct model *m = model_new(t, specs, progress_on_stderr(), &error);
	struct report *r = m ? analyse(a, m, &error) : NULL;
	progress_done();
	int status = r ? print_report(r, &print) : fail(&error);
	if (r)
		report_free(r);
	model_free(m);
	return status;
}

static int run(struct arguments *a)
{
	struct error error = { 0 };
	argument_words(a, 1, 1);
	argument_choice(a, "analysis", analyses, 0);
	argument_choice(a, "pairs", pairs, 0);
	argument_format(a, true);
	GPtrArray *paths = argument_values(a, "spec");
	struct specs *specs = specs_open(paths, &error);
	g_ptr_array_unref(paths);
	if (specs == NULL)
		return fail(&error);
	struct trace *t = open_trace(a, a->words->pdata[0]);
	int status = EXIT_BAD;
	if (t != NULL) {
		status = run_on(a, t, specs);
		trace_close(t);
	}
	specs_free(specs);
	return status;
}

const struct command command_commute = {
	.name = "commute",
	.usage = "TRACE [--spec FILE]... [--analysis rd2|cov]",
	.summary = "commutativity races, order violations, uses after free",
	.options = options,
	.run = run,
};
