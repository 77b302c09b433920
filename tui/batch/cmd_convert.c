/*
 * cmd_convert.c - `heddle convert`: converts between trace formats.
 */
#include "tui/batch/trace_out.h"

#include <stdio.h>

static const struct command_option options[] = {
	{ "to", "std|text|binary", "the format to write (default: by OUT's suffix, else text)",
	  0 },
	OPTION_LENIENT,
	{ 0 },
};

static int run(struct arguments *a)
{
	argument_words(a, 2, 2);
	const char *out = a->words->pdata[1];
	enum trace_format format = trace_out_format(a, out);
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	struct error error;
	uint64_t left_out = 0;
	bool good = trace_out_write(t, out, format, NULL, &left_out, &error);
	if (good && left_out)
		fprintf(stderr,
		        "heddle: %s: left out %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
		        " events that STD cannot say\n",
		        trace_name(t), left_out, t->events_count);
	trace_close(t);
	return good ? EXIT_NOTHING : fail(&error);
}

const struct command command_convert = {
	.name = "convert",
	.usage = "IN OUT [--to std|text|binary]",
	.summary = "convert a trace between formats",
	.details = "OUT may be - for standard output (text and std).",
	.options = options,
	.run = run,
};
