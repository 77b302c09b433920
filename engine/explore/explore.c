/*
 * explore.c - see explore.h: the runs, what waits to be run, and how runs ended.
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/looks.h"

#include "engine/base/file.h"
#include "engine/explore/reach_private.h"
#include "engine/predict/effort.h"
#include "engine/record/interpose.h"
#include "engine/trace/ending.h"
#include "engine/trace/formats.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAVED_ERRORS = 16, TOLD_PAIRS = 8 };

static const char *const end_words[] = {
#define E(name, word) word,
	EXPLORE_ENDS(E)
#undef E
};

const char *explore_end_word(enum explore_end end)
{
	return end_words[end];
}

/* -- results ------------------------------------------------------------------------------ */

static void run_clear(void *data)
{
	struct explore_run *r = data;
	char *owned[] = { r->flip, r->thread, r->place, r->variable, r->story, r->trace };
	for (size_t i = 0; i < G_N_ELEMENTS(owned); i++)
		g_free(owned[i]);
	if (r->commuting)
		g_ptr_array_unref(r->commuting);
	if (r->places)
		g_ptr_array_unref(r->places);
}

static void error_clear(void *data)
{
	struct explore_error *e = data;
	g_free(e->story);
	g_free(e->key);
	if (e->places)
		g_ptr_array_unref(e->places);
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
void explore_gap(struct exploration *x, const char *why)
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
	g_free(s->use);
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

struct seed *seed_new(struct exploration *x, const uint32_t *sequence, size_t length,
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
	s->known_as = x->known_run;
	s->place = g_strdup(trace_location_name(x->trace, place));
	return s;
}

static bool is_known(const struct exploration *x, const struct part *parts, uint32_t count,
                     enum flip_kind kind)
{
	switch (kind) {
	case FLIP_USE:
		return false;
	case FLIP_CALL:
		return histories_have_call(x->histories, parts, count);
	case FLIP_STUCK:
		return histories_have_class(x->histories, parts[0].prefix);
	case FLIP_WOKEN:
	case FLIP_GOES_ON:
		return histories_have_further(x->histories, parts, count);
	default:
		return histories_have(x->histories, parts, count);
	}
}

/* A compare-and-exchange that sees another value may write where it did not, or not at all. */
static bool is_exchange(const struct exploration *x, const struct flip *f)
{
	enum op op = f->event == NONE ? OP_COUNT : x->trace->events[f->event].op;
	return f->kind == FLIP_READ && (op == OP_RMW || op == OP_AREAD);
}

/* Does the sequence use what is freed or destroyed before? */
static bool has_use(const struct exploration *x, const GArray *sequence)
{
	for (guint i = 0; i < sequence->len; i++)
		if (lifetimes_ended(x->history->lifetimes,
		                    g_array_index(sequence, uint32_t, i)) != NONE)
			return true;
	return false;
}

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
	else if (f->kind == FLIP_GOES_ON || f->kind == FLIP_WOKEN)
		plan_go_on(&s->plan, x->trace, f->thread);
	bool use_of_object = (f->kind == FLIP_USE || f->kind == FLIP_ALIVE) &&
	                     !op_is_access(x->trace->events[f->event].op);
	if (f->kind == FLIP_FAILS || f->kind == FLIP_SUCCEEDS || f->kind == FLIP_ONCE ||
	    use_of_object || is_exchange(x, f))
		plan_any_outcome(&s->plan);
	if (f->kind == FLIP_TIMEOUT || f->kind == FLIP_SIGNALLED)
		plan_wake(&s->plan, f->kind == FLIP_TIMEOUT);
	s->kind = f->kind;
	s->after_use = has_use(x, f->sequence);
	if (f->kind == FLIP_USE)
		s->use = explore_use_key(x->trace, f->event, f->other);
	s->thread = g_strdup(trace_thread_name(x->trace, f->thread));
	explore_describe(x, f, s);
	return s;
}

/* What follows from the first run is shared out; what follows from that is its finder's. */
static bool is_ours(struct exploration *x)
{
	bool first = x->run == x->first;
	uint64_t n = first ? x->shares++ : 0;
	return x->options->shards == 0 || !first || n % x->options->shards == x->options->shard;
}

/* A thread that waits by looking: beyond some rounds in vain, one more is not tried. */
static void note_looks(struct exploration *x, uint32_t look)
{
	char *why =
	        g_strdup_printf("%s waits by looking, at %s: that it looks in vain more than "
	                        "%d times in a row is not tried (--steps: as often as fits)",
	                        trace_thread_name(x->trace, x->trace->events[look].thread),
	                        trace_location_name(x->trace, look), MOST_LOOKS);
	explore_gap(x, why);
	g_free(why);
}

static bool take_flip(void *context, const struct flip *f)
{
	struct exploration *x = context;
	bool use = f->kind == FLIP_USE;
	if (f->kind == FLIP_READ && x->options->max_steps == 0 &&
	    looks_in_vain(x->history, f->event,
	                  history_would_see(x->history, f->event, f->other))) {
		note_looks(x, f->event);
		return !out_of_time(x);
	}
	if (use && explore_know_use(x, f->event, f->other))
		return !out_of_time(x);
	if (!use && (is_known(x, f->parts, f->parts_count, f->kind) ||
	             asked_before(x, f->parts, f->parts_count, f->kind))) {
		x->report->pruned++;
		g_array_index(x->report->runs, struct explore_run, x->run).pruned++;
		return !out_of_time(x);
	}
	if (!is_ours(x))
		return !out_of_time(x);
	struct seed *s = seed_of(x, f);
	if (!use) {
		s->parts = g_memdup2(f->parts, sizeof *f->parts * f->parts_count);
		s->parts_count = f->parts_count;
	}
	g_ptr_array_add(x->waiting, s);
	return !out_of_time(x);
}

/* -- how a run ended ----------------------------------------------------------------------- */

/* Runs that end in the same way at the same place are one error.  Where a run that was cut
 * stood then is by chance. */
static char *key_of(const struct explore_run *r)
{
	bool placed = r->end != EXPLORE_CUT && r->end != EXPLORE_DIVERGED;
	GString *key = g_string_new(NULL);
	g_string_printf(key, "%d %d %s", r->end, r->status, r->story);
	for (guint i = 0; placed && r->places && i < r->places->len; i++)
		g_string_append_printf(key, "\n%s", (char *)r->places->pdata[i]);
	return g_string_free(key, FALSE);
}

/* The error of this key, which it takes; a new one has count 0. */
static struct explore_error *error_of(struct exploration *x, const struct explore_run *r,
                                      char *key)
{
	GArray *errors = x->report->errors;
	for (guint i = 0; i < errors->len; i++) {
		struct explore_error *e = &g_array_index(errors, struct explore_error, i);
		if (strcmp(e->key, key) == 0) {
			g_free(key);
			return e;
		}
	}
	struct explore_error fresh = { .end = r->end,
		                       .status = r->status,
		                       .story = g_strdup(r->story),
		                       .key = key,
		                       .places = r->places ? g_ptr_array_ref(r->places) : NULL,
		                       .run = x->run };
	g_array_append_val(errors, fresh);
	return &g_array_index(errors, struct explore_error, errors->len - 1);
}

/* Counts the run, but once for runs of one class; was it the first of its kind? */
static bool count_error(struct exploration *x, const struct explore_run *r, char *key)
{
	struct explore_error *e = error_of(x, r, key);
	bool first = e->count == 0;
	e->count += first || !r->redundant || r->strayed;
	return first;
}

/* Is how the run ended, after a use, an error beside that? */
static bool is_other_error(struct exploration *x, const struct explore_run *r,
                           const struct explore_use *use, bool fresh)
{
	char *own = key_of(r), *told = g_strdup_printf("%s then %s", use->key, own);
	bool known = !g_hash_table_add(x->errors, told);
	g_free(own);
	switch (r->end) {
	case EXPLORE_FINE:
	case EXPLORE_DIVERGED: /* on account of the use */
		return false;
	case EXPLORE_CUT:
	case EXPLORE_SPECIFICATION:
	case EXPLORE_CHECK:
		return true;
	default:
		return !fresh && !known;
	}
}

/*
 * Uses after an end are errors of their own, each pair of places in the code one.  How the run
 * ended is told with the first; the same end of another run with the same use is no other
 * error, another end is.
 */
static bool count_uses(struct exploration *x, struct explore_run *r)
{
	GPtrArray *uses = explore_find_uses(x, r);
	bool fresh = false;
	struct explore_run as_use = *r;
	as_use.end = EXPLORE_USE_AFTER_FREE;
	for (guint i = 0; i < uses->len; i++) {
		struct explore_use *u = uses->pdata[i];
		as_use.places = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(as_use.places, g_strdup(u->place));
		as_use.story = u->story;
		fresh |= count_error(x, &as_use, g_strdup(u->key));
		g_hash_table_add(x->errors, g_strdup(u->key));
		g_ptr_array_unref(as_use.places);
	}
	if (uses->len > 0 && !is_other_error(x, r, uses->pdata[0], fresh)) {
		struct explore_use *first = uses->pdata[0];
		r->end = EXPLORE_USE_AFTER_FREE;
		explore_set_place(r, first->place);
		g_free(r->story);
		r->story = g_strdup(first->story);
	}
	g_ptr_array_unref(uses);
	return fresh;
}

/* Misuse of locks is an error of its own, too; a run that came to its end all the same has failed
 * by it. */
static bool count_misuses(struct exploration *x, struct explore_run *r)
{
	GPtrArray *misuses = explore_find_misuses(x);
	bool fresh = false;
	struct explore_run as_misuse = *r;
	as_misuse.end = EXPLORE_LOCK_MISUSE;
	for (guint i = 0; i < misuses->len; i++) {
		struct explore_use *u = misuses->pdata[i];
		as_misuse.places = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(as_misuse.places, g_strdup(u->place));
		as_misuse.story = u->story;
		fresh |= count_error(x, &as_misuse, g_strdup(u->key));
		g_ptr_array_unref(as_misuse.places);
	}
	if (misuses->len > 0 && r->end == EXPLORE_FINE) {
		struct explore_use *first = misuses->pdata[0];
		r->end = EXPLORE_LOCK_MISUSE;
		explore_set_place(r, first->place);
		g_free(r->story);
		r->story = g_strdup(first->story);
	}
	g_ptr_array_unref(misuses);
	return fresh;
}

/* In the trace, for whoever opens it by itself. */
static void note_ending(struct trace *t, const struct explore_run *r)
{
	static const uint8_t endings[EXPLORE_END_COUNT] = {
		[EXPLORE_FINE] = ENDING_EXIT,
		[EXPLORE_STATUS] = ENDING_EXIT,
		[EXPLORE_SIGNAL] = ENDING_SIGNAL,
		[EXPLORE_DEADLOCK] = ENDING_STUCK,
		[EXPLORE_BLOCKED] = ENDING_STUCK,
		[EXPLORE_CHECK] = ENDING_CHECK,
		[EXPLORE_USE_AFTER_FREE] = ENDING_ERROR,
		[EXPLORE_LOCK_MISUSE] = ENDING_ERROR,
		[EXPLORE_SPECIFICATION] = ENDING_ERROR,
		[EXPLORE_CUT] = ENDING_CUT,
		[EXPLORE_DIVERGED] = ENDING_CUT,
	};
	enum ending_kind kind = (enum ending_kind)endings[r->end];
	char *text = kind == ENDING_ERROR
	                     ? g_strdup_printf("%s: %s", explore_end_word(r->end), r->story)
	                     : g_strdup(r->story);
	trace_note_ending(t, kind, r->status, text);
	g_free(text);
}

static bool save(struct exploration *x, struct explore_run *r, struct error *error)
{
	if (x->options->save == NULL)
		return true;
	r->trace = g_strdup_printf("%s.run%u.hdl", x->options->save, x->run);
	note_ending(x->trace, r);
	return trace_write(x->trace, r->trace, TRACE_BINARY, NULL, NULL, error);
}

/* Why a run is not as its schedule said, as far as that is known. */
static void note_strayed(struct exploration *x, const struct plan_run *run)
{
	char what[32] = "";
	if (run->facts.diverged != NULL)
		sscanf(run->facts.diverged, "%*u %*u %31s", what);
	if (strcmp(what, "blocked") == 0 || strcmp(what, "spins") == 0)
		explore_gap(x,
		            "a run did not follow its schedule: a thread waits for something "
		            "that is not modelled (in a library, or inside an invocation)");
	else
		explore_gap(
		        x, "a run did not follow its schedule: what it reads from outside (a "
		           "clock, a file, a socket) is not the same each time, or its threads "
		           "share what is not seen (code that is not instrumented, inline "
		           "assembly)");
}

/* The first run and the first of each error are kept. */
static bool note_end(struct exploration *x, const struct plan_run *run, struct explore_run *r,
                     struct error *error)
{
	bool diverged = r->strayed, fresh = count_uses(x, r);
	fresh |= count_misuses(x, r);
	if (r->end != EXPLORE_FINE && r->end != EXPLORE_USE_AFTER_FREE &&
	    r->end != EXPLORE_LOCK_MISUSE &&
	    !(r->end == EXPLORE_DIVERGED && x->after_use))
		fresh |= count_error(x, r, key_of(r));
	bool keep = x->run == 0 || (fresh && x->report->errors->len <= SAVED_ERRORS);
	if (diverged && (r->end == EXPLORE_USE_AFTER_FREE || x->after_use))
		explore_gap(x, "a run did not follow its schedule after it had used what was "
		               "freed or destroyed");
	else if (diverged)
		note_strayed(x, run);
	if (r->end == EXPLORE_CUT)
		explore_gap(x, "a run was cut: it took too long, or too many steps");
	return !keep || save(x, r, error);
}

/* Code that is not instrumented: what it reads and writes, and where others could come between,
 * is not seen. */
static void note_missing(struct exploration *x, const struct plan_run *run)
{
	if (run->facts.instrumented == 0 && x->run == 0)
		explore_gap(x,
		            "the program is not instrumented: what it reads and writes is not "
		            "seen (build it with heddle cc)");
	for (guint i = 0; i < run->facts.missing->len; i++) {
		uint64_t at = g_ascii_strtoull(run->facts.missing->pdata[i], NULL, 16);
		GString *function = g_string_new(NULL);
		record_describe(&run->facts, at + 1, NULL, function);
		char *why = g_strdup_printf(
		        "%s%sof %s, which is not instrumented, is called while other threads "
		        "run: what it does, and orders in which it does otherwise, are not "
		        "explored (instrument it, or bind the function: --spec)",
		        function->str, function->len ? " " : "a function ",
		        record_library(&run->facts, at));
		explore_gap(x, why);
		g_free(why);
		g_string_free(function, TRUE);
	}
}

/* A once-function that was left before it was done, by an exception: others run it again. */
static bool has_failed_once(const struct trace *t)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *s = &t->events[e];
		if (s->op == OP_SND && s->flags & EVENT_TRY &&
		    !g_str_has_suffix(trace_string(t, t->messages[s->target]), MESSAGE_BEGINS))
			return true;
	}
	return false;
}

static void note_limits(struct exploration *x, const struct plan_run *run)
{
	note_missing(x, run);
	if (has_failed_once(x->trace))
		explore_gap(x, "a once-function was left by an exception: not every order in "
		               "which others run it again is looked for");
	for (guint i = 0; i < run->facts.unordered->len; i++) {
		char *why = g_strdup_printf("%s: what comes of it may depend on the order, "
		                            "which is not explored",
		                            (const char *)run->facts.unordered->pdata[i]);
		explore_gap(x, why);
		g_free(why);
	}
	if (run->facts.stolen)
		explore_gap(x, "a call that blocks is not modelled: schedules are not exact");
	if (run->facts.forked)
		explore_gap(x, "child processes are not explored");
	if (run->facts.status == LOG_LIMIT || run->facts.status == LOG_FULL)
		explore_gap(x, "a run's recording reached its limit");
}

/* -- one run --------------------------------------------------------------------------------
 */

/* The runtime's number of a thread, as a word. */
static const char *number_of(const struct trace *t, uint32_t thread)
{
	const char *name = trace_thread_name(t, thread);
	return strcmp(name, "main") == 0 ? "0" : name + 1;
}

static bool has_word(const GPtrArray *words, const char *word)
{
	for (guint i = 0; i < words->len; i++)
		if (strcmp(words->pdata[i], word) == 0)
			return true;
	return false;
}

/* The thread that ended the program, by exit, a signal or what main returned; or NONE. */
static uint32_t ender_of(const struct exploration *x, const struct plan_run *run)
{
	uint32_t status = run->facts.status;
	if (status == LOG_DEADLOCK || status == LOG_CUT || run->result.timed_out)
		return NONE;
	for (uint32_t i = 0; i < x->trace->threads_count; i++)
		if (run->facts.holder == strtoul(number_of(x->trace, i), NULL, 10))
			return i;
	return NONE;
}

/* Threads that had not come to their end, but for the one that ended the program. */
static bool *unfinished(const struct exploration *x, const struct plan_run *run)
{
	const struct trace *t = x->trace;
	bool *on = g_new0(bool, t->threads_count + 1);
	uint32_t ender = ender_of(x, run);
	for (uint32_t i = 0; i < t->threads_count; i++)
		on[i] = i != ender && !has_word(run->facts.ended, number_of(t, i));
	return on;
}

/* Can no other thread see that it was done? */
static bool has_no_effect(const struct trace *t, uint32_t e)
{
	enum op op = t->events[e].op;
	if (event_inert(&t->events[e]) || op_table[op].class == OP_CLASS_MARKER ||
	    op_table[op].class == OP_CLASS_SCOPE)
		return true;
	if (op_is_access(op))
		return !op_writes(op);
	return op_acquires(op) || op_releases(op) || op == OP_TRYFAIL || op == OP_JOIN;
}

/*
 * How the program ended: of the thread that ended it, the last event, and where the events
 * begin that have no effect on others (reads, and critical sections of reads alone).  What
 * others can do after these they can do before them, too.  Where there are none, others go on
 * between the last event and the end, if the thread came to a point there (exit, abort).
 */
static void find_end(const struct exploration *x, const struct plan_run *run,
                     struct flip_limits *limits)
{
	const struct trace *t = x->view->t;
	uint32_t ender = ender_of(x, run), open = 0, last = NONE;
	if (ender == NONE || !trace_need(x->view->t, INDEX_THREADS | INDEX_MATCH, NULL))
		return;
	struct event_list mine = trace_thread_events(t, ender);
	for (uint64_t i = mine.count; i-- > 0;) {
		uint32_t e = mine.items[i];
		bool step = g_array_index(x->history->step_of, uint32_t, e) != NONE;
		if (step && last == NONE)
			last = e;
		if (!has_no_effect(t, e))
			break;
		open += step && op_releases(t->events[e].op);
		open -= step && op_acquires(t->events[e].op) && t->index->partner[e] != NONE;
		if (step && open == 0)
			limits->tail = e;
	}
	if (limits->tail == NONE && !has_word(run->facts.ends, number_of(x->trace, ender)))
		limits->tail = last;
	if (limits->tail != NONE)
		limits->end = last;
}

/* Threads that the end of the program cut off: said once. */
static void note_cut_off(struct exploration *x, const struct plan_run *run,
                         const struct explore_run *r)
{
	static const char key[] = "a thread that was cut off";
	bool *on = unfinished(x, run);
	uint32_t ender = ender_of(x, run), one = 0;
	while (one < x->trace->threads_count && !on[one])
		one++;
	if ((r->end == EXPLORE_FINE || r->end == EXPLORE_STATUS) && ender != NONE &&
	    one < x->trace->threads_count && g_hash_table_add(x->errors, g_strdup(key)))
		g_ptr_array_add(
		        x->report->notes,
		        g_strdup_printf(
		                "%s ends the program while %s has not come to its end (run "
		                "%u): that thread's further steps are in runs where the "
		                "program ends later",
		                trace_thread_name(x->trace, ender),
		                trace_thread_name(x->trace, one), x->run));
	g_free(on);
}

/* What an object's invocations return is not all that there is to it: the order is, too. */
static void give_up_results(struct exploration *x, uint32_t object, const char *why)
{
	char *name = view_object_name(x->view, object);
	if (g_hash_table_add(x->ordered, scopes_object_key(x->trace, x->view->model, object)))
		g_ptr_array_add(x->report->notes,
		                g_strdup_printf("%s: %s; the order of its invocations counts",
		                                name, why));
	g_free(name);
	x->again = true;
}

static void give_up_all_results(struct exploration *x)
{
	const struct view *v = x->view;
	for (uint32_t i = 0; v->by_results != NULL && i < x->trace->instances_count; i++)
		if (v->by_results[i])
			give_up_results(x, i,
			                "a run is too much for the search over its states");
}

static void derive(struct exploration *x, uint32_t known_as, const struct plan_run *run,
                   bool whole)
{
	struct smt_options options = { .use_values = true };
	bool beyond = false;
	struct flip_limits limits = { .seconds = x->options->query_seconds,
		                      .beyond = &beyond,
		                      .deadline = x->deadline,
		                      .progress = x->progress };
	uint32_t *common = g_new(uint32_t, x->history->threads_count + 1);
	bool *ended = g_new0(bool, x->history->threads_count + 1);
	for (uint32_t i = 0; known_as != NONE && i < x->history->threads_count; i++) {
		common[i] = histories_common(x->histories, x->history, i, known_as);
		ended[i] = !histories_goes_on(x->histories, x->history, i, common[i], known_as);
	}
	bool *on = unfinished(x, run);
	limits.end = limits.tail = NONE;
	if (memchr(on, true, x->trace->threads_count))
		find_end(x, run, &limits);
	limits.goes_on = run->facts.status == LOG_CUT ? NULL : on;
	limits.finals = whole && finals_names(x->options->finals)->len > 0
	                        ? finals_names(x->options->finals)
	                        : NULL;
	limits.stuck = run->facts.status == LOG_DEADLOCK;
	limits.ender = ender_of(x, run);
	if (known_as != NONE) {
		limits.common = common;
		limits.ended = ended;
	}
	bool stopped = false;
	explore_find_races(x);
	struct smt *smt = x->cancelled ? NULL : smt_new(x->view->t, &options, x->progress);
	if (smt == NULL) {
		x->cancelled = true;
		g_free(common);
		g_free(ended);
		g_free(on);
		return;
	}
	if (!flips_find(x->history, smt, &limits, take_flip, x, &stopped))
		explore_gap(x, "the solver left a question without an answer");
	if (beyond && !stopped) {
		give_up_all_results(x);
		if (sync_has_outcomes(x->view->t))
			explore_gap(x, "a run is too much for the search over its states: not "
			               "every outcome of its tries, conditions, semaphores, "
			               "barriers and once-functions was looked for");
		explore_find_deadlocks(x);
	}
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
	if (v->contradiction == NULL || x->again) {
		if (v->unruly != NONE && !x->again)
			give_up_results(x, v->unruly,
			                "its effects do not say all that is seen of it");
		return;
	}
	give_up(x, v->contradicted, "is not what its specification says",
	        "it returns something else");
	r->end = EXPLORE_SPECIFICATION;
	g_free(r->story);
	r->story = g_strdup(v->contradiction);
	explore_set_place(r, v->contradiction_at);
}

static void note_atomics(struct exploration *x)
{
	const struct scopes *s = x->view->scopes;
	for (guint i = 0; s != NULL && i < s->atomic->len; i++) {
		char *name = view_object_name(x->view, g_array_index(s->atomic, uint32_t, i));
		char *note = g_strdup_printf("%s is taken to be linearizable: its invocations "
		                             "meet in atomics, with no lock in common",
		                             name);
		if (g_hash_table_add(x->errors, g_strdup(note)))
			g_ptr_array_add(x->report->notes, g_strdup(note));
		g_free(note);
		g_free(name);
	}
}

/* A specification that nothing in the program goes by is a mistake of the user's. */
static void note_nothing(struct exploration *x)
{
	if (x->options->specs == NULL || x->run > 0 || g_hash_table_size(x->plain) > 0 ||
	    (x->view->calls != NULL && x->view->calls->len > 0))
		return;
	g_ptr_array_add(x->report->notes,
	                g_strdup("the first run has no invocation of a specified object: give "
	                         "the methods bind lines, or tell of them with heddle.h"));
}

/* The same for a name of --final or --check. */
static void note_unknown_finals(struct exploration *x)
{
	const GPtrArray *names = finals_names(x->options->finals);
	for (guint i = 0; x->run == 0 && i < names->len; i++)
		if (final_variable(x->trace, names->pdata[i]) == NONE)
			g_ptr_array_add(x->report->notes,
			                g_strdup_printf("the first run neither reads nor "
			                                "writes a variable '%s'",
			                                (char *)names->pdata[i]));
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

static bool is_interrupted(struct exploration *x)
{
	const volatile int *told = x->options->interrupted;
	x->interrupted |= told != NULL && *told;
	if (x->interrupted)
		explore_gap(x, "it was interrupted");
	return x->interrupted;
}

static bool start_seed(struct exploration *x, struct seed *s, struct plan_run *run,
                       struct error *error)
{
	const struct explore_options *o = x->options;
	s->plan.output = x->output;
	s->plan.timeout_ms = o->timeout_ms ? o->timeout_ms : 10000;
	if (x->deadline != 0) {
		gint64 left = (x->deadline - g_get_monotonic_time()) / 1000 + 100;
		s->plan.timeout_ms = (unsigned)CLAMP(left, 100, s->plan.timeout_ms);
	}
	s->plan.interposer = x->interposer;
	s->plan.server = x->server;
	s->plan.explore = true;
	s->plan.max_steps = o->max_steps;
	if (o->spec_files && s->plan.specs == NULL)
		s->plan.specs = g_ptr_array_ref((GPtrArray *)o->spec_files);
	bool good = plan_follow(&s->plan, o->argv, 0, NULL, NULL, run, error);
	x->interrupted |= run->result.interrupted != 0;
	if (good)
		return true;
	plan_run_release(run);
	return false;
}

/* Has everybody come to the end? */
static bool is_whole(const struct explore_run *r, const struct plan_run *run)
{
	return (r->end == EXPLORE_FINE || r->end == EXPLORE_STATUS) &&
	       run->facts.status == LOG_EXITED &&
	       run->facts.ended->len + 1 >= run->trace->threads_count;
}

static void check_finals(struct exploration *x, struct explore_run *r)
{
	const struct finals *f = x->options->finals;
	GString *story = g_string_new(NULL);
	enum truth holds = finals_hold(f, x->trace, story);
	if (holds == TRUTH_UNKNOWN)
		explore_gap(x, "a variable of --check is not known at the end: nobody reads or "
		               "writes it");
	if (holds == TRUTH_NO) {
		r->end = EXPLORE_CHECK;
		g_free(r->story);
		r->story = g_strdup_printf("%s does not hold: %s", finals_check(f), story->str);
	}
	g_string_free(story, TRUE);
}

/*
 * Must the run do what its schedule was made for?  What a read sees of memory whose beginning is
 * not known, only the run tells, and with specifications so what invocations return; who was asked
 * to go on may not be able to.
 */
static bool is_promised(const struct seed *s)
{
	switch (s->kind) {
	case FLIP_FAILS:
	case FLIP_SUCCEEDS:
	case FLIP_TIMEOUT:
	case FLIP_SIGNALLED:
	case FLIP_WOKEN:
	case FLIP_LAST:
	case FLIP_STUCK:
		return s->parts != NULL && !s->after_use;
	default:
		return false;
	}
}

/* What the run is, and what follows from it. */
static bool take_run(struct exploration *x, struct seed *s, struct plan_run *run,
                     struct error *error)
{
	struct explore_run r = begin_run(s);
	r.events = run->trace->events_count;
	explore_judge(x, run, &r);
	if (!r.strayed)
		judge_objects(x, &r);
	struct history *h = history_new(x->view, histories_initials(x->histories));
	bool whole = x->options->finals && is_whole(&r, run);
	if (whole) {
		history_add_finals(h, finals_names(x->options->finals));
		check_finals(x, &r);
		note_unknown_finals(x);
	}
	uint32_t ender = ender_of(x, run);
	if (ender != NONE && !r.strayed)
		history_add_end(h, ender);
	r.class_ = history_class(h);
	r.commuting = g_ptr_array_new_with_free_func(g_free);
	r.commuting_count = view_commuting_pairs(x->view, r.commuting, TOLD_PAIRS);
	r.redundant = r.strayed || !histories_add(x->histories, h);
	x->known_run = r.redundant ? NONE : histories_last(x->histories);
	/* a run that a thread ended may end before what was to come of it */
	if (!r.strayed && ender == NONE && x->options->specs == NULL && is_promised(s) &&
	    !is_known(x, s->parts, s->parts_count, s->kind))
		explore_gap(x, "a run followed its schedule and did not do what was to come of "
		               "it: an outcome may be missing");
	bool good = note_end(x, run, &r, error);
	x->report->classes += !r.redundant;
	g_array_append_val(x->report->runs, r);
	note_limits(x, run);
	note_cut_off(x, run, &r);
	note_peeks(x);
	note_nothing(x);
	note_atomics(x);
	x->history = h;
	bool endless = r.end == EXPLORE_CUT && run->facts.status != LOG_CUT;
	if (good && !x->again && !r.strayed && !endless && s->kind != FLIP_USE)
		derive(x, r.redundant ? NONE : s->known_as, run, whole);
	history_free(h);
	return good;
}

static bool run_seed(struct exploration *x, struct seed *s, struct error *error)
{
	struct plan_run run;
	if (!start_seed(x, s, &run, error))
		return is_interrupted(x); /* then there may be no trace */
	bool late = run.result.timed_out && out_of_time(x) && x->report->runs->len > 0;
	if (late)
		explore_gap(x, "the time was up (--budget)");
	if (late || is_interrupted(x)) {
		plan_run_release(&run);
		return true;
	}
	if (x->report->runs->len == 0 && explore_is_refused(x, &run, error)) {
		plan_run_release(&run);
		return false;
	}
	x->run = x->report->runs->len;
	x->after_use = s->after_use;
	x->use = run.facts.replayed + 1 >= s->plan.steps->len ? s->use : NULL;
	x->trace = run.trace;
	struct view_rules rules = { .specs = x->options->specs,
		                    .plain = x->plain,
		                    .by_results = x->options->by_results,
		                    .ordered = x->ordered };
	struct view *view = view_new(run.trace, &rules, x->progress);
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

/* A status that every run has, so far, is what the program returns, not what went wrong. */
static bool is_usual(const struct exploration *x, const struct explore_error *e)
{
	const GArray *runs = x->report->runs;
	for (guint i = 0; e->end == EXPLORE_STATUS && i < runs->len; i++) {
		const struct explore_run *r = &g_array_index(runs, struct explore_run, i);
		if (r->end == EXPLORE_FINE ||
		    (r->end == EXPLORE_STATUS && r->status != e->status))
			return false;
	}
	return e->end == EXPLORE_STATUS;
}

static bool failed(const struct exploration *x)
{
	for (guint i = 0; i < x->report->errors->len; i++) {
		const struct explore_error *e =
		        &g_array_index(x->report->errors, struct explore_error, i);
		if (e->end != EXPLORE_SPECIFICATION && !is_usual(x, e))
			return true;
	}
	return false;
}

static bool limit_reached(struct exploration *x)
{
	const struct explore_options *o = x->options;
	if (o->max_runs && x->report->runs->len >= o->max_runs) {
		explore_gap(x, "the limit of runs was reached (--runs)");
		return true;
	}
	if (o->until_error && failed(x)) {
		explore_gap(x, "it ended at the first error (--until-error)");
		return true;
	}
	if (out_of_time(x)) {
		explore_gap(x, "the time was up (--budget)");
		return true;
	}
	return is_interrupted(x);
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
	x->first = x->report->runs->len;
	if (x->first > 0) { /* below the run that made it begin again */
		first->parent = 0;
		first->flip = g_strdup("again, with the events of what is not as specified");
		first->thread = g_strdup("");
		first->place = g_strdup("");
		first->variable = g_strdup("");
	}
	g_ptr_array_add(x->waiting, first);
}

static bool read_loaded(void *context, uint64_t address, void *bytes, size_t size)
{
	return record_server_read(context, address, bytes, size);
}

static void begin_histories(struct exploration *x)
{
	x->histories = histories_new();
	histories_initials(x->histories)->read = read_loaded;
	histories_initials(x->histories)->context = x->server;
}

/* An object that is not atomic has made everything worthless but what is said of objects. */
static void begin_again(struct exploration *x)
{
	struct explore_report *r = x->report;
	r->abandoned += r->runs->len; /* but for those that stay, below */
	for (guint i = r->errors->len; i-- > 0;)
		if (g_array_index(r->errors, struct explore_error, i).end !=
		    EXPLORE_SPECIFICATION)
			g_array_remove_index(r->errors, i);
	for (guint i = r->runs->len; i-- > 0;)
		if (g_array_index(r->runs, struct explore_run, i).end != EXPLORE_SPECIFICATION)
			g_array_remove_index(r->runs, i);
	r->abandoned -= r->runs->len;
	for (guint i = 0; i < r->errors->len; i++) /* one run each, and in their order */
		g_array_index(r->errors, struct explore_error, i).run = i;
	for (guint i = 0; i < r->runs->len; i++)
		g_array_index(r->runs, struct explore_run, i).parent = i == 0 ? NONE : 0;
	g_array_set_size(r->races, 0);
	r->pruned = r->classes = 0;
	histories_free(x->histories);
	begin_histories(x);
	g_hash_table_remove_all(x->asked);
	g_hash_table_remove_all(x->errors);
	g_hash_table_remove_all(x->races);
	g_ptr_array_set_size(x->waiting, 0);
	x->again = false;
	x->shares = 0;
	add_first(x);
}

/*
 * Which schedule is next: the one found last, so that few wait.  Looking for one error, any, by
 * chance: the last ones are all in one corner.  What is covered in the end does not depend on
 * it.
 */
static guint pick(struct exploration *x)
{
	if (!x->options->until_error)
		return x->waiting->len - 1;
	x->random ^= x->random << 13;
	x->random ^= x->random >> 7;
	x->random ^= x->random << 17;
	return (guint)(x->random % x->waiting->len);
}

static bool run_all(struct exploration *x, struct error *error)
{
	begin_histories(x);
	add_first(x);
	while (x->waiting->len > 0 && go_on(x) && !limit_reached(x)) {
		struct seed *s = g_ptr_array_steal_index(x->waiting, pick(x));
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
	if (x->races_left)
		g_ptr_array_add(x->report->notes,
		                g_strdup("data races: of some runs only those that their own "
		                         "happens-before leaves open were looked for, since "
		                         "more would take too long"));
	x->report->waiting = x->waiting->len;
	x->report->complete = x->waiting->len == 0 && x->report->gaps->len == 0;
	if (x->cancelled)
		error_set(error, "", NULL, "cancelled");
	return !x->cancelled;
}

static bool open_output(struct exploration *x, struct error *error)
{
	if (x->options->keep_output)
		return true;
	x->output_file = file_open_nameless(g_get_tmp_dir());
	if (x->output_file < 0)
		return error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		                 "cannot keep what the program prints: %s", g_strerror(errno));
	x->output = file_descriptor_path(x->output_file);
	return true;
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
		.waiting = g_ptr_array_new_with_free_func(seed_free),
		.asked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		.errors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.races = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.gaps = g_hash_table_new(g_str_hash, g_str_equal),
		.plain = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.ordered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.output_file = -1,
		.random = (options->seed + 1) * 0x9e3779b97f4a7c15u,
		.effort_began = effort_microseconds(),
		.deadline = budget > 0 ? g_get_monotonic_time() + budget : 0,
	};
	bool good = open_output(&x, error) && bind_library(&x, error) &&
	            (x.server = record_server_new(options->argv, x.interposer, x.output,
	                                          error)) != NULL &&
	            run_all(&x, error);
	record_server_free(x.server);
	interposer_remove(x.interposer);
	g_hash_table_unref(x.plain);
	g_hash_table_unref(x.ordered);
	if (x.output_file >= 0)
		close(x.output_file);
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
