/* cmd_convert.c - `heddle convert`: between the formats of a trace. */
#include "engine/trace/formats.h"
#include "tui/batch/command.h"

#include <stdio.h>
#include <string.h>

static const struct command_option options[] = {
	{ "to", "std|text|binary", "the format to write (default: by OUT's suffix, else text)",
	  0 },
	OPTION_LENIENT,
	{ 0 },
};

static enum trace_format format_of(const struct arguments *a, const char *path)
{
	static const char *const words[] = { "text", "std", "binary", NULL };
	enum trace_format by_suffix = g_str_has_suffix(path, ".std")   ? TRACE_STD
	                              : g_str_has_suffix(path, ".hdl") ? TRACE_BINARY
	                                                               : TRACE_TEXT;
	return argument_choice(a, "to", words, by_suffix);
}

static bool write_out(const struct trace *t, const char *path, enum trace_format format,
                      uint64_t *left_out, struct error *error)
{
	if (strcmp(path, "-") != 0)
		return trace_write(t, path, format, NULL, left_out, error);
	if (format == TRACE_BINARY)
		return error_set(error, "standard output", "name a file",
		                 "a binary trace is mapped and needs a file");
	GString *text = g_string_new(NULL);
	trace_print(t, format, NULL, text, left_out);
	fwrite(text->str, 1, text->len, stdout);
	g_string_free(text, TRUE);
	return true;
}

static int run(struct arguments *a)
{
	argument_words(a, 2, 2);
	const char *out = a->words->pdata[1];
	enum trace_format format = format_of(a, out);
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	struct error error;
	uint64_t left_out = 0;
	bool good = write_out(t, out, format, &left_out, &error);
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
