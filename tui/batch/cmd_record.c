/*
 * cmd_record.c - heddle record: runs a program and records it.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/record/session.h"
#include "tui/batch/children/children.h"
#include "tui/batch/command.h"
#include "tui/batch/record_live.h"
#include "tui/batch/suppressions.h"

static int ours(const struct error *error)
{
	say_error(error);
	return EXIT_OURS;
}

/* In MB: a program that never ends would fill the disk. */
static uint64_t max_size(const struct arguments *a)
{
	return argument_number(a, "max-size", RECORD_MAX_BYTES >> 20);
}

/* Print facts about the run that the user must know, on standard error. */
static void tell(const struct recording *s, const struct arguments *a,
                 const struct session_options *o)
{
	const struct record_facts *f = &s->facts;
	struct error note;
	if (f->status == LOG_DEADLOCK) {
		g_autoptr(GString) text = g_string_new(NULL);
		record_explain_deadlock(s->trace, f, text);
		fprintf(stderr,
		        "heddle: deadlock: no thread can go on; the program was ended\n");
		g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
		for (char **l = lines; *l; l++)
			if (**l)
				fprintf(stderr, "heddle:   %s\n", *l);
	}
	if (f->status != LOG_DEADLOCK && f->outcome == LOG_DEADLOCK)
		fprintf(stderr,
		        "heddle: deadlock after the recording had ended: no thread could go "
		        "on; the program was ended\n");
	if (f->instrumented == 0 && f->status != LOG_FULL) {
		error_set(&note, o->argv[0],
		          "build it with 'heddle cc' (or gcc -fsanitize=thread)",
		          "is not instrumented: only synchronisation was recorded");
		say_error(&note);
	}
	if (f->status == LOG_LIMIT)
		fprintf(stderr,
		        "heddle: the limit of --max-size (%" PRIu64
		        " MB) was reached: the trace "
		        "ends there; --max-size 0 is no limit\n",
		        max_size(a));
	if (!(f->flags & LOG_ASLR_OFF))
		fprintf(stderr, "heddle: address randomisation could not be switched off here: "
		                "the trace has addresses of its own\n");
	for (guint i = 0; i < s->trace->warnings->len; i++) {
		error_set(&note, NULL, NULL, "%s", (char *)s->trace->warnings->pdata[i]);
		say_error(&note);
	}
	if (f->happened & LOG_STRICT)
		fprintf(stderr, "heddle: the program gave up system calls (seccomp, strict "
		                "mode), which "
		                "recording needs: the trace ends there\n");
	else if (f->happened & LOG_FILTERED &&
	         (s->result.signal == SIGSYS || s->result.signal == SIGKILL))
		fprintf(stderr,
		        "heddle: the program was killed after it had installed a seccomp "
		        "filter: recording needs system calls of its own (futex, "
		        "pwrite64, sched_yield, ...) that the filter may forbid; record "
		        "it without the filter\n");
	if (f->happened & LOG_FORKED && o->joined == NULL)
		fprintf(stderr, "heddle: the program forked; its children were not recorded "
		                "(--children records the programs that they start)\n");
	if (o->joined != NULL && f->happened & LOG_CHILD_ENDED &&
	    !(f->happened & LOG_CHILD_THREADS))
		fprintf(stderr,
		        "heddle: a child by fork ran on in the same program, and was not "
		        "recorded\n");
	g_autofree char *lacking = record_lacking(f->happened);
	if (lacking != NULL)
		fprintf(stderr,
		        "heddle: not recorded, though they ran code of the program: %s\n",
		        lacking);
}

/* -- signals while the trace is made: the log is kept -------------------------------------- */

/* Signals often come twice: `timeout` signals us and then our process group, a script the
 * program and us. So the first signal within a second of the run's end is taken to be meant
 * for the run, and the trace is still made. */
static volatile sig_atomic_t interrupted, heard;
static const struct record_result *run;

static void interrupt(int number)
{
	enum { TOGETHER_US = 1000000, PATIENCE = 3 };
	int64_t ended = run->ended_us;
	int error = errno;
	if (ended == 0 || heard > PATIENCE) { /* nothing to lose yet, or signalled repeatedly */
		signal(number, SIG_DFL);
		raise(number);
	} else if ((heard++ + run->late > 0 || g_get_monotonic_time() - ended > TOGETHER_US) &&
	           !interrupted) {
		interrupted = number;
	}
	errno = error;
}

static bool goes_on(void *context, double fraction, const char *what)
{
	if (!interrupted && run->late > 1)
		interrupted = run->interrupted;
	const struct progress *shown = progress_on_stderr();
	return !interrupted && progress_tick(shown, fraction, what);
}
static const struct progress making = { goes_on, NULL };

/* While the program runs, signals are the program's. */
static void await_interruption(const struct record_result *of)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART }, old;
	run = of;
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

/* The strategy of the options; its turns are stored in `turns`. */
static bool read_strategy(const struct arguments *a, struct strategy *s, GArray *turns,
                          struct error *error)
{
	const char *target = argument_value(a, "target"), *given = argument_value(a, "turns");
	s->kind = argument_choice(a, "strategy", record_strategies,
	                          given    ? STRATEGY_TURNS
	                          : target ? STRATEGY_SURW
	                                   : STRATEGY_RANDOM);
	s->depth = argument_number(a, "depth", 3);
	s->steps = argument_number(a, "steps", 0);
	s->seed = argument_number(a, "seed", 1);
	s->turns = turns;
	return (!target || strategy_read_target(target, &s->target, error)) &&
	       (!given || strategy_read_turns(given, turns, error));
}

/* False after a message. */
static bool read_sample(const struct arguments *a, struct session_options *o)
{
	enum { MOST = 1000000 };
	uint64_t one_of = argument_number(a, "sample", 1);
	if (!argument_flag(a, "sample"))
		return true;
	if (one_of < 1 || one_of > MOST) {
		usage_error(a,
		            "--sample: expected 1 to %d (one window of accesses in so many), "
		            "found '%s'",
		            MOST, argument_value(a, "sample"));
		return false;
	}
	o->sample = (uint32_t)one_of;
	return true;
}

/* Options of which some exclude others. */
enum {
	WITH_FREE = 1 << 0,
	WITH_MEMORY = 1 << 1,
	WITH_LAST = 1 << 2,
	WITH_COMPRESS = 1 << 3,
	WITH_FILTER = 1 << 4,
	WITH_FILTER_COMMUTE = 1 << 5,
	WITH_SAMPLE = 1 << 6,
	WITH_LIVE = 1 << 7,
	WITH_NO_TRACE = 1 << 8,
	WITH_OUTPUT = 1 << 9,
	WITH_CHILDREN = 1 << 10,
	WITH_BEFORE = 1 << 11,
};
#define WHOLE_LOG \
	"--live reads the whole log as it is written, of sequentially consistent runs: leave "
static const struct {
	unsigned both; /* two options */
	const char *message;
} exclusive[] = {
	{ WITH_MEMORY | WITH_FREE, "--memory is for controlled mode: leave --mode free out" },
	{ WITH_COMPRESS | WITH_LAST,
	  "--compress is not for --last, which limits the log itself" },
	{ WITH_FILTER | WITH_LAST,
	  "--filter is not for --last, which drops what the accesses that are left out repeat" },
	{ WITH_FILTER | WITH_MEMORY, "--filter is not for --memory, whose stores all count" },
	{ WITH_SAMPLE | WITH_FILTER, "--sample is not for --filter, which it implies" },
	{ WITH_SAMPLE | WITH_LAST, "--sample is not for --last" },
	{ WITH_SAMPLE | WITH_MEMORY, "--sample is not for --memory, whose stores all count" },
	{ WITH_LIVE | WITH_FILTER_COMMUTE,
	  "--live finds races of accesses, which --filter commute leaves out" },
	{ WITH_LIVE | WITH_SAMPLE,
	  "--live is not for --sample: 'heddle races' reads the trace" },
	{ WITH_NO_TRACE | WITH_OUTPUT, "--no-trace keeps no trace: leave -o out" },
	{ WITH_CHILDREN | WITH_BEFORE,
	  "--before is not for --children, whose command makes several runs" },
	{ WITH_LIVE | WITH_FREE, WHOLE_LOG "--mode free out" },
	{ WITH_LIVE | WITH_COMPRESS, WHOLE_LOG "--compress out" },
	{ WITH_LIVE | WITH_LAST, WHOLE_LOG "--last out" },
	{ WITH_LIVE | WITH_MEMORY, WHOLE_LOG "--memory out" },
};

/* False after a message. */
static bool options_agree(const struct arguments *a, const struct session_options *o)
{
	unsigned chosen = (o->free_mode ? WITH_FREE : 0) |
	                  (o->memory != WEAK_SC ? WITH_MEMORY : 0) |
	                  (o->keep_events ? WITH_LAST : 0) | (o->compress ? WITH_COMPRESS : 0) |
	                  (o->filter ? WITH_FILTER : 0) |
	                  (o->filter == FILTER_COMMUTE ? WITH_FILTER_COMMUTE : 0) |
	                  (o->sample ? WITH_SAMPLE : 0) |
	                  (argument_flag(a, "live") || o->nothing_kept ? WITH_LIVE : 0) |
	                  (o->nothing_kept ? WITH_NO_TRACE : 0) |
	                  (argument_flag(a, "output") ? WITH_OUTPUT : 0) |
	                  (argument_flag(a, "children") ? WITH_CHILDREN : 0) |
	                  (argument_flag(a, "before") ? WITH_BEFORE : 0);
	for (size_t i = 0; i < G_N_ELEMENTS(exclusive); i++)
		if ((chosen & exclusive[i].both) == exclusive[i].both) {
			usage_error(a, "%s", exclusive[i].message);
			return false;
		}
	return true;
}

/* Say why the recording ended before the program, for an error of the log's file. The exit
 * status. */
static int tell_full(const struct recording *s)
{
	struct error full;
	bool room = s->facts.error != EACCES && s->facts.error != ENOENT;
	error_set(&full, s->output,
	          room ? "make room, or set a limit with --max-size"
	               : "the program can no longer open its own log there: has it become "
	                 "another user, or changed its root?",
	          "recording stopped: %s; the trace has what came before",
	          g_strerror(s->facts.error));
	return ours(&full);
}

/* Writes a report's text. False after a message. */
static bool put_report(const char *path, const char *text)
{
	struct error error;
	struct file_writer *w = file_writer_open(path, &error);
	if (w != NULL) {
		file_writer_put(w, text, strlen(text));
	}
	bool good = w != NULL && file_writer_commit(w, &error);
	if (!good)
		say_error(&error);
	return good;
}

/* --report: what --live or --no-trace has found. `again` as record_live_report has it. False
 * after a message. */
static bool write_report(const char *path, const struct record_live *live, const char *name,
                         uint64_t events, const char *again, const char *note)
{
	char *text = record_live_report(live, name, events, again, note);
	g_autofree char *line = g_strconcat(text, "\n", NULL);
	free(text);
	return put_report(path, line);
}

/* --no-trace: a sentence on misuse, owned by the caller; NULL: there is none. */
static char *misuse_note(const struct recording *s, const struct session_options *o)
{
	g_autoptr(GString) again = g_string_new(NULL);
	strategy_append(&o->strategy, again);
	return s->facts.misuses && o->nothing_kept
	               ? g_strdup_printf("a lock, a thread or the heap was misused: 'heddle "
	                                 "record %s' and 'heddle races' say where",
	                                 again->str)
	               : NULL;
}

/* --no-trace: what was found, and how to see more of it. The exit status. */
static int tell_unkept(const struct recording *s, const struct session_options *o,
                       struct record_live *live, const char *report, bool quiet, int status)
{
	g_autoptr(GString) again = g_string_new(NULL);
	strategy_append(&o->strategy, again);
	if (!quiet)
		fprintf(stderr, "heddle: %" PRIu64 " event%s, no trace\n", s->facts.events,
		        plural(s->facts.events));
	g_autofree char *misused = misuse_note(s, o);
	if (misused != NULL)
		fprintf(stderr, "heddle: %s\n", misused);
	bool written = report == NULL || write_report(report, live, o->argv[0], s->facts.events,
	                                              again->str, misused);
	bool found = record_live_end(live, o->argv[0], again->str) > 0 || s->facts.misuses;
	return !written ? EXIT_OURS : found && status == 0 ? 1 : status;
}

/* For --live and --no-trace; else NULL. */
static struct record_live *new_watcher(const struct arguments *a, struct session_options *o,
                                       const char *lines)
{
	if (!argument_flag(a, "live") && !o->nothing_kept)
		return NULL;
	struct record_live *watcher = record_live_new(lines, NULL, o->specs);
	if (o->filter)
		record_live_filtered(watcher, o->filter == FILTER_VARIABLES,
		                     session_has_shadow(o));
	if (o->no_edc)
		record_live_no_edc(watcher);
	o->watch = record_live_watch(watcher, NULL);
	return watcher;
}

/* Run and record the program, with the lines of suppression files. The exit status. */
static int record(const struct arguments *a, struct session_options *o, const char *lines)
{
	struct recording s = { 0 };
	struct error error;
	const char *report = argument_value(a, "report");
	struct record_live *watcher = new_watcher(a, o, lines);
	if (watcher && report != NULL)
		record_live_keep(watcher, !o->nothing_kept);
	fflush(NULL);
	await_interruption(&s.result);
	bool ok = session_record(o, &s, &making, &error);
	progress_done();
	int status = s.result.status;
	if (ok) {
		tell(&s, a, o);
		if (s.facts.status == LOG_FULL)
			status = tell_full(&s);
		if (!argument_flag(a, "quiet") && !o->nothing_kept)
			fprintf(stderr, "heddle: %" PRIu64 " event%s in %s\n",
			        s.trace->events_count, plural(s.trace->events_count), s.output);
		if (o->nothing_kept)
			status = tell_unkept(&s, o, watcher, report, argument_flag(a, "quiet"),
			                     status);
		else if (watcher) {
			if (report != NULL && !write_report(report, watcher, s.output,
			                                    s.trace->events_count, NULL, NULL))
				status = EXIT_OURS;
			record_live_end(watcher, s.output, NULL);
		}
	} else {
		status = ours(&error);
	}
	record_live_free(watcher);
	session_release(&s);
	if (!ok && interrupted)
		raise(interrupted); /* end by the signal, after the message */
	return status;
}

/* -- --children: the processes of a command --------------------------------------------- */

/* What their attendants have in common. */
struct each {
	const struct arguments *a;
	struct session_options *o;
	const char *lines; /* of suppression files */
};

/* --no-trace: the options that make the runs once more, owned by the caller; else NULL. */
static char *children_again(const struct session_options *o)
{
	g_autoptr(GString) again = g_string_new("--children ");
	strategy_append(&o->strategy, again);
	return o->nothing_kept ? g_strdup(again->str) : NULL;
}

/* False after a message. */
static bool put_children_report(const struct children *c, const char *path)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	children_report(c, out);
	fclose(out);
	bool good = put_report(path, text);
	free(text);
	return good;
}

/* In its attendant: records a process. */
static void record_child(void *context, struct joined *j, const char *output, FILE *report,
                         struct attended *to)
{
	const struct each *each = context;
	struct session_options *o = each->o;
	struct recording s = { 0 };
	struct error error;
	o->argv = j->argv;
	o->output = output;
	o->joined = j;
	struct record_live *watcher = new_watcher(each->a, o, each->lines);
	if (watcher) {
		record_live_keep(watcher, !o->nothing_kept);
		record_live_silent(watcher);
	}
	await_interruption(&s.result);
	bool ok = session_record(o, &s, &making, &error);
	if (ok && watcher) {
		g_autofree char *misused = misuse_note(&s, o);
		g_autofree char *again = children_again(o);
		char *found =
		        record_live_report(watcher, j->argv[0], s.facts.events, again, misused);
		fputs(found, report);
		free(found);
		to->findings = record_live_count(watcher);
		if (misused)
			fprintf(stderr, "heddle: %s\n", misused);
		bool ended_well = s.result.status == 0 && !s.result.unseen;
		to->answer = o->nothing_kept && ended_well && (to->findings > 0 || misused);
		if (o->nothing_kept)
			joined_answer(j, (int)to->answer);
	}
	if (ok) {
		tell(&s, each->a, o);
		if (s.facts.status == LOG_FULL)
			tell_full(&s);
	} else if (!error.cancelled) {
		say_error(&error);
	}
	if (s.result.cleared)
		fputs("heddle: it started a program with an environment without " JOINING_ENVIRONMENT
		      ", which was not recorded\n",
		      stderr);
	to->unwanted = s.result.unwanted;
	to->forked = j->forked;
	to->events = s.facts.events;
	to->misused = o->nothing_kept && s.facts.misuses;
	to->status = s.result.status;
	to->signal = s.result.signal;
	to->unseen = s.result.unseen;
	to->became = s.result.became || s.facts.status == LOG_EXECED;
	to->kept = ok;
	to->done = 1;
}

/* The exit status. */
static int record_children(const struct arguments *a, struct session_options *o,
                           const char *lines)
{
	struct error error;
	struct each each = { a, o, lines };
	g_autofree char *base = g_path_get_basename(o->argv[0]);
	g_autofree char *folder = g_strconcat(base, ".traces", NULL);
	const char *report = argument_value(a, "report"), *output = argument_value(a, "output");
	struct children c = { .argv = o->argv,
		              .folder = o->nothing_kept ? NULL
		                        : output        ? output
		                                        : folder,
		              .record = record_child,
		              .context = &each };
	g_autofree char *again = children_again(o);
	int status = EXIT_OURS;
	if (!children_run(&c, &error)) {
		say_error(&error);
	} else {
		bool found = children_tell(&c, argument_flag(a, "quiet"), again) > 0;
		bool written = report == NULL || put_children_report(&c, report);
		status = !written                                    ? EXIT_OURS
		         : o->nothing_kept && found && c.status == 0 ? 1
		                                                     : c.status;
	}
	int number = c.interrupted;
	children_release(&c);
	if (number)
		raise(number);
	return status;
}

static int run_record(struct arguments *a)
{
	static const char *const modes[] = { "controlled", "free", NULL };
	struct session_options o = { .disk_alone = true };
	struct error error;
	if (a->rest && a->rest[0]) {
		o.argv = a->rest;
	} else if (!a->rest && a->words->len) {
		g_ptr_array_add(a->words, NULL);
		o.argv = (char **)a->words->pdata;
	} else
		return usage_error(a, "no program given");
	o.output = argument_output(a, false,
	                           argument_flag(a, "children") ? FILE_KINDS : FILE_TRACE);
	o.free_mode = argument_choice(a, "mode", modes, 0) == 1;
	o.no_values = argument_flag(a, "no-values");
	o.filter = argument_choice(a, "filter", session_filters, -1) + 1;
	o.nothing_kept = argument_flag(a, "no-trace");
	if (o.nothing_kept && !o.filter)
		o.filter = FILTER_VARIABLES;
	o.no_missing = argument_flag(a, "no-missing");
	o.no_edc = argument_flag(a, "no-edc");
	o.no_inputs = argument_flag(a, "no-inputs");
	g_autoptr(GArray) turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	if (!read_strategy(a, &o.strategy, turns, &error))
		return ours(&error);
	o.memory = argument_choice(a, "memory", weak_model_words, WEAK_SC);
	/* without a trace the log does not grow */
	o.max_bytes = o.nothing_kept && !argument_flag(a, "max-size")
	                      ? 0
	                      : MIN(max_size(a), UINT64_MAX >> 20) << 20;
	o.keep_events = argument_number(a, "last", 0);
	o.compress = argument_flag(a, "compress");
	if (!read_sample(a, &o) || !options_agree(a, &o))
		return usage_status(a->command);
	const char *report = argument_value(a, "report");
	if (report != NULL && !argument_flag(a, "live") && !o.nothing_kept)
		return usage_error(a, "--report is of --live and --no-trace: 'heddle races "
		                      "--format json' makes one of a trace");
	if (report != NULL && strcmp(report, "-") == 0) /* the program's own output */
		return usage_error(a, "--report: expected a file, found '-'");
	if (report != NULL && !file_may_become(report, FILE_REPORT, &error))
		return ours(&error);
	o.start_at = argument_value(a, "start-at");
	g_autoptr(GPtrArray) suppressions = argument_values(a, "suppressions");
	g_autofree char *lines =
	        suppressions->len > 0 ? suppressions_text(suppressions, &error) : NULL;
	if (suppressions->len > 0 && !lines)
		return ours(&error);
	o.suppressions = lines;
	g_autoptr(GPtrArray) specs = argument_values(a, "spec");
	o.specs = specs;
	return argument_flag(a, "children") ? record_children(a, &o, lines)
	                                    : record(a, &o, lines);
}

static const struct command_option options[] = {
	{ "output", "TRACE",
	  "where the trace goes (default: PROG.hdl); with --children: the folder for the traces (default: PROG.traces)",
	  'o' },
	{ "children", NULL,
	  "record each instrumented program that PROG starts, itself or through others: PROG may be a script, make, ctest; a trace for each, and for children by fork of a process without other threads",
	  0 },
	OPTION_BEFORE,
	{ "mode", "controlled|free",
	  "controlled (default): one thread runs at a time, so order and values are exact; free: "
	  "they run at the same time, as without Heddle",
	  0 },
	{ "strategy", "random|pct|noise|rr|pos|surw|turns|pause",
	  "which thread runs next, in controlled mode", 0 },
	{ "depth", "D",
	  "pct: how many pairs of events must come in a certain order for the bug (default 3)",
	  0 },
	{ "steps", "N", "pct: about how many steps the run has (default 1000)", 0 },
	{ "target", "PLACE+SIZE=N,...",
	  "surw: the place whose events come in each order equally often, as shake prints it",
	  0 },
	{ "turns", "THREAD:EVENTS,...",
	  "turns: each THREAD runs in turn, until it has made EVENTS events", 0 },
	{ "seed", "N", "another seed is another schedule (default 1)", 0 },
	{ "memory", "sc|tso|rc11", "the memory model that the run is under (default sc)", 0 },
	{ "spec", "FILE",
	  "a specification: calls of functions that it binds are recorded as invocations; its "
	  "missing blocks say which memory calls into libraries synchronise by",
	  0 },
	{ "max-size", "MB",
	  "stop recording when the log has this size (default 4096; 0: never)", 0 },
	{ "compress", NULL, "compress the log beside the trace while it is written", 0 },
	{ "last", "N", "keep about the last N events", 0 },
	{ "live", NULL,
	  "print on standard error, while the program runs, the races, uses after free and order violations that happens-before and EDC find",
	  0 },
	{ "no-trace", NULL,
	  "keep no trace: only print findings, as --live with --filter variables (or hb or wcp) does; exits with 1 when the program succeeds and there are any",
	  0 },
	{ "report", "FILE",
	  "of --live and --no-trace: also write what is found to FILE, as JSON like that of "
	  "'heddle races'",
	  0 },
	{ "suppressions", "FILE",
	  "ThreadSanitizer's suppressions: findings of this trace that do not count; may be "
	  "repeated",
	  0 },
	{ "start-at", "FUNCTION", "record accesses from the first call of FUNCTION on", 0 },
	{ "filter", "[hb|wcp|variables|commute]",
	  "leave out, while the program runs, all values, and accesses that are redundant for happens-before (the default) or also for WCP, CP, DC and WDC: quicker and smaller, for these analyses and lockset alone; variables: those to bytes that the thread has accessed since it last synchronised: every variable that races by happens-before or lockset, not every pair of places; commute: all plain accesses, and calls into code that is not "
	  "instrumented",
	  0 },
	{ "sample", "N",
	  "record one window in N of the plain accesses, and the first ones of each function, "
	  "with all synchronisation: for --mode free, where a program is to be slowed down "
	  "little; races found are of the whole run, others are missed",
	  0 },
	{ "no-values", NULL, "leave out the values that are read and written", 0 },
	{ "no-edc", NULL,
	  "of --live and --no-trace: happens-before alone, which costs less; order violations and uses after free that locks order in this run are left out",
	  0 },
	{ "no-missing", NULL, "leave out calls into code that is not instrumented", 0 },
	{ "no-inputs", NULL,
	  "leave out input from outside (sockets, pipes, terminals): replay needs it again",
	  0 },
	{ 0 },
};

const struct command command_record = {
	.name = "record",
	.usage = "[-o TRACE] [--children] [--mode M] [--strategy S] [--seed N] -- PROG ARGS",
	.summary = "run a program and record the events of its threads",
	.details =
	        "Exits as the program does (128 + the number of its signal); 125 when Heddle "
	        "itself fails.\nThe program's input and output are its own.",
	.options = options,
	.run = run_record,
	.takes_program = true,
	.ends_as_program = true,
};
