/*
 * checkup_runs.c - the runs of `heddle check`: recordings by several strategies and seeds, then
 * exploration (checkup_explore.c) if the program is small, then more recordings. Runs that
 * compare the two orders of a finding are analysed as well, since they show the program after a
 * race went the other way, which prediction from one run cannot.
 */
#include "engine/trace/own_code.h"
#include "tui/batch/check/checkup.h"

#include "engine/base/file.h"
#include "engine/trace/ending.h"
#include "tui/batch/record_live.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
	AIMED_RUNS = 2,        /* after each recording that follows the first ones */
	WAITING_RUNS = 3,      /* analysed after a recording; the rest comes last */
	FIRST_RUNS = 3,        /* before the exploration */
	MOST_BYTES = 64 << 20, /* bound on a run's log: some six million events */
	LEAST_BYTES = 4 << 20,
	BYTES_A_SECOND = 1 << 19, /* of the time left: analysed at this rate */
	TIME_PARTS = 5,           /* part of the time left that a recording may take */
	SHORT_BYTES = 1 << 20,    /* bound on the runs after one that did not end: 100,000
	                           * events */
	LONG_EVENTS = 200000,     /* a run that did not end with more events is analysed
	                           * later */
};

/* -- runs -------------------------------------------------------------------------------- */

static bool analyse_run(struct checkup *c, uint32_t run, bool shallow)
{
	struct trace *t = checkup_open_run(c, checkup_run_at(c, run)->trace);
	bool good = t != NULL &&
	            checkup_analyse(c, t, run, shallow, checkup_run_at(c, run)->outcome);

	c->failed |= t == NULL;
	trace_close(t);
	return good;
}

/* Analyse at most `most` of the additional runs, and of those that they lead to. */
static bool look_at_waiting(struct checkup *c, uint32_t most)
{
	for (uint32_t i = 0; i < most && c->waiting->len > 0 && !checkup_over(c); i++) {
		uint32_t run = g_array_index(c->waiting, uint32_t, 0);

		g_array_remove_index(c->waiting, 0);
		if (!analyse_run(c, run, false))
			return false;
	}
	return true;
}

/* -- recording ---------------------------------------------------------------------------- */

static struct strategy strategy_of(const struct checkup *c, uint64_t number)
{
	static const unsigned strategies[] = { STRATEGY_RANDOM, STRATEGY_PCT, STRATEGY_RANDOM,
		                               STRATEGY_NOISE };

	number = number * c->shards + c->shard;
	struct strategy how = { .kind = strategies[number % 4], .seed = number + 1 };
	if (how.kind == STRATEGY_PCT && c->runs->len > 0)
		how.steps = MAX(checkup_run_at(c, 0)->events, 1);
	return how;
}

/* Streams of a run: input from its beginning, output to files. */
static void session_of(const struct checkup *c, struct session_options *o,
                       const struct strategy *how)
{
	*o = (struct session_options){ .argv = c->argv,
		                       .strategy = *how,
		                       .max_bytes =
		                               (uint64_t)CLAMP(checkup_left(c) * BYTES_A_SECOND,
		                                               LEAST_BYTES, MOST_BYTES),
		                       .specs = c->binds };
	if (c->shorter)
		o->max_bytes = MIN(o->max_bytes, SHORT_BYTES);
	double most = MAX(checkup_left(c) * 1000 / TIME_PARTS, 2000);
	o->timeout_ms =
	        (unsigned)MIN(MAX(MIN(most, checkup_left(c) * 1000), 500), c->timeout_ms);
}

/* Notes which parts of a run are not compared with others. */
static void note_outcome(struct checkup *c, const struct outcome *o)
{
	if (o->memory.cut)
		checkup_uncovered(
		        c,
		        "in comparisons of what runs do, memory of the heap beyond the first "
		        "%u parts of blocks",
		        (unsigned)MEMORY_MOST);
	if (o->forked)
		checkup_uncovered(
		        c, "processes that the program makes: of them only what they print "
		           "is compared, and how they end as far as the program looks");
}

/*
 * Analyses long recordings that did not end. A program may never end: in the time that one of
 * these takes, many shorter ones can be made, each with an order of its own. So they wait
 * until three quarters of the time have passed, or (`all`) for the end.
 */
static bool look_at_postponed(struct checkup *c, bool all)
{
	double whole = c->deadline == 0 ? 0 : (double)(c->deadline - c->began) / G_USEC_PER_SEC;

	while (c->postponed->len > 0 && !checkup_over(c) &&
	       (all || checkup_left(c) < whole / 4)) {
		uint32_t run = g_array_index(c->postponed, uint32_t, 0);

		g_array_remove_index(c->postponed, 0);
		if (!analyse_run(c, run, false))
			return false;
	}
	return true;
}

/* Adds the parts of a recorded run that the report does not cover to its list of them. */
static void note_uncovered(struct checkup *c, const struct recording *s)
{
	if (s->facts.status == LOG_LIMIT || s->facts.status == LOG_FULL)
		checkup_uncovered(c,
		                  "what runs do behind the part of them that was recorded: it "
		                  "was too long for the time (--budget gives more)");
	if (c->runs->len == 1 && s->facts.instrumented == 0)
		checkup_uncovered(c,
		                  "accesses to memory: the program is not instrumented (build "
		                  "it with 'heddle cc'), only its synchronisation was seen");
}

/* Records a run and adds it to the list: its index, or NONE where it could not be recorded
 * (c->failed: by a fault, not for the time). `cut`: the recording ends before the run. */
static uint32_t add_recorded(struct checkup *c, const struct strategy *how, bool *cut)
{
	g_autofree char *output = file_descriptor_path(c->output),
	                *errors = file_descriptor_path(c->errors);
	g_autofree char *path = checkup_run_path(c);
	struct session_options o;
	struct recording s;
	uint32_t run = NONE;

	session_of(c, &o, how);
	o.output = path;
	o.stdout_path = output;
	o.stderr_path = errors;
	c->doing = "recording";
	g_autofree char *heading = g_strdup_printf(
	        "heddle: so far, in the run of seed %" PRIu64 " (%s), not yet decided:",
	        o.strategy.seed, record_strategies[o.strategy.kind]);
	progress_tick(&c->progress, 0, c->doing);
	checkup_rewind_input(c);
	if (c->live && c->watcher == NULL)
		c->watcher = record_live_new(NULL, c->suppressions, c->specs);
	if (c->live)
		o.watch = record_live_watch(c->watcher, heading);
	gint64 began = g_get_monotonic_time();
	bool good = session_record(&o, &s, &c->progress, &c->error);
	c->run_seconds = (double)(g_get_monotonic_time() - began) / G_USEC_PER_SEC;
	if (good) {
		struct outcome *outcome = g_new0(struct outcome, 1);
		outcome_take(outcome, s.trace, &s.facts, &s.result, output, errors);
		GString *options = g_string_new(NULL);
		strategy_append(how, options);
		run = checkup_add_run(
		        c, s.trace,
		        (struct checkup_run){ .strategy = record_strategies[o.strategy.kind],
		                              .seed = o.strategy.seed,
		                              .options = g_string_free(options, FALSE),
		                              .trace = path,
		                              .exit = s.result.status,
		                              .outcome = outcome });
		*cut = s.result.timed_out || s.facts.status == LOG_LIMIT;
		c->cut_runs += s.result.timed_out;
		if (s.result.timed_out)
			c->cut_ms = MAX(c->cut_ms, o.timeout_ms);
		note_outcome(c, outcome);
		note_uncovered(c, &s);
	} else {
		c->failed = !checkup_over(c);
		if (!c->failed && s.log != NULL) /* no report names it */
			unlink(s.log);
	}
	session_release(&s);
	return run;
}

/* Records and analyses one more run. False: c->error. */
static bool record_by(struct checkup *c, const struct strategy *how)
{
	bool cut = false;
	uint32_t run = add_recorded(c, how, &cut);
	if (run == NONE)
		return !c->failed;
	if (checkup_run_at(c, run)->same_as != NONE) { /* one trace of equal runs is enough */
		unlink(checkup_run_at(c, run)->trace);
		checkup_seen_again(c, run, checkup_run_at(c, run)->same_as);
		return !c->failed;
	}
	if (run == 0 && !cut && !checkup_hunt(c))
		return false;
	/* after a complete exploration only a contradicting run is added */
	if (c->explored_all && checkup_is_explored(c, checkup_run_at(c, run)->outcome)) {
		unlink(checkup_run_at(c, run)->trace);
		g_hash_table_remove(c->digests, checkup_run_at(c, run)->digest);
		g_array_set_size(c->runs, run);
		return true;
	}
	if (cut && checkup_run_at(c, run)->events > LONG_EVENTS) {
		c->shorter = true;
		g_array_append_val(c->postponed, run);
		return look_at_postponed(c, false);
	}
	return analyse_run(c, run, false) && look_at_waiting(c, WAITING_RUNS) &&
	       look_at_postponed(c, false);
}

static bool record(struct checkup *c, uint64_t number)
{
	struct strategy how = strategy_of(c, number);

	return record_by(c, &how);
}

/* -- runs that go where prediction ends --------------------------------------------------- */

static void keep_aimed(void *context, struct plan_run *run, const char *output)
{
	struct checkup *c = context;

	c->making = "aimed";
	checkup_keep_run(c, run, output);
	c->making = "both orders";
}

/* Makes one run in which a read sees another write, or one thread of a pair waits. False:
 * c->error. */
static bool run_aimed(struct checkup *c)
{
	const struct checkup_aim *next =
	        &g_array_index(c->aims, struct checkup_aim, c->next_aim++);
	struct harm_options options = { .argv = c->argv, .ran = keep_aimed, .context = c };
	struct trace *t = checkup_open_run(c, checkup_run_at(c, next->run)->trace);
	bool reached = false, good = t != NULL;

	options.timeout_ms =
	        (unsigned)CLAMP(MIN(checkup_left(c) * 1000, MAX(2000, c->run_seconds * 20000)),
	                        500, c->timeout_ms);
	c->doing = next->aim.kind == AIM_PAIR ? "going to a pair that was not decided"
	                                      : "going where a read sees something else";
	progress_tick(&c->progress, 0, c->doing);
	if (good)
		good = aim_run(t, &next->aim, c->next_aim, &options, &reached, &c->error);
	c->failed |= !good;
	c->aimed_runs += reached;
	trace_close(t);
	return good && look_at_waiting(c, 1);
}

static bool is_pair_next(const struct checkup *c)
{
	return c->next_aim < c->aims->len &&
	       g_array_index(c->aims, struct checkup_aim, c->next_aim).aim.kind == AIM_PAIR;
}

/* Makes at most `most` aimed runs, and all for undecided pairs. */
static bool aim_runs(struct checkup *c, uint32_t most)
{
	for (uint32_t i = 0;
	     (i < most || is_pair_next(c)) && c->next_aim < c->aims->len && !checkup_over(c);
	     i++)
		if (!run_aimed(c))
			return false;
	return true;
}

/* Findings whose two orders have not been run yet, for lack of time: their runs are analysed
 * again. */
static bool look_again(struct checkup *c)
{
	for (guint i = 0; c->harm && i < c->list->len && !checkup_over(c); i++) {
		const struct checked *f = c->list->pdata[i];
		uint32_t analysed = c->analysed;

		if (f->waits_for_time && f->shown != NONE && !analyse_run(c, f->shown, false))
			return false;
		c->analysed = analysed;
	}
	return look_at_waiting(c, UINT32_MAX);
}

bool checkup_program(struct checkup *c)
{
	uint64_t number = 0, first = MIN(FIRST_RUNS, c->runs_asked);

	for (; number < first && !checkup_over(c); number++)
		if (!record(c, number))
			return false;
	if (!checkup_over(c) && checkup_is_small(c) && !checkup_explore(c))
		return false;
	if (!checkup_over(c) && !c->explored_all && !checkup_shake(c, record_by))
		return false;
	for (; number < c->runs_asked && !checkup_over(c); number++)
		if (!record(c, number) || (!c->explored_all && !aim_runs(c, AIMED_RUNS)))
			return false;
	if (!look_at_waiting(c, UINT32_MAX) ||
	    (!c->explored_all && !aim_runs(c, c->runs_asked)))
		return false;
	if (!look_at_postponed(c, true) || !look_again(c))
		return false;
	c->budget_spent |= c->postponed->len > 0;
	if (c->postponed->len > 0)
		checkup_late(c, "%u long recordings that did not end", c->postponed->len);
	if (number < c->runs_asked && !c->explored_all) {
		c->budget_spent = true;
		checkup_late(c, "%u of the %u recordings to begin with",
		             (unsigned)(c->runs_asked - number), c->runs_asked);
	}
	return true;
}

/* -- traces ------------------------------------------------------------------------------- */

static int exit_of_trace(const struct trace *t)
{
	struct ending end = trace_ending(t);

	return end.kind == ENDING_SIGNAL ? 128 + end.number
	       : end.kind == ENDING_EXIT ? end.number
	                                 : 0;
}

bool checkup_traces(struct checkup *c, const GPtrArray *paths)
{
	guint ours = (paths->len + c->shards - 1 - c->shard) / c->shards;
	for (guint i = c->shard; i < paths->len && !checkup_over(c); i += c->shards) {
		struct trace *t = read_trace(c->arguments, paths->pdata[i], &c->error);

		if (t == NULL)
			return !(c->failed = true);
		uint32_t run =
		        checkup_add_run(c, t,
		                        (struct checkup_run){ .strategy = "given",
		                                              .trace = paths->pdata[i],
		                                              .exit = exit_of_trace(t) });
		bool good = checkup_analyse(c, t, run, false, NULL);
		trace_close(t);
		if (!good)
			return false;
	}
	if (c->runs->len < ours) {
		c->budget_spent = true;
		checkup_late(c, "%u of %u traces", ours - c->runs->len, ours);
	}
	return true;
}
