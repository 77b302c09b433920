/*
 * explore.c - see explore.h: the runs, what waits to be run, and how runs ended.
 */
#include "engine/explore/explore_private.h"

#include "engine/base/file.h"
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

/* A compare-and-exchange that sees another value may write where it did not, or not at all. */
static bool is_exchange(const struct exploration *x, const struct flip *f)
{
	enum op op = f->event == NONE ? OP_COUNT : x->trace->events[f->event].op;
	return f->kind == FLIP_READ && (op == OP_RMW || op == OP_AREAD);
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
	bool use_of_object =
	        f->kind == FLIP_USE && !op_is_access(x->trace->events[f->event].op);
	if (f->kind == FLIP_FAILS || f->kind == FLIP_SUCCEEDS || use_of_object ||
	    is_exchange(x, f))
		plan_any_outcome(&s->plan);
	s->kind = f->kind;
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

/* Where a run that was cut stood then is by chance. */
static bool at_same_places(const struct explore_run *a, const struct explore_run *b)
{
	guint count = a->places ? a->places->len : 0;
	if (a->end == EXPLORE_CUT || a->end == EXPLORE_DIVERGED)
		return true;
	if (count != (b->places ? b->places->len : 0))
		return false;
	for (guint i = 0; i < count; i++)
		if (strcmp(a->places->pdata[i], b->places->pdata[i]) != 0)
			return false;
	return true;
}

static struct explore_error *error_like(struct exploration *x, const struct explore_run *r)
{
	GArray *errors = x->report->errors;
	for (guint i = 0; i < errors->len; i++) {
		struct explore_error *e = &g_array_index(errors, struct explore_error, i);
		if (e->end == r->end && e->status == r->status &&
		    strcmp(e->story, r->story) == 0 &&
		    at_same_places(r,
		                   &g_array_index(x->report->runs, struct explore_run, e->run)))
			return e;
	}
	struct explore_error fresh = { r->end, r->status, g_strdup(r->story), x->run, 0 };
	g_array_append_val(errors, fresh);
	return &g_array_index(errors, struct explore_error, errors->len - 1);
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

/* The first run and the first of each error are kept. */
static bool note_end(struct exploration *x, struct explore_run *r, struct error *error)
{
	bool keep = x->run == 0;
	if (r->end != EXPLORE_FINE && (!r->redundant || r->end == EXPLORE_DIVERGED)) {
		struct explore_error *e = error_like(x, r);
		keep |= e->count++ == 0 && x->report->errors->len <= SAVED_ERRORS;
	}
	if (r->end == EXPLORE_DIVERGED)
		explore_gap(x, "a run did not follow its schedule: what it reads from outside "
		               "(a clock, a file, a socket) is not the same each time");
	if (r->end == EXPLORE_CUT)
		explore_gap(x, "a run was cut: it took too long, or too many steps");
	return !keep || save(x, r, error);
}

static void note_limits(struct exploration *x, const struct plan_run *run)
{
	if (run->facts.stolen)
		explore_gap(x, "a call that blocks is not modelled: schedules are not exact");
	if (run->facts.forked)
		explore_gap(x, "child processes are not explored");
	if (run->facts.status == LOG_LIMIT || run->facts.status == LOG_FULL)
		explore_gap(x, "a run's recording reached its limit");
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
	bool *on = unfinished(x, run, &limits.last);
	limits.goes_on = run->facts.status == LOG_CUT ? NULL : on;
	limits.finals = whole && finals_names(x->options->finals)->len > 0
	                        ? finals_names(x->options->finals)
	                        : NULL;
	limits.stuck = run->facts.status == LOG_DEADLOCK;
	if (known_as != NONE) {
		limits.common = common;
		limits.ended = ended;
	}
	bool stopped = false;
	explore_find_races(x);
	if (!x->cancelled)
		explore_find_deadlocks(x);
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
	if (beyond && !stopped)
		give_up_all_results(x);
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
	int holds = finals_hold(f, x->trace, story);
	if (holds < 0)
		explore_gap(x, "a variable of --check is not known at the end: nobody reads or "
		               "writes it");
	if (holds == 0) {
		r->end = EXPLORE_CHECK;
		g_free(r->story);
		r->story = g_strdup_printf("%s does not hold: %s", finals_check(f), story->str);
	}
	g_string_free(story, TRUE);
}

/* What the run is, and what follows from it. */
static bool take_run(struct exploration *x, struct seed *s, struct plan_run *run,
                     struct error *error)
{
	struct explore_run r = begin_run(s);
	r.events = run->trace->events_count;
	explore_judge(x, run, &r);
	if (s->kind == FLIP_USE && r.end != EXPLORE_DIVERGED)
		explore_note_use(&r);
	if (r.end != EXPLORE_DIVERGED)
		judge_objects(x, &r);
	struct history *h = history_new(x->view, histories_initials(x->histories));
	bool whole = x->options->finals && is_whole(&r, run);
	if (whole) {
		history_add_finals(h, finals_names(x->options->finals));
		check_finals(x, &r);
		note_unknown_finals(x);
	}
	r.class_ = history_class(h);
	r.commuting = g_ptr_array_new_with_free_func(g_free);
	r.commuting_count = view_commuting_pairs(x->view, r.commuting, TOLD_PAIRS);
	r.redundant = r.end == EXPLORE_DIVERGED || !histories_add(x->histories, h);
	bool good = note_end(x, &r, error);
	x->report->classes += !r.redundant;
	g_array_append_val(x->report->runs, r);
	note_limits(x, run);
	note_peeks(x);
	note_nothing(x);
	note_atomics(x);
	x->history = h;
	bool endless = r.end == EXPLORE_CUT && run->facts.status != LOG_CUT;
	if (good && !x->again && !r.redundant && !endless && r.end != EXPLORE_USE_AFTER_FREE)
		derive(x, s->known_as, run, whole);
	history_free(h);
	return good;
}

static bool run_seed(struct exploration *x, struct seed *s, struct error *error)
{
	struct plan_run run;
	if (!start_seed(x, s, &run, error))
		return is_interrupted(x); /* then there may be no trace */
	if (is_interrupted(x)) {
		plan_run_release(&run);
		return true;
	}
	x->run = x->report->runs->len;
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

static bool failed(const struct exploration *x)
{
	for (guint i = 0; i < x->report->errors->len; i++)
		if (g_array_index(x->report->errors, struct explore_error, i).end !=
		    EXPLORE_SPECIFICATION)
			return true;
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
	x->histories = histories_new();
	g_hash_table_remove_all(x->asked);
	g_hash_table_remove_all(x->errors);
	g_hash_table_remove_all(x->races);
	g_ptr_array_set_size(x->waiting, 0);
	x->again = false;
	x->shares = 0;
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
		.histories = histories_new(),
		.waiting = g_ptr_array_new_with_free_func(seed_free),
		.asked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		.errors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.races = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.gaps = g_hash_table_new(g_str_hash, g_str_equal),
		.plain = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.ordered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.output_file = -1,
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
