/*
 * cmd_open.c - `heddle open TRACE`, and `heddle TRACE`: the explorer.
 */
#include "engine/trace/binary/reel.h"
#include "tui/batch/command.h"
#include "tui/explorer/explorer.h"

#include <string.h>

static int run_open(struct arguments *a)
{
	argument_words(a, 1, 1);
	struct explorer_options options = {
		.executable = argument_value(a, "exe"),
		.script = argument_value(a, "script"),
		.report = argument_value(a, "report"),
		.at = argument_value(a, "at"),
		.notes = argument_value(a, "notes"),
	};
	if (strcmp(a->words->pdata[0], "-") == 0)
		return usage_error(a, "the keys come from standard input: name a file");
	reel_set_way(REEL_BY_NEED, 0);
	struct trace *trace = open_trace(a, a->words->pdata[0]);
	if (trace == NULL)
		return EXIT_BAD;
	struct error error;
	g_autoptr(GPtrArray) specifications = argument_values(a, "spec");
	options.specifications = specifications;
	int status = explorer_run(trace, &options, &error);
	if (status == EXIT_BAD)
		say_error(&error);
	return status;
}

static const struct command_option options_open[] = {
	{ "exe", "PROG", "the program that was recorded, for replay", 0 },
	{ "spec", "FILE", "a specification, besides those that ship; may be repeated", 0 },
	{ "report", "FILE", "open at the pair that a ThreadSanitizer or Helgrind report names",
	  0 },
	{ "at", "EVENT", "open at this event", 0 },
	{ "notes", "FILE",
	  "keep marks, notes and bookmarks there, not in TRACE.notes beside the trace", 0 },
	{ "script", "FILE",
	  "run commands of the command line first; without a terminal, only them", 0 },
	OPTION_LENIENT,
	{ 0 },
};

const struct command command_open = {
	.name = "open",
	.usage = "TRACE [--exe PROG] [--spec F] [--report F] [--at EVENT] [--notes F] "
	         "[--script F]",
	.summary = "explore a trace on the full screen",
	.details = "Keys: ? lists the keys of the view, q leaves, : opens the command "
	           "line.\n"
	           "NO_COLOR is honoured; a configuration is read from "
	           "$XDG_CONFIG_HOME/heddle/config.",
	.options = options_open,
	.run = run_open,
	.reads_weak = true,
};
