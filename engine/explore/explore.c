/*
 * explore.c - see explore.h: the runs, what waits to be run, and how runs ended.
 */
#include "engine/explore/explore.h"

#include "engine/explore/flips.h"
#include "engine/predict/deadlock.h"
#include "engine/record/interpose.h"
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
	enum flip_kind kind;
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
	GHashTable *plain; /* char *: objects whose invocations are no steps */
	bool again;        /* one more was found: everything is to be done again */
	char *interposer;  /* the library of the bind lines; owned, or NULL */
	/* of the run at hand */
	struct trace *trace; /* as recorded */
	const struct view *view;
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
	r->notes = g_ptr_array_new_with_free_func(g_free);
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
	g_ptr_array_unref(r->notes);
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
static bool asked_before(struct exploration *x, const struct part *parts, uint32_t count,
                         enum flip_kind kind)
{
	bool next = kind == FLIP_CALL || kind == FLIP_WOKEN || kind == FLIP_GOES_ON;
	uint64_t key = next ? parts[0].prefix * 31 + 2 : 1; /* whose step it is */
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

static void describe_wait(const struct exploration *x, const struct flip *f, struct seed *s)
{
	const struct trace *t = x->trace;
	GString *condition = g_string_new(NULL);
	const char *name = trace_string(t, t->objects[t->events[f->event].target].name);
	append_escaped(condition, name, strlen(name));
	s->flip = g_strdup_printf("%s waits for %s %s %s signals it", s->thread, condition->str,
	                          f->other > f->event ? "after" : "before",
	                          trace_thread_name(t, t->events[f->other].thread));
	s->variable = g_string_free(condition, FALSE);
}

static void describe_read(const struct exploration *x, const struct flip *f, struct seed *s)
{
	const struct trace *t = x->trace;
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

static void describe_call(const struct exploration *x, const struct flip *f, struct seed *s)
{
	const struct view_call *call = view_call_of(x->view, f->event);
	const struct view_call *other = view_call_of(x->view, f->other);
	char *one = view_call_text(x->view, call), *two = view_call_text(x->view, other);
	s->variable = view_object_name(x->view, call->object);
	s->flip = g_strdup_printf("%s, by %s, comes before %s, by %s", one, s->thread, two,
	                          trace_thread_name(x->trace, other->thread));
	g_free(one);
	g_free(two);
}

static void describe_use(const struct exploration *x, const struct flip *f, struct seed *s)
{
	const struct trace *t = x->trace;
	GString *variable = g_string_new(NULL);
	trace_append_variable(t, &t->events[f->event], variable);
	s->variable = g_string_free(variable, FALSE);
	s->flip = g_strdup_printf("%s %s %s after %s freed its block at %s", s->thread,
	                          op_writes(t->events[f->event].op) ? "writes" : "reads",
	                          s->variable, trace_thread_name(t, t->events[f->other].thread),
	                          trace_location_name(t, f->other));
}

static char *object_name(const struct trace *t, uint32_t event)
{
	GString *name = g_string_new(NULL);
	const char *text = trace_string(t, t->objects[t->events[event].target].name);
	append_escaped(name, text, strlen(text));
	return g_string_free(name, FALSE);
}

static void describe_try(const struct exploration *x, const struct flip *f, struct seed *s)
{
	const struct trace *t = x->trace;
	s->variable = object_name(t, f->event);
	if (f->other != NONE)
		s->flip = g_strdup_printf("%s does not get %s, which %s has", s->thread,
		                          s->variable,
		                          trace_thread_name(t, t->events[f->other].thread));
	else
		s->flip = g_strdup_printf("%s %s %s", s->thread,
		                          f->kind == FLIP_FAILS ? "does not get" : "gets",
		                          s->variable);
}

static void describe_condition(const struct exploration *x, const struct flip *f,
                               struct seed *s)
{
	const struct trace *t = x->trace;
	s->variable = object_name(t, f->kind == FLIP_WOKEN ? f->other : f->event);
	if (f->kind == FLIP_TIMEOUT)
		s->flip = g_strdup_printf("%s's wait for %s times out", s->thread, s->variable);
	else
		s->flip = g_strdup_printf("%s is woken by %s's signal of %s at %s", s->thread,
		                          trace_thread_name(t, t->events[f->other].thread),
		                          s->variable, trace_location_name(t, f->other));
}

static void describe_barrier(const struct exploration *x, const struct flip *f, struct seed *s)
{
	s->variable = object_name(x->trace, f->event);
	s->flip = g_strdup_printf("%s comes to %s last", s->thread, s->variable);
}

static void describe_going(const struct exploration *x, const struct flip *f, struct seed *s)
{
	s->variable = g_strdup("");
	if (f->other == NONE) {
		s->flip = g_strdup_printf("%s goes on before the program ends", s->thread);
		return;
	}
	GString *what = g_string_new(NULL);
	trace_append_operation(x->trace, f->other, what);
	s->flip = g_strdup_printf("%s goes on before %s's %s", s->thread,
	                          trace_thread_name(x->trace,
	                                            x->trace->events[f->other].thread),
	                          what->str);
	g_string_free(what, TRUE);
}

static bool out_of_time(const struct exploration *x)
{
	return x->deadline != 0 && g_get_monotonic_time() > x->deadline;
}

/* The events of the recording that a sequence of the view stands for. */
static GArray *planned(const struct exploration *x, const uint32_t *sequence, size_t length)
{
	GArray *events = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), (guint)length);
	for (size_t i = 0; i < length; i++) {
		uint32_t e = view_planned(x->view, sequence[i]);
		if (e != NONE)
			g_array_append_val(events, e);
	}
	return events;
}

static struct seed *seed_new(struct exploration *x, const uint32_t *sequence, size_t length,
                             uint32_t place)
{
	static const uint32_t no_pair[2] = { NONE, NONE };
	struct error error = { 0 };
	struct seed *s = g_new0(struct seed, 1);
	GArray *events = planned(x, sequence, length);
	BUG_ON(!plan_make(x->trace, (const uint32_t *)(void *)events->data, events->len,
	                  no_pair, &s->plan, &error));
	g_array_unref(events);
	s->plan.strategy = STRATEGY_FIRST;
	s->parent = x->run;
	s->known_as = histories_last(x->histories);
	s->place = g_strdup(trace_location_name(x->trace, place));
	return s;
}

/* A use after free is wanted once for each two places in the code. */
static bool known_use(struct exploration *x, const struct flip *f)
{
	return !g_hash_table_add(x->errors,
	                         g_strdup_printf("%s free %s",
	                                         trace_location_name(x->trace, f->event),
	                                         trace_location_name(x->trace, f->other)));
}

static bool is_known(const struct exploration *x, const struct part *parts, uint32_t count,
                     enum flip_kind kind)
{
	switch (kind) {
	case FLIP_USE:
		return false;
	case FLIP_CALL:
	case FLIP_WOKEN:
		return histories_have_call(x->histories, parts, count);
	case FLIP_GOES_ON:
		return histories_have_further(x->histories, parts, count);
	default:
		return histories_have(x->histories, parts, count);
	}
}

typedef void flip_words(const struct exploration *x, const struct flip *f, struct seed *s);
static flip_words *const words_of[FLIP_KINDS] = {
	[FLIP_READ] = describe_read,         [FLIP_WAIT] = describe_wait,
	[FLIP_USE] = describe_use,           [FLIP_CALL] = describe_call,
	[FLIP_FAILS] = describe_try,         [FLIP_SUCCEEDS] = describe_try,
	[FLIP_TIMEOUT] = describe_condition, [FLIP_WOKEN] = describe_condition,
	[FLIP_LAST] = describe_barrier,      [FLIP_GOES_ON] = describe_going,
};

/* The schedule: the sequence, and what comes next. */
static struct seed *seed_of(struct exploration *x, const struct flip *f)
{
	uint32_t place = f->event != NONE ? f->event : f->other;
	if (f->event != NONE)
		g_array_append_val(f->sequence, f->event);
	if (place == NONE && f->sequence->len > 0)
		place = g_array_index(f->sequence, uint32_t, f->sequence->len - 1);
	struct seed *s = seed_new(x, (const uint32_t *)(void *)f->sequence->data,
	                          f->sequence->len, place == NONE ? 0 : place);
	if (f->event != NONE)
		g_array_set_size(f->sequence, f->sequence->len - 1);
	else
		plan_go_on(&s->plan, x->trace, f->thread);
	if (f->kind == FLIP_FAILS || f->kind == FLIP_SUCCEEDS)
		plan_any_outcome(&s->plan);
	s->kind = f->kind;
	s->thread = g_strdup(trace_thread_name(x->trace, f->thread));
	words_of[f->kind](x, f, s);
	return s;
}

static bool take_flip(void *context, const struct flip *f)
{
	struct exploration *x = context;
	bool use = f->kind == FLIP_USE;
	if (use && known_use(x, f))
		return !out_of_time(x);
	if (!use && (is_known(x, f->parts, f->parts_count, f->kind) ||
	             asked_before(x, f->parts, f->parts_count, f->kind))) {
		x->report->pruned++;
		g_array_index(x->report->runs, struct explore_run, x->run).pruned++;
		return !out_of_time(x);
	}
	struct seed *s = seed_of(x, f);
	if (!use) {
		s->parts = g_memdup2(f->parts, sizeof *f->parts * f->parts_count);
		s->parts_count = f->parts_count;
	}
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
	struct report *report = deadlocks_find(x->view->t, &options, x->progress, &error);
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
	if (r->end != EXPLORE_FINE && (!r->redundant || r->end == EXPLORE_DIVERGED)) {
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
	if (run->facts.stolen)
		add_gap(x, "a call that blocks is not modelled: schedules are not exact");
	if (run->facts.forked)
		add_gap(x, "child processes are not explored");
	if (run->facts.status == LOG_LIMIT || run->facts.status == LOG_FULL)
		add_gap(x, "a run's recording reached its limit");
}

/* -- one run --------------------------------------------------------------------------------
 */

/* Everything that follows from the run at hand. */
/* Threads that had not come to their end, but for the one that ended the program. */
static bool *unfinished(const struct exploration *x, const struct plan_run *run, uint32_t *last)
{
	const struct trace *t = x->trace;
	bool *on = g_new0(bool, t->threads_count + 1);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		const char *name = trace_thread_name(t, i);
		const char *number = strcmp(name, "main") == 0 ? "0" : name + 1;
		on[i] = true;
		for (guint k = 0; k < run->facts.ended->len && on[i]; k++)
			on[i] = strcmp(run->facts.ended->pdata[k], number) != 0;
		if (run->facts.holder != strtoul(number, NULL, 10))
			continue;
		*last = i;
		on[i] &= run->facts.status == LOG_DEADLOCK;
	}
	return on;
}

static void derive(struct exploration *x, uint32_t known_as, const struct plan_run *run)
{
	struct smt_options options = { .use_values = true };
	struct flip_limits limits = { .seconds = x->options->query_seconds,
		                      .progress = x->progress };
	uint32_t *common = g_new(uint32_t, x->history->threads_count + 1);
	bool *ended = g_new0(bool, x->history->threads_count + 1);
	for (uint32_t i = 0; known_as != NONE && i < x->history->threads_count; i++) {
		common[i] = histories_common(x->histories, x->history, i, known_as);
		ended[i] = !histories_goes_on(x->histories, x->history, i, common[i], known_as);
	}
	bool *on = unfinished(x, run, &limits.last);
	limits.goes_on = on;
	limits.stuck = run->facts.status == LOG_DEADLOCK;
	if (known_as != NONE) {
		limits.common = common;
		limits.ended = ended;
	}
	bool stopped = false;
	find_races(x);
	if (!x->cancelled)
		find_deadlocks(x);
	struct smt *smt = x->cancelled ? NULL : smt_new(x->view->t, &options, x->progress);
	if (smt == NULL) {
		x->cancelled = true;
		g_free(common);
		g_free(ended);
		g_free(on);
		return;
	}
	if (!flips_find(x->history, smt, &limits, take_flip, x, &stopped))
		add_gap(x, "the solver left a question without an answer");
	smt_free(smt);
	g_free(common);
	g_free(ended);
	g_free(on);
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

/* An object whose invocations are not what the specification says: do without. */
static void give_up(struct exploration *x, uint32_t object, const char *what, const char *why)
{
	char *name = view_object_name(x->view, object);
	g_hash_table_add(x->plain, scopes_object_key(x->trace, x->view->model, object));
	g_ptr_array_add(x->report->notes,
	                g_strdup_printf("%s %s: %s; its invocations count as what they read "
	                                "and write",
	                                name, what, why));
	g_free(name);
	x->again = true;
}

/* Are the objects what their specifications say?  What contradicts them is an error of the
 * run, whatever else it did. */
static void judge_objects(struct exploration *x, struct explore_run *r)
{
	const struct view *v = x->view;
	for (guint i = 0; v->scopes != NULL && i < v->scopes->broken->len; i++) {
		const struct broken *b = v->scopes->broken->pdata[i];
		give_up(x, b->object, "is not atomic", b->why);
	}
	if (v->contradiction == NULL || x->again)
		return;
	give_up(x, v->contradicted, "is not what its specification says",
	        "it returns something else");
	r->end = EXPLORE_SPECIFICATION;
	g_free(r->story);
	r->story = g_strdup(v->contradiction);
}

static void note_peeks(struct exploration *x)
{
	const struct view *v = x->view;
	for (guint i = 0; v->peeks > 0 && i < v->calls->len; i++) {
		const struct view_call *call = &g_array_index(v->calls, struct view_call, i);
		if (call->scope != NULL || call->object == NONE)
			continue;
		char *name = view_object_name(v, call->object);
		char *key = g_strdup_printf("the program looks inside %s", name);
		if (g_hash_table_add(x->errors, key))
			g_ptr_array_add(
			        x->report->notes,
			        g_strdup_printf("%s at %s; only abstract states are covered",
			                        key, trace_location_name(v->t, call->event)));
		g_free(name);
	}
}

static bool start_seed(struct exploration *x, struct seed *s, struct plan_run *run,
                       struct error *error)
{
	const struct explore_options *o = x->options;
	s->plan.output = x->output;
	s->plan.timeout_ms = o->timeout_ms ? o->timeout_ms : 10000;
	s->plan.interposer = x->interposer;
	s->plan.explore = true;
	if (o->spec_files && s->plan.specs == NULL)
		s->plan.specs = g_ptr_array_ref((GPtrArray *)o->spec_files);
	if (plan_follow(&s->plan, o->argv, 0, NULL, NULL, run, error))
		return true;
	plan_run_release(run);
	return false;
}

/* What the run is, and what follows from it. */
static bool take_run(struct exploration *x, struct seed *s, struct plan_run *run,
                     struct error *error)
{
	struct explore_run r = begin_run(s);
	r.events = run->trace->events_count;
	judge(x, run, &r);
	if (s->kind == FLIP_USE && r.end != EXPLORE_DIVERGED)
		note_use(&r);
	if (r.end != EXPLORE_DIVERGED)
		judge_objects(x, &r);
	struct history *h = history_new(x->view, histories_initials(x->histories));
	r.redundant = r.end == EXPLORE_DIVERGED || !histories_add(x->histories, h);
	bool good = note_end(x, &r, error);
	x->report->classes += !r.redundant;
	g_array_append_val(x->report->runs, r);
	note_limits(x, run);
	note_peeks(x);
	x->history = h;
	if (good && !x->again && !r.redundant && r.end != EXPLORE_CUT &&
	    r.end != EXPLORE_USE_AFTER_FREE)
		derive(x, s->known_as, run);
	history_free(h);
	return good;
}

static bool run_seed(struct exploration *x, struct seed *s, struct error *error)
{
	struct plan_run run;
	if (!start_seed(x, s, &run, error))
		return false;
	x->run = x->report->runs->len;
	x->trace = run.trace;
	struct view *view = view_new(run.trace, x->options->specs, x->plain, x->progress);
	bool good = true;
	x->view = view;
	x->cancelled |= view == NULL;
	if (view != NULL)
		good = take_run(x, s, &run, error);
	view_free(view);
	x->view = NULL;
	x->trace = NULL;
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

static void add_first(struct exploration *x)
{
	struct seed *first = g_new0(struct seed, 1);
	plan_init(&first->plan);
	first->plan.strategy = x->options->seed ? STRATEGY_RANDOM : STRATEGY_FIRST;
	first->plan.seed = x->options->seed ? x->options->seed : 1;
	first->parent = first->known_as = NONE;
	g_ptr_array_add(x->waiting, first);
}

/* An object that is not atomic has made everything worthless but what is said of objects. */
static void begin_again(struct exploration *x)
{
	struct explore_report *r = x->report;
	r->abandoned += r->runs->len;
	for (guint i = r->errors->len; i-- > 0;)
		if (g_array_index(r->errors, struct explore_error, i).end !=
		    EXPLORE_SPECIFICATION)
			g_array_remove_index(r->errors, i);
	for (guint i = r->runs->len; i-- > 0;)
		if (g_array_index(r->runs, struct explore_run, i).end != EXPLORE_SPECIFICATION)
			g_array_remove_index(r->runs, i);
	for (guint i = 0; i < r->errors->len; i++) /* one run each, and in their order */
		g_array_index(r->errors, struct explore_error, i).run = i;
	for (guint i = 0; i < r->runs->len; i++)
		g_array_index(r->runs, struct explore_run, i).parent = NONE;
	g_array_set_size(r->races, 0);
	r->pruned = r->classes = 0;
	histories_free(x->histories);
	x->histories = histories_new();
	g_hash_table_remove_all(x->asked);
	g_hash_table_remove_all(x->errors);
	g_hash_table_remove_all(x->races);
	g_ptr_array_set_size(x->waiting, 0);
	x->again = false;
	add_first(x);
}

static bool run_all(struct exploration *x, struct error *error)
{
	add_first(x);
	while (x->waiting->len > 0 && go_on(x) && !limit_reached(x)) {
		struct seed *s = g_ptr_array_steal_index(x->waiting, x->waiting->len - 1);
		bool good = true;
		if (s->parts != NULL && is_known(x, s->parts, s->parts_count, s->kind))
			x->report->pruned++;
		else
			good = run_seed(x, s, error);
		seed_free(s);
		if (!good)
			return false;
		if (x->again)
			begin_again(x);
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

/* One library for all executions. */
static bool bind_library(struct exploration *x, struct error *error)
{
	const GPtrArray *files = x->options->spec_files;
	bool binds = false;
	if (files == NULL || files->len == 0)
		return true;
	return interposer_binds(files, &binds, error) &&
	       (!binds || interposer_of(files, x->options->argv[0], &x->interposer, error));
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
		.plain = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.output = options->keep_output ? NULL : output_file(),
		.deadline = budget > 0 ? g_get_monotonic_time() + budget : 0,
	};
	bool good = bind_library(&x, error) && run_all(&x, error);
	interposer_remove(x.interposer);
	g_hash_table_unref(x.plain);
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
