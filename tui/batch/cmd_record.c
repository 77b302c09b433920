/*
 * cmd_record.c - heddle record: runs a program and records it.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "engine/record/session.h"
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
static void tell(const struct session *s, const struct arguments *a)
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
		error_set(&note, a->rest ? a->rest[0] : a->words->pdata[0],
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
	if (f->happened & LOG_FORKED)
		fprintf(stderr, "heddle: the program forked; its children were not recorded\n");
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
	} else if ((heard++ > 0 || g_get_monotonic_time() - ended > TOGETHER_US) &&
	           !interrupted) {
		interrupted = number;
	}
	errno = error;
}

static bool goes_on(void *context, double fraction, const char *what)
{
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
	const char *against = o->filter              ? "--filter, which it implies"
	                      : o->keep_events       ? "--last"
	                      : o->memory != WEAK_SC ? "--memory, whose stores all count"
	                                             : NULL;
	if (!argument_flag(a, "sample"))
		return true;
	if (one_of < 1 || one_of > MOST)
		usage_error(a,
		            "--sample: expected 1 to %d (one window of accesses in so many), "
		            "found '%s'",
		            MOST, argument_value(a, "sample"));
	else if (against)
		usage_error(a, "--sample is not for %s", against);
	else
		o->sample = (uint32_t)one_of;
	return o->sample != 0;
}

static int run_record(struct arguments *a)
{
	static const char *const modes[] = { "controlled", "free", NULL };
	struct session_options o = { 0 };
	struct session s = { 0 };
	struct error error;
	if (a->rest && a->rest[0]) {
		o.argv = a->rest;
	} else if (!a->rest && a->words->len) {
		g_ptr_array_add(a->words, NULL);
		o.argv = (char **)a->words->pdata;
	} else
		return usage_error(a, "no program given");
	o.output = argument_output(a, false, FILE_TRACE);
	o.free_mode = argument_choice(a, "mode", modes, 0) == 1;
	o.no_values = argument_flag(a, "no-values");
	o.filter = argument_choice(a, "filter", session_filters, -1) + 1;
	o.no_missing = argument_flag(a, "no-missing");
	o.no_inputs = argument_flag(a, "no-inputs");
	g_autoptr(GArray) turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	if (!read_strategy(a, &o.strategy, turns, &error))
		return ours(&error);
	o.memory = argument_choice(a, "memory", weak_model_words, WEAK_SC);
	if (o.memory != WEAK_SC && o.free_mode)
		return usage_error(a,
		                   "--memory %s is for controlled mode: leave --mode free out",
		                   weak_model_words[o.memory]);
	o.max_bytes = MIN(max_size(a), UINT64_MAX >> 20) << 20;
	o.keep_events = argument_number(a, "last", 0);
	o.compress = argument_flag(a, "compress");
	if (o.compress && o.keep_events)
		return usage_error(a,
		                   "--compress is not for --last, which limits the log itself");
	if (o.filter && (o.memory != WEAK_SC || o.keep_events))
		return usage_error(a, "--filter is not for %s",
		                   o.keep_events ? "--last, which drops what the accesses that "
		                                   "are left out repeat"
		                                 : "--memory, whose stores all count");
	if (!read_sample(a, &o))
		return usage_status(a->command);
	bool live = argument_flag(a, "live");
	if (live && o.filter == FILTER_COMMUTE)
		return usage_error(a, "--live finds races of accesses, which --filter commute "
		                      "leaves out");
	if (live && o.sample)
		return usage_error(
		        a, "--live is not for --sample: 'heddle races' reads the trace");
	if (live && (o.free_mode || o.compress || o.keep_events || o.memory != WEAK_SC))
		return usage_error(a,
		                   "--live reads the whole log as it is written, of "
		                   "sequentially consistent runs: leave %s out",
		                   o.free_mode     ? "--mode free"
		                   : o.compress    ? "--compress"
		                   : o.keep_events ? "--last"
		                                   : "--memory");
	o.start_at = argument_value(a, "start-at");
	g_autoptr(GPtrArray) suppressions = argument_values(a, "suppressions");
	char *lines = suppressions->len > 0 ? suppressions_text(suppressions, &error) : NULL;
	bool readable = suppressions->len == 0 || lines != NULL;
	if (!readable)
		return ours(&error);
	o.suppressions = lines;
	o.specs = argument_values(a, "spec");
	o.disk_alone = true;
	struct record_live *watcher = live ? record_live_new(lines, NULL, o.specs) : NULL;
	if (live && o.filter)
		record_live_filtered(watcher);
	if (live)
		o.watch = record_live_watch(watcher, NULL);
	fflush(NULL);
	await_interruption(&s.result);
	bool ok = session_record(&o, &s, &making, &error);
	g_ptr_array_unref((GPtrArray *)o.specs);
	progress_done();
	int status = s.result.status;
	if (ok) {
		tell(&s, a);
		if (s.facts.status == LOG_FULL) {
			struct error full;
			bool room = s.facts.error != EACCES && s.facts.error != ENOENT;
			error_set(&full, s.output,
			          room ? "make room, or set a limit with --max-size"
			               : "the program can no longer open its own log there: "
			                 "has it become another user, or changed its root?",
			          "recording stopped: %s; the trace has what came before",
			          g_strerror(s.facts.error));
			status = ours(&full);
		}
		if (!argument_flag(a, "quiet"))
			fprintf(stderr, "heddle: %" PRIu64 " event%s in %s\n",
			        s.trace->events_count, plural(s.trace->events_count), s.output);
		if (live)
			record_live_end(watcher, s.output);
	} else {
		status = ours(&error);
	}
	record_live_free(watcher);
	g_free(lines);
	session_release(&s);
	if (!ok && interrupted)
		raise(interrupted); /* end by the signal, after the message */
	return status;
}

static const struct command_option options[] = {
	{ "output", "TRACE", "where the trace goes (default: PROG.hdl)", 'o' },
	{ "mode", "controlled|free", "one thread at a time and exact, or free", 0 },
	{ "strategy", "random|pct|noise|rr|pos|surw|turns|pause",
	  "which thread runs next, in controlled mode", 0 },
	{ "depth", "D", "pct: the depth of bugs looked for (default 3)", 0 },
	{ "steps", "N", "pct: about how many steps the run has (default 1000)", 0 },
	{ "target", "PLACE+SIZE=N,...",
	  "surw: the events that are to come in each order equally often (from shake)", 0 },
	{ "turns", "THREAD:EVENTS,...",
	  "turns: each THREAD runs in turn, until it has made EVENTS events", 0 },
	{ "seed", "N", "another seed is another schedule (default 1)", 0 },
	{ "memory", "sc|tso|rc11", "the memory model that the run is under (default sc)", 0 },
	{ "spec", "FILE", "its bind lines become invocations, its missing blocks missing code",
	  0 },
	{ "max-size", "MB",
	  "stop recording when the log has this size (default 4096; 0: never)", 0 },
	{ "compress", NULL, "compress the log beside the trace while it is written", 0 },
	{ "last", "N", "keep about the last N events", 0 },
	{ "live", NULL,
	  "print on standard error, while the program runs, the races, uses after free and order violations that happens-before and EDC find",
	  0 },
	{ "suppressions", "FILE",
	  "ThreadSanitizer's suppressions: findings of this trace that do not count; may be "
	  "repeated",
	  0 },
	{ "start-at", "FUNCTION", "record accesses from the first call of FUNCTION on", 0 },
	{ "filter", "[hb|wcp|commute]",
	  "leave out, while the program runs, accesses that tell happens-before (the default) "
	  "or also WCP and its kin nothing new, and all values: quicker, smaller, and for these "
	  "analyses and lockset alone; commute: all plain accesses, and calls into code that is not "
	  "instrumented",
	  0 },
	{ "sample", "N",
	  "record one window in N of the plain accesses, and the first ones of each function, "
	  "with all synchronisation: for --mode free, where a program is to be slowed down "
	  "little; races found are of the whole run, others are missed",
	  0 },
	{ "no-values", NULL, "leave values out", 0 },
	{ "no-missing", NULL, "leave out calls into code that is not instrumented", 0 },
	{ "no-inputs", NULL,
	  "leave out input from outside (sockets, pipes, terminals): replay needs it again",
	  0 },
	{ 0 },
};

const struct command command_record = {
	.name = "record",
	.usage = "[-o TRACE] [--mode M] [--strategy S] [--seed N] -- PROG ARGS",
	.summary = "run a program and record what its threads do",
	.details =
	        "Exits as the program does (128 + the number of its signal); 125 when Heddle "
	        "itself fails.\nThe program's input and output are its own.",
	.options = options,
	.run = run_record,
	.takes_program = true,
	.ends_as_program = true,
};
