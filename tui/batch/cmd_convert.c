/*
 * cmd_convert.c - `heddle convert`: converts between trace formats.
 */
#include "engine/base/streams.h"
#include "engine/export/export.h"
#include "engine/predict/predict.h"
#include "tui/batch/trace_out.h"
#include "engine/trace/weak.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command_option options[] = {
	{ "to", "std|text|binary|perfetto|csv",
	  "the format to write (default: by OUT's suffix, else text)", 0 },
	OPTION_LENIENT,
	{ 0 },
};

/* Formats for other programs, which heddle does not read. */
enum exported { EXPORT_PERFETTO, EXPORT_CSV, EXPORT_COUNT };
static const struct {
	const char *word, *suffix;
} exports[EXPORT_COUNT] = {
	[EXPORT_PERFETTO] = { "perfetto", ".pftrace" },
	[EXPORT_CSV] = { "csv", ".csv" },
};

/* The export format of the options; EXPORT_COUNT: none. */
static enum exported export_asked(const struct arguments *a, const char *out)
{
	static const char *const words[] = { "std", "text", "binary", "perfetto", "csv", NULL };
	const char *word = argument_value(a, "to");

	argument_choice(a, "to", words, 0);
	for (int i = 0; i < EXPORT_COUNT; i++)
		if (word ? strcmp(word, exports[i].word) == 0
		         : g_str_has_suffix(out, exports[i].suffix))
			return (enum exported)i;
	return EXPORT_COUNT;
}

/* The data races, to be marked in the export: those of the ladder within its budget. */
static bool put_with_races(struct trace *t, struct file_writer *file, struct error *error)
{
	struct race_options race;

	race_options_init(&race);
	struct report *races = races_find(t, &race, progress_on_stderr(), error);
	progress_done();
	if (races != NULL) {
		export_perfetto(t, races, file);
		report_free(races);
	}
	return races != NULL;
}

/* Standard output, or a file that may be replaced. NULL and `error` on failure. */
static struct file_writer *open_export(const char *out, enum exported format,
                                       struct error *error)
{
	bool print = strcmp(out, "-") == 0;

	if (print && format == EXPORT_PERFETTO && isatty(STDOUT_FILENO)) {
		error_set(error, "standard output", "name a file",
		          "a Perfetto trace is binary, and this is a terminal");
		return NULL;
	}
	if (print)
		return file_writer_to(streams_put_data);
	bool may =
	        file_may_become(out, format == EXPORT_CSV ? FILE_TABLE : FILE_PERFETTO, error);
	return may ? file_writer_open(out, error) : NULL;
}

static int export(const struct arguments *a, enum exported format)
{
	struct trace *t = open_trace(a, a->words->pdata[0]);
	struct error error;

	if (t == NULL)
		return EXIT_BAD;
	struct file_writer *file = open_export(a->words->pdata[1], format, &error);
	bool good = file != NULL;
	if (good && format == EXPORT_CSV)
		export_csv(t, file);
	else if (good)
		good = put_with_races(t, file, &error);
	if (good)
		good = file_writer_commit(file, &error);
	else
		file_writer_abandon(file);
	trace_close(t);
	return good ? EXIT_NOTHING : fail(&error);
}

static int run(struct arguments *a)
{
	argument_words(a, 2, 2);
	const char *out = a->words->pdata[1];
	enum exported exported = export_asked(a, out);
	if (exported != EXPORT_COUNT)
		return export(a, exported);
	enum trace_format format = trace_out_format(a, out);
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	struct error error;
	uint64_t left_out = 0;
	bool good = (format != TRACE_STD || trace_weak_allows(t, "STD", &error)) &&
	            trace_out_write(t, out, format, NULL, &left_out, &error);
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
	.details =
	        "OUT may be - for standard output (not with binary).  perfetto (OUT.pftrace) is for\n"
	        "ui.perfetto.dev and trace_processor: threads, critical sections, the\n"
	        "write that each read sees, data races; csv is a table.  Heddle reads neither.",
	.options = options,
	.run = run,
	.reads_weak = true,
};
