/* graphs_run.c - `explore --memory`: runs along graphs, and the program that is enumerated. */
#include "engine/explore/graphs/graphs.h"
#include "engine/explore/runs/unseen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BETWEEN_LIMITS = 64 /* events */ };
enum { MOST_EVENTS = 20000 }; /* bound on a graph, when none is given */

/* ---- a run ---- */

static bool limit_reached(struct graphs *s)
{
	struct exploration *x = s->x;
	const struct explore_options *o = x->options;
	char what[96];
	snprintf(what, sizeof what, "%u runs, %" PRIu64 " graphs, %u errors",
	         x->report->runs->len, s->counts.complete + s->counts.blocked,
	         x->report->errors->len);
	x->cancelled |= !progress_tick(x->progress, 0, what);
	if (o->max_runs && x->report->runs->len >= o->max_runs)
		explore_note_incomplete(x, "the limit of runs was reached (--runs)");
	else if (o->until_error && explore_has_failed(x))
		explore_note_incomplete(x, "it ended at the first error (--until-error)");
	else if (explore_out_of_time(x))
		explore_note_incomplete(x, EXPLORE_TIME_UP);
	else if (!explore_is_interrupted(x) && !x->cancelled)
		return false;
	s->limited = true;
	return true;
}

static const enum weak_model weak_models[] = {
	[MEMORY_SC] = WEAK_SC, [MEMORY_TSO] = WEAK_TSO, [MEMORY_RC11] = WEAK_RC11
};

static void set_plan(struct graphs *s, struct plan *plan)
{
	const struct explore_options *o = s->x->options;
	plan->output = s->x->output;
	plan->timeout_ms = o->timeout_ms ? o->timeout_ms : 10000;
	plan->server = s->x->server;
	plan->explore = plan->futexes = true;
	plan->max_steps = o->max_steps;
	plan->memory = weak_models[s->model];
}

/* Notes that two threads stood before the program's end: the run shows one of the ends. */
static void note_ends(struct exploration *x, const struct plan_run *run)
{
	const GArray *ends = run->facts.ends;
	for (guint i = 1; i < ends->len; i++)
		if (g_array_index(ends, uint32_t, i) != g_array_index(ends, uint32_t, 0)) {
			explore_note_incomplete(
			        x, "two threads end the program, in any order: only one of the "
			           "two ends is run (a failure, if one is)");
			return;
		}
}

/* Add the run to the report; its class is new or not. */
static bool report_run(struct graphs *s, const struct plan *plan, struct plan_run *run,
                       struct memory_recorded *r)
{
	struct exploration *x = s->x;
	struct view_rules rules = { .plain = x->plain, .ordered = x->ordered };
	struct explore_run e = { .parent = x->report->runs->len == 0 ? NONE : 0,
		                 .events = run->trace->events_count };
	graphs_describe(run->trace, &e);
	struct view *view = view_new(run->trace, &rules, x->progress);
	if (view == NULL) {
		x->cancelled = true;
		return false;
	}
	x->view = view;
	explore_judge(x, run, &e);
	e.class_ = graphs_class(r->graph);
	e.redundant = e.strayed ||
	              !g_hash_table_add(s->classes, g_memdup2(&e.class_, sizeof e.class_));
	x->report->classes += !e.redundant;
	bool good = explore_note_end(x, plan, run, &e, s->error);
	explore_share_texts(&e);
	g_array_append_val(x->report->runs, e);
	explore_note_limits(x, run);
	note_ends(x, run);
	graphs_note_uses(s, run->trace, r);
	if (!e.strayed)
		graphs_note_ends(s, r->graph);
	if (!e.strayed && !e.redundant) {
		explore_find_races(x);
		good &= explore_note_unordered_uses(x, run);
	}
	x->view = NULL;
	view_free(view);
	return good;
}

/* Notes loads that read an unknown initial value. */
static void note_guesses(struct graphs *s, const struct memory_graph *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct memory_event *e = &g->events[i];
		if (e->kind == MEMORY_LOAD && e->rf != NONE &&
		    g->events[e->rf].kind == MEMORY_INIT &&
		    g_array_index(s->world.initials, struct memory_initial, e->location)
		            .guessed)
			explore_note_incomplete(
			        s->x, "an atomic that is read before any atomic store was "
			              "written plainly, in several parts or by a value "
			              "that is not known: what it reads is not known");
	}
}

/* Other threads in the graph may read the store of a round that was left out: their next
 * events can only be learned from the run with its rounds. */
static void learn_with_rounds(struct graphs *s, const struct plan_run *run)
{
	struct memory_recorded recorded;
	s->with_rounds = true;
	graphs_recorded(s, run, &recorded);
	s->with_rounds = false;
	if (!s->again)
		graphs_learn(s, run, &recorded);
	memory_recorded_release(&recorded);
}

/* Runs the program along the graph and beyond, to see the thread's next event (NONE: no
 * thread). `doubtful`: the graph may be impossible to run; then the run is not reported. */
static bool run_graph(struct graphs *s, struct memory_graph *g, uint32_t thread, bool doubtful)
{
	struct exploration *x = s->x;
	struct plan_run run = { 0 };
	struct plan plan;
	if (limit_reached(s))
		return false;
	if (g->count > MOST_EVENTS) {
		explore_note_incomplete(x, "a run was cut: it has too many steps");
		return false;
	}
	note_guesses(s, g);
	graphs_plan(s, g, &plan);
	set_plan(s, &plan);
	bool good = plan_follow(&plan, x->options->argv, 0, NULL, NULL, &run, s->error);
	x->interrupted |= run.result.interrupted != 0;
	s->failed = !good && !explore_is_interrupted(x);
	x->run = x->report->runs->len;
	x->trace = run.trace;
	if (good && x->run == 0 && explore_is_refused(x, &run, s->error)) {
		good = false;
		s->failed = true;
	}
	bool racy = good && run.diverged && graphs_note_mixed(s);
	bool nothing = (doubtful || racy) && run.diverged;
	if (good && !nothing && !explore_is_interrupted(x)) {
		struct memory_recorded recorded;
		graphs_apply_orders(s, run.trace);
		graphs_recorded(s, &run, &recorded);
		uint8_t *flags = graphs_show_fences(s, run.trace);
		good = report_run(s, &plan, &run, &recorded);
		graphs_hide_fences(run.trace, flags);
		s->failed |= !good;
		if (good && !s->again)
			graphs_learn(s, &run, &recorded);
		memory_recorded_release(&recorded);
		if (good && !s->again && thread != NONE &&
		    graphs_known(s, graphs_last(g, thread)) == NULL)
			learn_with_rounds(s, &run);
	}
	x->trace = NULL;
	plan_release(&plan);
	plan_run_release(&run);
	return good && !s->again && !s->restart;
}

/* ---- the program ---- */

static uint32_t thread_count(void *context, const struct memory_graph *g)
{
	return ((struct graphs *)context)->world.threads->len;
}

static bool is_created(const struct memory_graph *g, uint32_t thread)
{
	for (uint32_t i = 0; i < g->count; i++)
		if (g->events[i].kind == MEMORY_CREATE && g->events[i].peer == thread)
			return true;
	return thread == 0;
}

/* A load was just added whose store another update reads already: if it turns out to be an
 * update, the two exclude each other, and the graph is impossible. */
static bool may_exclude(const struct memory_graph *g, uint32_t load)
{
	if (load == NONE || g->events[load].kind != MEMORY_LOAD)
		return false;
	for (uint32_t i = 0; i < g->count; i++)
		if (i != load && g->events[i].kind == MEMORY_LOAD &&
		    (g->events[i].flags & MEMORY_EXCLUSIVE) &&
		    g->events[i].rf == g->events[load].rf)
			return true;
	return false;
}

/* The subgraph of the event and its po- and rf-predecessors. */
static struct memory_graph *past_of(const struct memory_graph *g, uint32_t event)
{
	uint8_t *prefix = memory_prefix(g, event);
	struct memory_graph *part = memory_restrict(g, prefix);
	g_free(prefix);
	return part;
}

/* Runs the program until the thread's next event is seen. */
static bool run_for(struct graphs *s, struct memory_graph *g, uint32_t thread)
{
	uint32_t last = thread < g->threads ? g->last[thread] : NONE;
	if (!may_exclude(g, last))
		return run_graph(s, g, thread, false);
	struct memory_graph *part = past_of(g, last);
	bool good = run_graph(s, part, thread, may_exclude(part, part->last[thread]));
	memory_graph_free(part);
	return good;
}

/* Is the last load of the thread an update that reads the store which another update in its
 * past has read? No run has it; as an event it is its store, with which the graph is
 * inconsistent whatever its value. */
static bool is_excluded(const struct memory_graph *g, uint32_t thread,
                        struct memory_event *event)
{
	uint32_t last = thread < g->threads ? g->last[thread] : NONE;
	if (!may_exclude(g, last))
		return false;
	struct memory_graph *part = past_of(g, last);
	bool excluded = may_exclude(part, part->last[thread]);
	memory_graph_free(part);
	event->kind = MEMORY_STORE;
	event->location = g->events[last].location;
	event->order = g->events[last].order;
	event->flags = MEMORY_EXCLUSIVE;
	return excluded;
}

enum { ROUNDS = 3 };

/* Has the thread made three rounds of a loop of several loads that read the same? */
static bool goes_round(const struct memory_graph *g, uint32_t thread)
{
	enum { LONGEST = 8, MOST = (ROUNDS + 1) * LONGEST };
	uint32_t ids[MOST], count = 0;
	uint32_t i = thread < g->threads ? g->last[thread] : NONE;
	for (; i != NONE && count < MOST; i = g->events[i].po_prev) {
		const struct memory_event *e = &g->events[i];
		if (e->kind == MEMORY_FENCE)
			continue;
		if (e->kind != MEMORY_LOAD || (e->flags & MEMORY_EXCLUSIVE))
			break;
		ids[count++] = i;
	}
	for (uint32_t period = 1; period <= LONGEST && period * ROUNDS <= count; period++) {
		bool same = true;
		for (uint32_t k = 0; same && k < period * (ROUNDS - 1); k++) {
			const struct memory_event *a = &g->events[ids[k]];
			const struct memory_event *b = &g->events[ids[k + period]];
			same = a->site == b->site && a->location == b->location &&
			       a->value == b->value;
		}
		if (same)
			return true;
	}
	return false;
}

static enum memory_step next(void *context, const struct memory_graph *graph, uint32_t thread,
                             struct memory_event *event)
{
	struct graphs *s = context;
	struct memory_graph *g = (struct memory_graph *)graph; /* for its marks */
	/* thousands of known events take long even without a run or a visit */
	if (s->asked++ % BETWEEN_LIMITS == 0 && limit_reached(s))
		return MEMORY_STEP_FAILED;
	if (s->shortens && s->asked >= s->until) {
		s->restart = true;
		return MEMORY_STEP_FAILED;
	}
	if (!is_created(g, thread))
		return MEMORY_STEP_NONE;
	uint64_t mark = graphs_last(g, thread);
	const struct known *k = graphs_known(s, mark);
	if (k == NULL && goes_round(g, thread)) {
		graphs_note_looks(s, g->events[g->last[thread]].site, ROUNDS);
		event->expected = 1;
		return MEMORY_STEP_AWAIT;
	}
	if (k == NULL) {
		if (!run_for(s, g, thread))
			return MEMORY_STEP_FAILED;
		k = graphs_known(s, mark);
	}
	if (k == NULL && is_excluded(g, thread, event))
		return MEMORY_STEP_EVENT;
	if (k == NULL) {
		if (!graphs_note_mixed(s))
			explore_note_incomplete(
			        s->x, "a thread was cut off before its end: what it does "
			              "next is not known");
		struct known *none = g_new0(struct known, 1);
		none->step = MEMORY_STEP_NONE;
		none->steps = g_array_new(FALSE, FALSE, sizeof(struct log_step));
		g_hash_table_insert(s->known, g_memdup2(&mark, sizeof mark), none);
		return MEMORY_STEP_NONE;
	}
	if (k->step == MEMORY_STEP_EVENT)
		*event = graphs_event(s, k);
	if (k->passed != 0 && k->passed <= s->enumeration && k->step == MEMORY_STEP_EVENT) {
		event->expected = 0;
		return MEMORY_STEP_AWAIT;
	}
	event->expected = k->step == MEMORY_STEP_AWAIT ? k->event.expected : event->expected;
	return k->step;
}

static uint64_t initial(void *context, uint32_t location)
{
	struct graphs *s = context;
	struct memory_initial *i =
	        &g_array_index(s->world.initials, struct memory_initial, location);
	const struct memory_place *p =
	        &g_array_index(s->world.places, struct memory_place, location);
	i->guessed |= !i->known && i->written;
	if (!i->known && p->base == 0)
		record_server_read(s->x->server, p->offset, &i->value, MIN(p->size, 8u));
	i->known = true;
	return i->value;
}

static bool visit(void *context, const struct memory_graph *graph, bool blocked)
{
	struct graphs *s = context;
	struct memory_graph *g = (struct memory_graph *)graph;
	uint64_t class_ = graphs_class(g);
	note_guesses(s, g);
	if (limit_reached(s))
		return false;
	bool known = g_hash_table_contains(s->classes, &class_);
	if (!known && graphs_spare(s, g, blocked))
		return true;
	if (!known && !run_graph(s, g, NONE, false))
		return false;
	/* the run diverged from the graph: one attempt is enough */
	if (!known)
		g_hash_table_add(s->classes, g_memdup2(&class_, sizeof class_));
	g_hash_table_add(s->visited, g_memdup2(&class_, sizeof class_));
	return true;
}

/* ---- the whole ---- */

static void begin_again(struct graphs *s)
{
	struct explore_report *r = s->x->report;
	r->abandoned += r->runs->len;
	for (guint i = 0; i < r->runs->len; i++)
		explore_unsave(s->x, &g_array_index(r->runs, struct explore_run, i));
	g_array_set_size(r->runs, 0);
	g_array_set_size(r->errors, 0);
	g_array_set_size(r->races, 0);
	r->classes = 0;
	g_hash_table_remove_all(s->x->errors);
	g_hash_table_remove_all(s->x->races);
	g_hash_table_remove_all(s->known);
	g_hash_table_remove_all(s->longer);
	g_hash_table_remove_all(s->classes);
	g_hash_table_remove_all(s->ends);
	s->spared = 0;
	s->again = false;
}

static GHashTable *numbers_new(GDestroyNotify release)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, release);
}

bool graphs_explore(struct exploration *x, enum memory_model model, struct error *error)
{
	struct graphs s = { .x = x,
		            .model = model,
		            .known = numbers_new(known_free),
		            .longer = numbers_new((GDestroyNotify)g_array_unref),
		            .classes = numbers_new(NULL),
		            .visited = numbers_new(NULL),
		            .places = numbers_new(g_free),
		            .compares = numbers_new(NULL),
		            .unseen = unseen_new(),
		            .uses = g_hash_table_new_full(memory_place_hash, memory_place_equal,
		                                          g_free,
		                                          (GDestroyNotify)g_array_unref),
		            .ends = numbers_new(NULL),
		            .shared = g_hash_table_new_full(memory_place_hash,
		                                            memory_place_equal, g_free, NULL),
		            .error = error };
	struct memory_program program = { .context = &s,
		                          .threads = thread_count,
		                          .next = next,
		                          .initial = initial,
		                          .visit = visit };
	memory_world_init(&s.world);
	bool good;
	for (;;) {
		good = memory_enumerate(&program, model, &s.counts);
		if (good ? !s.shortens : !s.again && !s.restart)
			break;
		if (s.again)
			begin_again(&s);
		s.restart = s.shortens = false;
		s.enumeration++;
		s.until = s.asked + (s.asked - s.began) * 3 / 2;
		s.began = s.asked;
		g_hash_table_remove_all(s.visited);
	}
	if (good) /* without the classes of runs with unnecessary looks */
		x->report->classes = g_hash_table_size(s.visited);
	graphs_note_orders(&s);
	x->report->graphs = s.counts.complete + s.counts.blocked;
	x->report->graphs_blocked = s.counts.blocked;
	x->report->complete = good && x->report->reasons->len == 0;
	x->report->only_looks =
	        good && !x->report->complete && x->report->reasons->len == s.looks;
	if (x->cancelled)
		error_cancelled(error);
	g_hash_table_unref(s.known);
	g_hash_table_unref(s.longer);
	g_hash_table_unref(s.classes);
	g_hash_table_unref(s.visited);
	g_hash_table_unref(s.places);
	g_hash_table_unref(s.compares);
	g_hash_table_unref(s.unseen);
	g_hash_table_unref(s.uses);
	g_hash_table_unref(s.ends);
	g_hash_table_unref(s.shared);
	memory_world_release(&s.world);
	return !s.failed && !x->cancelled;
}
