/* cmd_filter.c - `heddle filter`: leave out redundant accesses (TREE). */
#include "engine/partial/tree.h"
#include "tui/batch/trace_out.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct command_option options[] = {
	{ "output", "FILE", "the trace to write; - is standard output", 'o' },
	{ "to", "std|text|binary", "the format to write (default: by FILE's suffix, else text)",
	  0 },
	{ "for", "hb|wcp",
	  "lose no pair of sites of these analyses (default: the paper's rule, exact for the "
	  "lockset)",
	  0 },
	OPTION_LENIENT,
	OPTION_FORMAT,
	{ 0 },
};

struct outcome {
	const char *rule;
	uint64_t events, dropped, left_out;
};

static void print_outcome(const struct trace *t, const struct outcome *o, bool json)
{
	if (!json) {
		fprintf(stderr,
		        "heddle: %s: dropped %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
		        " events as redundant (%s)\n",
		        trace_name(t), o->dropped, o->events, o->rule);
		if (o->left_out)
			fprintf(stderr,
			        "heddle: %s: left out %" G_GUINT64_FORMAT
			        " more that STD cannot say\n",
			        trace_name(t), o->left_out);
		return;
	}
	json_t *j = json_pack("{ss ss ss sI sI sI sI}", "heddle", HEDDLE_VERSION, "trace",
	                      trace_name(t), "rule", o->rule, "events", (json_int_t)o->events,
	                      "dropped", (json_int_t)o->dropped, "kept",
	                      (json_int_t)(o->events - o->dropped), "left_out",
	                      (json_int_t)o->left_out);
	json_dumpf(j, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(j);
}

static int run(struct arguments *a)
{
	argument_words(a, 1, 1);
	static const char *const analyses[] = { "hb", "wcp", NULL };
	const char *out = argument_value(a, "output");
	if (out == NULL)
		return usage_error(a, "name the trace to write: -o OUT");
	enum trace_format format = trace_out_format(a, out);
	int sound = argument_choice(a, "for", analyses, -1);
	bool json = argument_format(a, false) == FORMAT_JSON;
	if (json && strcmp(out, "-") == 0)
		return usage_error(a, "standard output cannot hold the trace and JSON");
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	struct outcome o = { .rule = sound >= 0 ? analyses[sound] : "lockset",
		             .events = t->events_count };
	struct error error;
	uint64_t *keep = tree_filter(t, sound >= 0 ? TREE_SOUND : TREE_PAPER, &o.dropped,
	                             progress_on_stderr());
	progress_done();
	bool good = keep ? trace_out_write(t, out, format, keep, &o.left_out, &error)
	                 : error_set(&error, "", NULL, "cancelled");
	if (good)
		print_outcome(t, &o, json);
	g_free(keep);
	trace_close(t);
	return good ? EXIT_NOTHING : fail(&error);
}

const struct command command_filter = {
	.name = "filter",
	.usage = "TRACE -o OUT [--to std|text|binary] [--for hb|wcp]",
	.summary = "leave out redundant accesses (TREE), with a count",
	.details =
	        "An access is dropped when kept ones of its location, variable, kind, locks\n"
	        "and messages have said it.  Synchronisation is never dropped.  Analyses that\n"
	        "need to know what each read sees (shb, syncp, m2, smt, auto) refuse the\n"
	        "result unless --lenient is given.",
	.options = options,
	.run = run,
};
