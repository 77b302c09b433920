/*
 * explore.c - see explore.h: the runs, what waits to be run, and how runs ended.
 */
#include "engine/explore/explore.h"

#include "engine/explore/flips.h"
#include "engine/predict/deadlock.h"
#include "engine/trace/formats.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAVED_ERRORS = 16, STORY_ROOM = 400 };

static const char *const end_words[] = {
#define E(name, word) word,
	EXPLORE_ENDS(E)
#undef E
};

const char *explore_end_word(enum explore_end end)
{
	return end_words[end];
}

struct seed { /* a schedule that waits to be run */
	struct plan plan;
	struct part *parts;
	uint32_t parts_count;
	uint32_t parent;
	uint32_t known_as; /* the parent, by its number among the histories; NONE */
	char *flip, *thread, *place, *variable; /* owned */
	bool after_free; /* the last of the schedule is a use after free */
};

struct exploration {
	const struct explore_options *options;
	const struct progress *progress;
	struct explore_report *report;
	struct histories *histories;
	GPtrArray *waiting; /* struct seed *, the next one last */
	GHashTable *asked;  /* uint64_t: schedules that wait or were run */
	GHashTable *errors; /* char *: cycles of lock requests, uses after free asked for */
	GHashTable *races;  /* char * */
	GHashTable *gaps;   /* char *, also in report->gaps */
	char *output;       /* file for what the program prints; owned */
	gint64 deadline;    /* 0: none */
	bool cancelled;
	/* of the run at hand */
	struct trace *trace;
	const struct history *history;
	uint32_t run;
};

/* -- results ------------------------------------------------------------------------------ */

static void run_clear(void *data)
{
	struct explore_run *r = data;
	char *owned[] = { r->flip, r->thread, r->place, r->variable, r->story, r->trace };
	for (size_t i = 0; i < G_N_ELEMENTS(owned); i++)
		g_free(owned[i]);
}

static void error_clear(void *data)
{
	g_free(((struct explore_error *)data)->story);
}

static void race_clear(void *data)
{
	struct explore_race *r = data;
	g_free(r->first);
	g_free(r->second);
	g_free(r->variable);
}

static struct explore_report *explore_report_new(void)
{
	struct explore_report *r = g_new0(struct explore_report, 1);
	r->runs = g_array_new(FALSE, FALSE, sizeof(struct explore_run));
	r->errors = g_array_new(FALSE, FALSE, sizeof(struct explore_error));
	r->races = g_array_new(FALSE, FALSE, sizeof(struct explore_race));
	r->gaps = g_ptr_array_new_with_free_func(g_free);
	g_array_set_clear_func(r->runs, run_clear);
	g_array_set_clear_func(r->errors, error_clear);
	g_array_set_clear_func(r->races, race_clear);
	return r;
}

void explore_report_free(struct explore_report *r)
{
	if (r == NULL)
		return;
	g_array_unref(r->runs);
	g_array_unref(r->errors);
	g_array_unref(r->races);
	g_ptr_array_unref(r->gaps);
	g_free(r);
}

/* Something that the promise of completeness does not cover. */
static void add_gap(struct exploration *x, const char *why)
{
	if (g_hash_table_contains(x->gaps, why))
		return;
	char *own = g_strdup(why);
	g_ptr_array_add(x->report->gaps, own);
	g_hash_table_add(x->gaps, own);
}

/* -- schedules that wait ------------------------------------------------------------------- */

static void seed_free(void *data)
{
	struct seed *s = data;
	plan_release(&s->plan);
	g_free(s->parts);
	g_free(s->flip);
	g_free(s->thread);
	g_free(s->place);
	g_free(s->variable);
	g_free(s);
}

/* The same schedule is not asked twice; but for the first, parts have no order. */
static bool asked_before(struct exploration *x, const struct part *parts, uint32_t count)
{
	uint64_t key = 1;
	for (uint32_t i = 0; i < count; i++)
		key += parts[i].prefix * 0x9e3779b97f4a7c15ull;
	if (g_hash_table_contains(x->asked, &key))
		return true;
	g_hash_table_add(x->asked, g_memdup2(&key, sizeof key));
	return false;
}

static char *value_text(const struct trace *t, uint32_t value)
{
	GString *text = g_string_new(NULL);
	if (value == 0)
		g_string_append(text, "another value");
	else
		trace_append_value(t, value, text);
	return g_string_free(text, FALSE);
}

static void describe_wait(const struct trace *t, const struct flip *f, struct seed *s)
{
	GString *condition = g_string_new(NULL);
	const char *name = trace_string(t, t->objects[t->events[f->event].target].name);
	append_escaped(condition, name, strlen(name));
	s->flip = g_strdup_printf("%s waits for %s %s %s signals it", s->thread, condition->str,
	                          f->other > f->event ? "after" : "before",
	                          trace_thread_name(t, t->events[f->other].thread));
	s->variable = g_string_free(condition, FALSE);
}

static void describe_read(const struct trace *t, const struct flip *f, struct seed *s)
{
	GString *variable = g_string_new(NULL);
	trace_append_variable(t, &t->events[f->event], variable);
	s->variable = g_string_free(variable, FALSE);
	char *old = value_text(t, core_value_read(t, f->event));
	char *new = f->other == NONE ? g_strdup("its initial value")
	                             : value_text(t, core_value_written(t, f->other));
	s->flip = g_strdup_printf("%s reads %s = %s, not %s", s->thread, s->variable, new, old);
	g_free(old);
	g_free(new);
}

static void describe_use(const struct trace *t, const struct flip *f, struct seed *s)
{
	GString *variable = g_string_new(NULL);
	trace_append_variable(t, &t->events[f->event], variable);
	s->variable = g_string_free(variable, FALSE);
	s->flip = g_strdup_printf("%s %s %s after %s freed its block at %s", s->thread,
	                          op_writes(t->events[f->event].op) ? "writes" : "reads",
	                          s->variable, trace_thread_name(t, t->events[f->other].thread),
	                          trace_location_name(t, f->other));
	s->after_free = true;
}

static bool out_of_time(const struct exploration *x)
{
	return x->deadline != 0 && g_get_monotonic_time() > x->deadline;
}

static struct seed *seed_new(struct exploration *x, const uint32_t *sequence, size_t length,
                             uint32_t place)
{
	static const uint32_t no_pair[2] = { NONE, NONE };
	struct error error = { 0 };
	struct seed *s = g_new0(struct seed, 1);
	BUG_ON(!plan_make(x->trace, sequence, length, no_pair, &s->plan, &error));
	s->parent = x->run;
	s->known_as = histories_last(x->histories);
	s->place = g_strdup(trace_location_name(x->trace, place));
	return s;
}

static bool is_use_after_free(const struct trace *t, const struct flip *f)
{
	return f->other != NONE && t->events[f->other].op == OP_FREE;
}

/* A use after free is wanted once for each two places in the code. */
static bool known_use(struct exploration *x, const struct flip *f)
{
	return !g_hash_table_add(x->errors,
	                         g_strdup_printf("%s free %s",
	                                         trace_location_name(x->trace, f->event),
	                                         trace_location_name(x->trace, f->other)));
}

static bool take_flip(void *context, const struct flip *f)
{
	struct exploration *x = context;
	bool use = is_use_after_free(x->trace, f);
	if (use && known_use(x, f))
		return !out_of_time(x);
	if (!use && (histories_have(x->histories, f->parts, f->parts_count) ||
	             asked_before(x, f->parts, f->parts_count))) {
		x->report->pruned++;
		g_array_index(x->report->runs, struct explore_run, x->run).pruned++;
		return !out_of_time(x);
	}
	g_array_append_val(f->sequence, f->event);
	struct seed *s =
	        seed_new(x, (const uint32_t *)f->sequence->data, f->sequence->len, f->event);
	g_array_set_size(f->sequence, f->sequence->len - 1);
	if (!use) {
		s->parts = g_memdup2(f->parts, sizeof *f->parts * f->parts_count);
		s->parts_count = f->parts_count;
	}
	s->thread = g_strdup(trace_thread_name(x->trace, x->trace->events[f->event].thread));
	if (use)
		describe_use(x->trace, f, s);
	else if (x->trace->events[f->event].op == OP_WAIT)
		describe_wait(x->trace, f, s);
	else
		describe_read(x->trace, f, s);
	g_ptr_array_add(x->waiting, s);
	return !out_of_time(x);
}

/* -- deadlocks and races of a run ------------------------------------------------------------
 */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A cycle of requests that can all be reached at once: let the program go there, once for
 * each cycle in the code. */
static void take_deadlock(struct exploration *x, const struct finding *f)
{
	GString *threads = g_string_new(NULL);
	char **places = g_new0(char *, f->requests->len + 1);
	for (guint i = 0; i < f->requests->len; i++) {
		uint32_t e = g_array_index(f->requests, uint32_t, i);
		places[i] = g_strdup(trace_location_name(x->trace, e));
		g_string_append_printf(threads, "%s%s", i ? " and " : "",
		                       trace_thread_name(x->trace, x->trace->events[e].thread));
	}
	qsort(places, f->requests->len, sizeof *places, by_name);
	char *key = g_strjoinv(" ", places);
	g_strfreev(places);
	if (!g_hash_table_add(x->errors, key)) {
		g_string_free(threads, TRUE);
		return;
	}
	struct seed *s = seed_new(x, (const uint32_t *)f->witness->data,
	                          f->witness->len - f->requests->len,
	                          g_array_index(f->requests, uint32_t, 0));
	s->flip = g_strdup_printf("%s each want a lock that the next one holds", threads->str);
	s->thread = g_string_free(threads, FALSE);
	s->variable = g_strdup("");
	g_ptr_array_add(x->waiting, s);
}

static void find_deadlocks(struct exploration *x)
{
	struct race_options options;
	struct error error = { 0 };
	race_options_init(&options);
	options.all_verdicts = true;
	options.use_values = true;
	struct report *report = deadlocks_find(x->trace, &options, x->progress, &error);
	if (report == NULL) {
		x->cancelled = true;
		return;
	}
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		if (f->verdict == VERDICT_RACE && f->witness && f->requests)
			take_deadlock(x, f);
		else if (f->verdict == VERDICT_UNKNOWN)
			add_gap(x, "for a cycle of locks the budget ran out");
	}
	report_free(report);
}

static void find_races(struct exploration *x)
{
	struct race_options options;
	struct error error = { 0 };
	race_options_init(&options);
	options.analysis = ANALYSIS_HB;
	struct report *report = races_find(x->trace, &options, x->progress, &error);
	if (report == NULL) {
		x->cancelled = true;
		return;
	}
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		const char *a = trace_location_name(x->trace, f->first);
		const char *b = trace_location_name(x->trace, f->second);
		bool turn = strcmp(a, b) > 0;
		char *key = g_strdup_printf("%s %s", turn ? b : a, turn ? a : b);
		if (!g_hash_table_add(x->races, key))
			continue;
		GString *variable = g_string_new(NULL);
		trace_append_variable(x->trace, &x->trace->events[f->second], variable);
		struct explore_race race = { g_strdup(turn ? b : a), g_strdup(turn ? a : b),
			                     g_string_free(variable, FALSE), x->run };
		g_array_append_val(x->report->races, race);
	}
	report_free(report);
}

/* -- how a run ended ----------------------------------------------------------------------- */

/* The last line that the program printed: of a failed assertion, the assertion. */
static char *last_line(const char *path)
{
	char *text = NULL;
	gsize length = 0;
	if (path == NULL || !g_file_get_contents(path, &text, &length, NULL))
		return g_strdup("");
	while (length > 0 && g_ascii_isspace(text[length - 1]))
		length--;
	gsize from = length;
	while (from > 0 && text[from - 1] != '\n')
		from--;
	GString *line = g_string_new(NULL);
	append_escaped(line, text + from, MIN(length - from, STORY_ROOM));
	g_free(text);
	return g_string_free(line, FALSE);
}

/* Do the waits form a cycle of locks?  (Who waits for a condition has perhaps missed it.) */
static bool is_cycle(const struct record_facts *facts)
{
	enum { MOST = 256 };
	unsigned waits[MOST], holders[MOST], count = 0;
	for (guint i = 0; i < facts->blocked->len && count < MOST; i++) {
		char kind[32], holder[32];
		uint64_t address, pc;
		unsigned thread;
		if (sscanf(facts->blocked->pdata[i], "%u %31s %" SCNx64 " %31s %" SCNx64,
		           &thread, kind, &address, holder, &pc) != 5 ||
		    strcmp(holder, "-") == 0)
			continue;
		waits[count] = thread;
		holders[count++] = (unsigned)strtoul(holder, NULL, 10);
	}
	for (unsigned i = 0; i < count; i++) {
		unsigned at = holders[i];
		for (unsigned steps = 0; steps <= count; steps++) {
			if (at == waits[i])
				return true;
			unsigned next = 0;
			while (next < count && waits[next] != at)
				next++;
			if (next == count)
				break;
			at = holders[next];
		}
	}
	return false;
}

static void judge(struct exploration *x, const struct plan_run *run, struct explore_run *r)
{
	const struct record_result *result = &run->result;
	r->status = result->signal ? result->signal : result->status;
	if (run->diverged) {
		r->end = EXPLORE_DIVERGED;
		r->story = g_strdup(run->cause ? run->cause : "");
	} else if (result->timed_out) {
		r->end = EXPLORE_CUT;
		r->story = g_strdup("it took too long");
	} else if (run->facts.status == LOG_DEADLOCK) {
		GString *story = g_string_new(NULL);
		record_explain_deadlock(run->trace, &run->facts, story);
		if (story->len)
			g_string_truncate(story, story->len - 1);
		r->end = is_cycle(&run->facts) ? EXPLORE_DEADLOCK : EXPLORE_BLOCKED;
		r->story = g_string_free(story, FALSE);
	} else {
		r->end = result->signal        ? EXPLORE_SIGNAL
		         : result->status != 0 ? EXPLORE_STATUS
		                               : EXPLORE_FINE;
		r->story = last_line(r->end == EXPLORE_FINE ? NULL : x->output);
	}
}

static struct explore_error *error_like(struct exploration *x, const struct explore_run *r)
{
	GArray *errors = x->report->errors;
	for (guint i = 0; i < errors->len; i++) {
		struct explore_error *e = &g_array_index(errors, struct explore_error, i);
		if (e->end == r->end && e->status == r->status &&
		    strcmp(e->story, r->story) == 0)
			return e;
	}
	struct explore_error fresh = { r->end, r->status, g_strdup(r->story), x->run, 0 };
	g_array_append_val(errors, fresh);
	return &g_array_index(errors, struct explore_error, errors->len - 1);
}

static bool save(struct exploration *x, struct explore_run *r, struct error *error)
{
	if (x->options->save == NULL)
		return true;
	r->trace = g_strdup_printf("%s.run%u.hdl", x->options->save, x->run);
	return trace_write(x->trace, r->trace, TRACE_BINARY, NULL, NULL, error);
}

/* The first run and the first of each error are kept. */
static bool note_end(struct exploration *x, struct explore_run *r, struct error *error)
{
	bool keep = x->run == 0;
	if (r->end != EXPLORE_FINE) {
		struct explore_error *e = error_like(x, r);
		keep |= e->count++ == 0 && x->report->errors->len <= SAVED_ERRORS;
	}
	if (r->end == EXPLORE_DIVERGED)
		add_gap(x, "a run did not follow its schedule: what it reads from outside "
		           "(a clock, a file, a socket) is not the same each time");
	if (r->end == EXPLORE_CUT)
		add_gap(x, "a run took too long and was ended");
	return !keep || save(x, r, error);
}

static void note_limits(struct exploration *x, const struct plan_run *run)
{
	const struct trace *t = x->trace;
	if (run->facts.stolen)
		add_gap(x, "a call that blocks is not modelled: schedules are not exact");
	if (run->facts.forked)
		add_gap(x, "child processes are not explored");
	if (run->facts.status == LOG_LIMIT || run->facts.status == LOG_FULL)
		add_gap(x, "a run's recording reached its limit");
	for (uint64_t e = 0; e < t->events_count; e++) {
		enum op op = t->events[e].op;
		if (op == OP_TRYFAIL || op == OP_TAKETRYFAIL) {
			add_gap(x, "what a trylock returns is not varied");
			return;
		}
	}
}

/* -- one run --------------------------------------------------------------------------------
 */

/* Everything that follows from the run at hand. */
static void derive(struct exploration *x, uint32_t known_as)
{
	struct smt_options options = { .use_values = true };
	struct flip_limits limits = { .seconds = x->options->query_seconds,
		                      .progress = x->progress };
	uint32_t *common = g_new(uint32_t, x->history->threads_count + 1);
	for (uint32_t i = 0; known_as != NONE && i < x->history->threads_count; i++)
		common[i] = histories_common(x->histories, x->history, i, known_as);
	if (known_as != NONE)
		limits.common = common;
	bool stopped = false;
	find_races(x);
	if (!x->cancelled)
		find_deadlocks(x);
	struct smt *smt = x->cancelled ? NULL : smt_new(x->trace, &options, x->progress);
	if (smt == NULL) {
		x->cancelled = true;
		g_free(common);
		return;
	}
	if (!flips_find(x->history, smt, &limits, take_flip, x, &stopped))
		add_gap(x, "the solver left a question without an answer");
	smt_free(smt);
	g_free(common);
	if (stopped && !out_of_time(x))
		x->cancelled = true;
}

static struct explore_run begin_run(struct seed *s)
{
	return (struct explore_run){ .parent = s->parent,
		                     .flip = g_steal_pointer(&s->flip),
		                     .thread = g_steal_pointer(&s->thread),
		                     .place = g_steal_pointer(&s->place),
		                     .variable = g_steal_pointer(&s->variable) };
}

/* Whatever it led to, the use itself is the error; what came of it is told. */
static void note_use(struct explore_run *r)
{
	GString *story = g_string_new(r->flip);
	if (r->end == EXPLORE_SIGNAL)
		g_string_append_printf(story, "\nthe program ends by signal %d (%s)", r->status,
		                       strsignal(r->status));
	if (*r->story)
		g_string_append_printf(story, "\n%s", r->story);
	r->end = EXPLORE_USE_AFTER_FREE;
	g_free(r->story);
	r->story = g_string_free(story, FALSE);
}

static bool run_seed(struct exploration *x, struct seed *s, struct error *error)
{
	struct plan_run run;
	s->plan.strategy = STRATEGY_FIRST;
	s->plan.output = x->output;
	s->plan.timeout_ms = x->options->timeout_ms ? x->options->timeout_ms : 10000;
	if (!plan_follow(&s->plan, x->options->argv, 0, NULL, NULL, &run, error)) {
		plan_run_release(&run);
		return false;
	}
	struct explore_run r = begin_run(s);
	x->run = x->report->runs->len;
	x->trace = run.trace;
	r.events = run.trace->events_count;
	judge(x, &run, &r);
	if (s->after_free && r.end != EXPLORE_DIVERGED)
		note_use(&r);
	bool good = note_end(x, &r, error);
	struct history *h = history_new(run.trace, histories_initials(x->histories));
	r.redundant = r.end == EXPLORE_DIVERGED || !histories_add(x->histories, h);
	x->report->classes += !r.redundant;
	g_array_append_val(x->report->runs, r);
	note_limits(x, &run);
	x->history = h;
	if (good && !r.redundant && r.end != EXPLORE_CUT && r.end != EXPLORE_USE_AFTER_FREE)
		derive(x, s->known_as);
	x->trace = NULL;
	history_free(h);
	plan_run_release(&run);
	return good;
}

/* -- the loop -------------------------------------------------------------------------------
 */

static bool limit_reached(struct exploration *x)
{
	const struct explore_options *o = x->options;
	if (o->max_runs && x->report->runs->len >= o->max_runs) {
		add_gap(x, "the limit of runs was reached (--runs)");
		return true;
	}
	if (out_of_time(x)) {
		add_gap(x, "the time was up (--budget)");
		return true;
	}
	return false;
}

static bool go_on(struct exploration *x)
{
	char what[96];
	snprintf(what, sizeof what, "%u runs, %u waiting, %u errors", x->report->runs->len,
	         x->waiting->len, x->report->errors->len);
	double share =
	        (double)x->report->runs->len / (x->report->runs->len + x->waiting->len + 1);
	x->cancelled |= !progress_tick(x->progress, share, what);
	return !x->cancelled;
}

static bool run_all(struct exploration *x, struct error *error)
{
	struct seed *first = g_new0(struct seed, 1);
	plan_init(&first->plan);
	first->parent = first->known_as = NONE;
	g_ptr_array_add(x->waiting, first);
	while (x->waiting->len > 0 && go_on(x) && !limit_reached(x)) {
		struct seed *s = g_ptr_array_steal_index(x->waiting, x->waiting->len - 1);
		bool good = true;
		if (s->parts != NULL && histories_have(x->histories, s->parts, s->parts_count))
			x->report->pruned++;
		else
			good = run_seed(x, s, error);
		seed_free(s);
		if (!good)
			return false;
	}
	x->report->waiting = x->waiting->len;
	x->report->complete = x->waiting->len == 0 && x->report->gaps->len == 0;
	if (x->cancelled)
		error_set(error, "", NULL, "cancelled");
	return !x->cancelled;
}

static char *output_file(void)
{
	char *path =
	        g_strdup_printf("%s/heddle-explore-%d.out", g_get_tmp_dir(), (int)getpid());
	unlink(path);
	return path;
}

struct explore_report *explore(const struct explore_options *options,
                               const struct progress *progress, struct error *error)
{
	gint64 budget = (gint64)(options->seconds * 1e6);
	struct exploration x = {
		.options = options,
		.progress = progress,
		.report = explore_report_new(),
		.histories = histories_new(),
		.waiting = g_ptr_array_new_with_free_func(seed_free),
		.asked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		.errors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.races = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.gaps = g_hash_table_new(g_str_hash, g_str_equal),
		.output = options->keep_output ? NULL : output_file(),
		.deadline = budget > 0 ? g_get_monotonic_time() + budget : 0,
	};
	bool good = run_all(&x, error);
	if (x.output)
		unlink(x.output);
	g_free(x.output);
	histories_free(x.histories);
	g_ptr_array_unref(x.waiting);
	g_hash_table_unref(x.asked);
	g_hash_table_unref(x.errors);
	g_hash_table_unref(x.races);
	g_hash_table_unref(x.gaps);
	if (!good) {
		explore_report_free(x.report);
		return NULL;
	}
	return x.report;
}
