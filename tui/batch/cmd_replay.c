/*
 * cmd_replay.c - heddle replay: runs the program along a witness up to the racing pair, lets
 * either thread go first, and reports the outcome of both orders.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/record/interpose.h"
#include "engine/predict/deadlock/stuck.h"
#include "engine/record/plan_run.h"
#include "engine/witness/witness.h"
#include "tui/batch/command.h"
#include "tui/batch/print/print.h"
#include "tui/batch/replay/replay_gdb.h"
#include "tui/batch/replay/replay_parting.h"
#include "tui/batch/replay/replay_program.h"
#include "tui/batch/replay/replay_server.h"
#include "tui/dap/dap.h"

static int ours(const struct error *error)
{
	say_error(error);
	return EXIT_OURS;
}

/* -- the witness's trace ------------------------------------------------------------------- */

/* The file of `folder` whose escaped name is `name`, since a witness has escaped names. */
static char *file_printed_as(const char *folder, const char *name)
{
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	const char *entry;
	char *path = NULL;
	while (dir && !path && (entry = g_dir_read_name(dir)) != NULL)
		if (strcmp(printable(entry), name) == 0)
			path = g_build_filename(folder, entry, NULL);
	return path ? path : g_build_filename(folder, name, NULL);
}

static struct trace *trace_of(struct arguments *a, const char *witness_path,
                              const struct witness *w)
{
	struct error error;
	const char *given = argument_value(a, "trace");
	char *path = g_strdup(given);
	if (!path && w->trace_name) {
		g_autofree char *folder = g_path_get_dirname(witness_path);
		path = file_printed_as(folder, w->trace_name);
		if (access(path, R_OK) != 0 && access(w->trace_name, R_OK) == 0) {
			g_free(path);
			path = g_strdup(w->trace_name);
		}
	}
	if (!path) {
		error_set(&error, witness_path, "name it with --trace",
		          "the witness does not name its trace");
		say_error(&error);
		return NULL;
	}
	struct trace *t = open_trace(a, path);
	g_free(path);
	if (!t || !w->trace_digest || !*w->trace_digest)
		return t;
	g_autofree char *digest = trace_digest(t);
	if (*digest && g_ascii_strcasecmp(digest, w->trace_digest) != 0) {
		error_set(
		        &error, trace_name(t), "make the witness again for this trace",
		        "is not the trace that the witness was made for (its SHA-256 differs)");
		say_error(&error);
		trace_close(t);
		t = NULL;
	}
	return t;
}

/* -- output -------------------------------------------------------------------------------- */

static void print_event(const struct trace *t, uint32_t e, const char *before)
{
	g_autoptr(GString) line = g_string_new(NULL);
	trace_append_words(t, e, line);
	fprintf(stderr, "heddle: %s%s %s at %s\n", before, printable_thread(t, e), line->str,
	        printable(trace_location_name(t, e)));
}

static void print_stop(const struct trace *t, const struct plan *p, const struct plan_run *run)
{
	if (!plan_stopped(run))
		return;
	fprintf(stderr, "heddle: stopped %s:\n",
	        p->pair[1] == NONE ? "before the event" : "before the pair");
	for (unsigned side = 0; side < 2; side++) {
		if (p->pair[side] == NONE)
			continue;
		print_event(t, p->pair[side], "  ");
		g_autoptr(GString) stack = g_string_new(NULL);
		plan_append_stack(t, p, run, side, stack);
		fputs(stack->str, stderr);
	}
}

static void print_deadlock(const struct plan_run *run)
{
	g_autoptr(GString) text = g_string_new(NULL);
	record_explain_deadlock(run->trace, &run->facts, text);
	g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
	fprintf(stderr, "heddle:   it ends in a deadlock\n");
	for (char **line = lines; *line; line++)
		if (**line)
			fprintf(stderr, "heddle:     %s\n", *line);
}

static void print_outcome(const struct plan *p, const struct plan_run *run)
{
	if (run->facts.status == LOG_DEADLOCK)
		print_deadlock(run);
	else if (run->facts.status == LOG_STARVED)
		fprintf(stderr, "heddle:   it waits for more input than the recording has: "
		                "Heddle ended "
		                "it there\n");
	else if (run->result.timed_out)
		fprintf(stderr,
		        "heddle:   it does not end: Heddle ended it after %u s (--timeout)\n",
		        p->timeout_ms / 1000);
	else if (run->result.signal)
		fprintf(stderr, "heddle:   it ends with signal %d (%s)%s\n", run->result.signal,
		        strsignal(run->result.signal),
		        run->result.signal == 6 ? ": abort or a failed assertion" : "");
	else
		fprintf(stderr, "heddle:   it ends with exit status %d\n", run->result.status);
}

/* The end of the block's life before the use. */
static void print_freed(const struct trace *t, const struct plan *p)
{
	if (p->poison == NONE)
		return;
	fprintf(stderr, "heddle: that is a use after free: the block was freed before by\n");
	print_event(t, p->poison, "  ");
	fprintf(stderr,
	        "heddle:   (replay filled it with 0x%02x and does not give it out again, so "
	        "that harm shows)\n",
	        LOG_POISON);
}

static bool print_run(const struct trace *t, const struct plan *p, const struct plan_run *run,
                      unsigned first)
{
	if (run->diverged) {
		fprintf(stderr, "heddle: the program left the witness: %s\n",
		        run->cause ? run->cause : "");
		if (run->at != NONE)
			print_event(t, run->at, "  expected next: ");
		return false;
	}
	if (first) {
		fprintf(stderr, "heddle: %s first:\n", printable_thread(t, p->pair[first - 1]));
		for (unsigned k = 0; k < 2; k++) {
			unsigned side = k == 0 ? first - 1 : 2 - first;
			if (run->reached[side] != NONE)
				print_event(run->trace, run->reached[side], "  ");
		}
	}
	if (run->apart) {
		if (!first)
			for (unsigned k = 0; k < 2; k++)
				print_event(run->trace, run->reached[k], "  ");
		fprintf(stderr, "heddle: the program left the witness: these are accesses of "
		                "different places, not of one as in the recording\n");
		return false;
	}
	/* Order violation: the late event. For an operation on a lock or condition the runtime
	 * only reports that its thread reached it. */
	if (!first && p->pair[1] == NONE && run->reached[0] != NONE)
		print_event(run->trace, run->reached[0], "it came to  ");
	if (!first && p->pair[1] == NONE)
		print_freed(t, p);
	print_outcome(p, run);
	return true;
}

/* -- did it happen? ------------------------------------------------------------------------ */

/* Do the threads of the witness's requests wait so at the end of the run, among the threads of
 * the finding? A request is identified by its thread and location. */
static bool waits_so(const struct trace *t, const GArray *requests, const struct trace *run,
                     const struct finding *f)
{
	for (guint i = 0; i < requests->len; i++) {
		uint32_t request = g_array_index(requests, uint32_t, i);
		const char *thread = trace_thread_name(t, t->events[request].thread);
		bool found = false;
		for (guint k = 0; k < f->waits->len; k++) {
			uint32_t e = g_array_index(f->waits, struct wait, k).event;
			found |= strcmp(trace_thread_name(run, run->events[e].thread),
			                thread) == 0 &&
			         strcmp(trace_location_name(run, e),
			                trace_location_name(t, request)) == 0;
		}
		if (!found)
			return false;
	}
	return true;
}

/* Did the run end in the waits of the witness? Prints which. */
static bool wait_happened(const struct trace *t, const struct witness *w,
                          const struct plan_run *run)
{
	bool deadlock = w->claim == CLAIM_DEADLOCK;
	const char *what = deadlock ? "deadlock" : "wait that never ends";
	unsigned dropped;
	g_autoptr(GPtrArray) stuck = stuck_find(run->trace, &dropped);
	bool happened = false;
	for (guint i = 0; i < stuck->len; i++) {
		struct finding *f = stuck->pdata[i];
		happened |= (f->kind == FINDING_DEADLOCK || !deadlock) &&
		            waits_so(t, w->pair, run->trace, f);
		finding_free(f);
	}
	bool other = run->facts.status == LOG_DEADLOCK;
	if (happened)
		fprintf(stderr, "heddle: the %s of the witness happened\n", what);
	else
		fprintf(stderr, "heddle: the %s of the witness did not happen: %s\n", what,
		        other ? "the run ended in another wait"
		              : "its threads came to these requests and went on");
	return happened;
}

/* -- the command --------------------------------------------------------------------------- */

enum { DEFAULT_TIMEOUT = 300 }; /* seconds */

/* Do the two orders have the same outcome? */
static bool same_outcome(const struct plan_run *x, const struct plan_run *y)
{
	if (x->result.status != y->result.status || x->facts.status != y->facts.status)
		return false;
	for (int i = 0; i < 2; i++) {
		if ((x->reached[i] == NONE) != (y->reached[i] == NONE))
			return false;
		if (x->reached[i] == NONE)
			continue;
		g_autoptr(GString) a = g_string_new(NULL), b = g_string_new(NULL);
		trace_append_operation(x->trace, x->reached[i], a);
		trace_append_operation(y->trace, y->reached[i], b);
		if (!g_string_equal(a, b))
			return false;
	}
	return true;
}

/* `waits`: a witness of waits that never end; NULL: both orders of the pair. `keep`: prefix of
 * the runs' traces, or NULL. */
static int follow(const struct trace *t, const struct plan *p, char **argv, unsigned first,
                  const struct witness *waits, bool gdb, const char *keep)
{
	struct plan_run runs[2];
	struct error error;
	bool two = waits == NULL && p->pair[1] != NONE && first == 0;
	int status = 0;
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR); /* both runs read from here */
	fflush(NULL);
	for (unsigned i = 0; i < (two ? 2u : 1u); i++) {
		unsigned way = p->pair[1] == NONE ? 0 : first ? first : two ? i + 1 : 0;
		if (two) /* above the output of this run */
			fprintf(stderr, "heddle: run %u of 2, %s is to go first\n", i + 1,
			        printable_thread(t, p->pair[i]));
		if (input >= 0)
			lseek(STDIN_FILENO, input, SEEK_SET);
		struct gdb_stop stop = { t, { p->pair[0], p->pair[1] } };
		if (!plan_follow(p, argv, way, gdb && i == 0 ? gdb_at_pair : NULL, &stop,
		                 &runs[i], &error)) {
			if (i == 1)
				plan_run_release(&runs[0]);
			return ours(&error);
		}
		if (i == 0 && !runs[i].diverged)
			print_stop(t, p, &runs[i]);
		if (keep && !replay_keep(&runs[i], keep, way ? way : 1, &error))
			status = ours(&error);
		if (!print_run(t, p, &runs[i], way)) {
			status = EXIT_OURS;
			if (i == 1 && runs[1].diverged)
				fprintf(stderr,
				        "heddle:   the first run may have left files that this "
				        "one finds: --first 2 makes this one alone\n");
			for (unsigned k = 0; k <= i; k++)
				plan_run_release(&runs[k]);
			return status;
		}
		if (waits && !wait_happened(t, waits, &runs[i]))
			status = EXIT_OURS;
		/* The failing run of the two determines the exit status. */
		if (runs[i].result.status > status)
			status = runs[i].result.status;
		if (two && i == 0 && runs[0].result.interrupted && runs[0].result.signal) {
			fprintf(stderr, "heddle: interrupted: run 2 of 2 was not made\n");
			two = false;
		}
	}
	if (two && same_outcome(&runs[0], &runs[1]))
		fprintf(stderr, "heddle: no difference between the two ways was seen\n");
	replay_tell_parting(t, runs, two ? 2 : 1);
	for (unsigned i = 0; i < (two ? 2u : 1u); i++)
		plan_run_release(&runs[i]);
	return status;
}

/* The free before a use of its block in a witness, or NONE. */
static uint32_t free_in(const struct trace *t, const struct witness *w)
{
	for (guint i = 0; w->claim == CLAIM_COV && w->pair && i < w->pair->len; i++) {
		uint32_t e = g_array_index(w->pair, uint32_t, i);
		if (e < t->events_count && t->events[e].op == OP_FREE)
			return e;
	}
	return NONE;
}

/* Replace the recorded bind lines by those of --spec, by name; files without bind lines do not
 * matter to a replay. */
static bool take_specs(const struct arguments *a, struct plan *plan, struct error *error)
{
	g_autoptr(GPtrArray) given = argument_values(a, "spec");
	bool binds, ok = interposer_binds(given, &binds, error);
	if (ok && binds) {
		g_ptr_array_unref(plan->specs);
		plan->specs = g_ptr_array_ref(given);
	}
	return ok;
}

static bool requested(const struct witness *w, uint32_t event)
{
	for (guint i = 0; w->pair && i < w->pair->len; i++)
		if (g_array_index(w->pair, uint32_t, i) == event)
			return true;
	return false;
}

/* Length of a witness without its final requests; `pair` becomes the first two of them, where
 * all are for locks. Further requests, and other waits, follow by themselves, since no thread
 * can continue. */
static size_t before_requests(const struct trace *t, const struct witness *w, uint32_t pair[2])
{
	size_t length = w->events ? w->events->len : 0;
	if (w->pair)
		plan_stops(t, w->pair, pair);
	while (length > 0 && requested(w, g_array_index(w->events, uint32_t, length - 1)))
		length--;
	return length;
}

/* Both accesses of a C11 race are in the witness, one after the other. */
static void explain_c11(const struct trace *t, const struct witness *w)
{
	fprintf(stderr,
	        "heddle: a race by the rules of C11 alone: only relaxed atomics, or a lock that "
	        "was tried in vain, order the two,\n"
	        "heddle: so where one thread runs at a time they come one after the other\n");
	for (guint i = 0; w->pair && i < w->pair->len; i++) {
		uint32_t e = g_array_index(w->pair, uint32_t, i);
		if (e < t->events_count)
			print_event(t, e, i == 0 ? "  between " : "  and ");
	}
}

/* The recorded order of the first events, used without a witness. */
static GArray *recorded_order(uint32_t count)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t e = 0; e < count; e++)
		g_array_append_val(events, e);
	return events;
}

/* Runs the finished plan. */
static int run_plan(struct arguments *a, const struct trace *t, const struct witness *w,
                    struct plan *plan, char **argv)
{
	enum { LONGEST = 86400 * 7 }; /* seconds: a week */
	struct error error;
	const char *server = argument_value(a, "gdb-server");
	unsigned first = argument_number(a, "first", 0);
	uint64_t seconds = argument_number(a, "timeout", DEFAULT_TIMEOUT);
	bool waits = claim_waits(w->claim) && !argument_value(a, "until");
	if (w->events) { /* a witness, not the recorded run itself */
		plan->memory = w->memory;
		plan_weak(plan, t, w->weak);
	}
	plan->poison = free_in(t, w);
	plan->other_build = replay_compare_program(t, argv[0]);
	if (!argument_flag(a, "gdb")) /* under a debugger the time is unlimited */
		plan->timeout_ms = (unsigned)MIN(seconds, LONGEST) * 1000;
	if (!take_specs(a, plan, &error))
		return ours(&error);
	first = first > 2 ? 0 : first;
	if (server) {
		struct replay_server served = { .trace = t,
			                        .witness = w,
			                        .plan = plan,
			                        .argv = argv,
			                        .address = server,
			                        .first = plan->pair[1] == NONE ? 0
			                                 : first || waits      ? first
			                                                       : 1,
			                        .timeout = (unsigned)MIN(seconds, LONGEST) };
		return replay_serve(&served);
	}
	return follow(t, plan, argv, first, waits ? w : NULL, argument_flag(a, "gdb"),
	              argument_value(a, "output"));
}

/* Is it a race, in a run that is not sequentially consistent, with both accesses at the end
 * of the witness? */
static bool both_are_next(const struct trace *t, const struct witness *w)
{
	guint n = w->events->len;
	if (w->claim != CLAIM_C11_RACE || w->pair->len != 2 || n < 2 ||
	    trace_weak_first(t) == NONE)
		return false;
	for (guint i = 0; i < 2; i++)
		if (g_array_index(w->events, uint32_t, n - 2 + i) !=
		    g_array_index(w->pair, uint32_t, i))
			return false;
	return true;
}

static bool is_frame(enum op op)
{
	return op == OP_ENTER || op == OP_LEAVE;
}

static int replay(struct arguments *a, const struct trace *t, const struct witness *w,
                  char **argv)
{
	struct error error;
	struct plan plan;
	uint32_t pair[2] = { NONE, NONE };
	const char *until = argument_value(a, "until");
	size_t length = w->events ? w->events->len : 0;
	const uint32_t *events = w->events ? (const uint32_t *)w->events->data : NULL;
	g_autoptr(GArray) whole = NULL;
	if (!witness_fits(t, w, &error))
		return ours(&error);
	if (until) {
		pair[0] = argument_number(a, "until", 0);
		if (pair[0] >= t->events_count) {
			error_set(&error, trace_name(t), "the ids are those of the reports",
			          "--until: there is no event %s, the trace has %" PRIu64
			          " events, counted from 0",
			          until, t->events_count);
			return ours(&error);
		}
		if (!events) {
			whole = recorded_order(pair[0]);
			events = (const uint32_t *)whole->data;
			length = whole->len;
		}
		for (size_t i = 0; i < length; i++)
			if (events[i] == pair[0])
				length = i;
	} else if (!events) {
		whole = recorded_order((uint32_t)t->events_count);
		events = (const uint32_t *)whole->data;
		length = whole->len;
	} else if (w->claim == CLAIM_RACE || both_are_next(t, w)) {
		if (length >= 2)
			length -= 2;
		for (guint i = 0; i < 2 && w->pair && i < w->pair->len; i++)
			pair[i] = g_array_index(w->pair, uint32_t, i);
	} else if (claim_waits(w->claim)) {
		length = before_requests(t, w, pair);
	} else if (length > 0 && (length < t->events_count || argument_flag(a, "gdb"))) {
		/* stop before the last event that is a step: entries and ends of functions are
		 * none */
		while (length > 1 && is_frame(t->events[events[length - 1]].op))
			length--;
		pair[0] = events[length - 1];
		length--;
	}
	if (w->claim == CLAIM_C11_RACE && trace_weak_first(t) == NONE && !until)
		explain_c11(t, w);
	int status = EXIT_OURS;
	if (plan_make(t, events, length, pair, &plan, &error))
		status = run_plan(a, t, w, &plan, argv);
	else
		say_error(&error);
	plan_release(&plan);
	return status;
}

/* --dap: the editor says which run, where the command line does not. */
static int serve_editor(const struct arguments *a, const char *address)
{
	static const char *const passed[] = { "first", "until", "timeout", "spec" };
	struct error error;
	GPtrArray *options = g_ptr_array_new_with_free_func(g_free);
	unsigned timeout = (unsigned)argument_number(a, "timeout", DEFAULT_TIMEOUT);
	struct dap_start start = { .options = options,
		                   .witness = argument_value(a, "witness"),
		                   .trace = argument_value(a, "trace"),
		                   .argv = a->rest && a->rest[0] ? a->rest : NULL,
		                   .timeout = timeout };
	for (size_t i = 0; i < G_N_ELEMENTS(passed); i++) {
		GPtrArray *values = argument_values(a, passed[i]);
		for (guint k = 0; k < values->len; k++) {
			const char *value = values->pdata[k];
			bool file = g_file_test(value, G_FILE_TEST_IS_REGULAR);
			g_ptr_array_add(options, g_strdup_printf("--%s", passed[i]));
			g_ptr_array_add(options, file ? g_canonicalize_filename(value, NULL)
			                              : g_strdup(value));
		}
		g_ptr_array_unref(values);
	}
	if (argument_flag(a, "lenient"))
		g_ptr_array_add(options, g_strdup("--lenient"));
	int status = EXIT_BAD;
	if (replay_address_check("--dap", address, &error) &&
	    replay_client(address, "waiting for an editor at", timeout, &start.in, &start.out,
	                  &error) &&
	    dap_serve(&start, &error))
		status = 0;
	if (status)
		say_error(&error);
	g_ptr_array_free(options, TRUE);
	return status;
}

static int run_replay(struct arguments *a)
{
	struct error error;
	struct witness w = { 0 };
	const char *path = argument_value(a, "witness"), *dap = argument_value(a, "dap");
	if (dap)
		return serve_editor(a, dap);
	if (!a->rest || !a->rest[0])
		return no_program(a);
	const char *server = argument_value(a, "gdb-server");
	if (!path && !argument_value(a, "trace"))
		return usage_error(a,
		                   "--witness W is needed (or --trace T: the recorded order)");
	if (server && !replay_address_check("--gdb-server", server, &error)) {
		say_error(&error);
		return 2;
	}
	if (path && !witness_read(path, &w, &error)) {
		witness_release(&w);
		return ours(&error);
	}
	int status = EXIT_OURS;
	struct trace *t = trace_of(a, path, &w);
	if (t)
		status = replay(a, t, &w, a->rest);
	trace_close(t);
	witness_release(&w);
	return status;
}

static const struct command_option options[] = {
	{ "witness", "W", "the order to follow; its trace is found by name, beside it", 'w' },
	{ "trace", "TRACE", "the recording, when it lies elsewhere", 0 },
	OPTION_BEFORE,
	{ "first", "1|2", "which of the pair goes first (default: both ways, in two runs)", 0 },
	{ "until", "EVENT", "stop before this event instead", 0 },
	{ "output", "PREFIX", "keep the runs as traces: PREFIX.run1.hdl, PREFIX.run2.hdl",
	  'o' },
	{ "gdb", NULL, "stop there with gdb attached to the process", 0 },
	{ "gdb-server", "PORT",
	  "serve gdb ('target remote localhost:PORT'), which goes through the run forward and "
	  "backward; also localhost:PORT, a path, or - for standard input and output",
	  0 },
	{ "dap", "PORT",
	  "serve an editor by the Debug Adapter Protocol; the same addresses; witness, trace "
	  "and program may come from the editor",
	  0 },
	{ "spec", "FILE", "the bind lines that it was recorded with, when they lie elsewhere",
	  0 },
	{ "timeout", "SECONDS",
	  "end a run that has not ended after this time (default 300; 0: never; none with "
	  "--gdb)",
	  0 },
	OPTION_LENIENT,
	{ 0 },
};

const struct command command_replay = {
	.name = "replay",
	.usage = "--witness W|--trace T [--first 1|2] [--until EVENT] [--gdb] "
	         "[--gdb-server PORT] [--dap PORT] [--timeout S] -- PROG ARGS",
	.summary = "make a witness happen on the real program",
	.details =
	        "Stops both threads before the pair, prints their stacks, lets either go first, and says\n"
	        "how each order ends and where the two differ: at the first event of a thread that is\n"
	        "another event or sees another value.  Without a witness the recorded order is run.  Exits\n"
	        "as the program does (the worse of two runs); 125 when the program leaves the witness or\n"
	        "Heddle itself fails.",
	.options = options,
	.run = run_replay,
	.takes_program = true,
	.ends_as_program = true,
	.reads_weak = true,
};
