/*
 * cmd_commute.c - `heddle commute`: commutativity races, order violations, uses after free.
 */
#include "engine/commute/missing.h"
#include "tui/batch/commute_linear.h"
#include "tui/batch/print/print.h"
#include "tui/batch/spec_rules.h"

#include <stdlib.h>

static const struct command_option options[] = {
	{ "spec", "FILE",
	  "a specification, besides those that ship (default: those it was recorded "
	  "with); may be repeated",
	  0 },
	{ "analysis", "rd2|cov|edc",
	  "commutativity races (default), order violations, or candidates for these by the order EDC",
	  0 },
	{ "linearizable", NULL,
	  "instead: can the calls on each object be put in an order, each between its beginning and "
	  "its return, that explains what they returned?",
	  0 },
	OPTION_PAIRS,
	{ "direct", NULL, "rd2 without access points: compare each invocation with every other",
	  0 },
	{ "bounded", NULL,
	  "edc: track critical sections in bounded space; candidates may be added, none lost",
	  0 },
	{ "verdicts", "all", "cov: list pairs that are impossible or unknown, too", 0 },
	{ "budget", "PAIR,ALL",
	  "cov: seconds of the solver for a pair and in all (default: 1,5)", 0 },
	OPTION_BASELINE,
	OPTION_SUPPRESSIONS,
	OPTION_LENIENT,
	OPTION_FORMAT_SARIF,
	{ 0 },
};

enum { RD2, COV, EDC };
static const char *const analyses[] = { "rd2", "cov", "edc", NULL };
static const char *const pairs[] = { "sites", "events", NULL };

static const char *const verdicts[] = { "race", "all", NULL };

/* The report, in which findings that calls into uninstrumented code may order are marked. */
static struct report *analyse(const struct arguments *a, struct model *m, struct error *error)
{
	const struct progress *progress = progress_on_stderr();
	bool pairs_events = argument_choice(a, "pairs", pairs, 0) == 1, marked = false;
	struct rd2_options rd2 = { .pairs_events = pairs_events,
		                   .direct = argument_flag(a, "direct") };
	struct cov_options cov = { .pairs_events = pairs_events,
		                   .all_verdicts =
		                           argument_choice(a, "verdicts", verdicts, 0) == 1,
		                   .budget_pair = 1,
		                   .budget_total = 5 };
	argument_budget(a, &cov.budget_pair, &cov.budget_total);
	struct edc_options edc = { .pairs_events = pairs_events,
		                   .bounded = argument_flag(a, "bounded") };
	struct report *r = NULL;
	switch (argument_choice(a, "analysis", analyses, RD2)) {
	case COV:
		r = cov_find(m, &cov, progress, error);
		marked = r && cov_mark_missing(m, &cov, r, progress, error);
		break;
	case EDC:
		r = edc_find(m, &edc, progress, error);
		marked = r && edc_mark_missing(m, &edc, r, progress, error);
		break;
	default:
		r = rd2_find(m, &rd2, progress, error);
		marked = r && rd2_mark_missing(m, &rd2, r, progress, error);
	}
	if (r != NULL && !marked) {
		report_free(r);
		r = NULL;
	}
	return r;
}

static int run_on(struct arguments *a, struct trace *t, const struct specs *specs,
                  const GPtrArray *notes, struct print_options *print)
{
	struct error error = { 0 };
	struct model *m = model_new(t, specs, progress_on_stderr(), &error);
	if (m && argument_flag(a, "linearizable")) {
		int linear = commute_linear(m, notes, print->format);
		progress_done();
		model_free(m);
		return linear;
	}
	struct report *r = m ? analyse(a, m, &error) : NULL;
	progress_done();
	for (guint i = 0; r && i < notes->len; i++)
		report_note(r, "%s", (char *)notes->pdata[i]);
	int status = r ? print_report(r, print) : fail(&error);
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
	argument_choice(a, "verdicts", verdicts, 0);
	if (argument_flag(a, "linearizable") && argument_value(a, "analysis"))
		return usage_error(a, "--linearizable goes without --analysis");
	if (argument_flag(a, "linearizable") && argument_format(a, true) > FORMAT_JSON)
		return usage_error(a, "--linearizable: its report is text or JSON");
	double pair, total;
	argument_budget(a, &pair, &total);
	struct print_options print;
	struct trace *t =
	        print_options_parse(a, &print) ? open_trace(a, a->words->pdata[0]) : NULL;
	if (t == NULL) {
		print_options_release(&print);
		return EXIT_BAD;
	}
	print.trace = t;
	print.all_verdicts = argument_choice(a, "verdicts", verdicts, 0) == 1;
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) paths = spec_rules_choose(a, t, notes);
	struct specs *specs = specs_open(paths, &error);
	int status = specs ? run_on(a, t, specs, notes, &print) : fail(&error);
	if (specs)
		specs_free(specs);
	print_options_release(&print);
	trace_close(t);
	return status;
}

const struct command command_commute = {
	.name = "commute",
	.usage = "TRACE [--spec FILE]... [--analysis rd2|cov|edc]",
	.summary = "commutativity races, order violations, uses after free",
	.details =
	        "Looks at calls on objects that a specification describes: a dictionary, a queue, a\n"
	        "block of memory.  rd2: two calls that do not commute and that happens-before leaves\n"
	        "unordered, as candidates.  cov: two calls that can come in the other order, with a\n"
	        "witness; of a block of memory, a use after free.  edc: candidates for cov, by the\n"
	        "order EDC.",
	.options = options,
	.run = run,
};
