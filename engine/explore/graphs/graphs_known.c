/* graphs_known.c - the knowledge gained from runs: the graph of a run, and the next events of
 * its threads. */
#include "engine/explore/graphs/graphs.h"
#include "engine/explore/runs/unseen.h"
#include "engine/trace/own_code.h"

#include <stdlib.h>
#include <string.h>

void known_free(void *data)
{
	struct known *k = data;
	g_array_free(k->steps, TRUE);
	g_free(k);
}

const struct known *graphs_known(const struct graphs *s, uint64_t mark)
{
	return g_hash_table_lookup(s->known, &mark);
}

static bool has(GHashTable *set, uint64_t key)
{
	return g_hash_table_contains(set, &key);
}

/* ---- the graph of a run ---- */

static bool is_wanted(const void *context, const struct memory_place *place)
{
	return g_hash_table_contains(((const struct graphs *)context)->shared, place);
}

static bool is_unseen(const void *context, const struct trace *t, uint32_t event)
{
	return unseen_at(((const struct graphs *)context)->unseen, t, event);
}

static void note_place(struct graphs *s, const struct trace *t, const struct memory_recorded *r,
                       uint32_t id)
{
	uint64_t site = r->graph->events[id].site;
	if (r->graph->events[id].kind == MEMORY_LOAD && r->event[id] != NONE &&
	    !g_hash_table_contains(s->places, &site))
		g_hash_table_insert(s->places, g_memdup2(&site, sizeof site),
		                    g_strdup(own_code_place_name(t, r->event[id])));
}

void graphs_note_looks(struct graphs *s, uint64_t site, unsigned times)
{
	const char *place = g_hash_table_lookup(s->places, &site);
	char *why = g_strdup_printf("a thread waits by looking, at %s: that it looks in vain "
	                            "more than %u times in a row is not tried",
	                            place != NULL ? place : "an unknown place", times);
	guint before = s->x->report->reasons->len;
	explore_note_incomplete(s->x, why);
	s->looks += s->x->report->reasons->len - before;
	g_free(why);
}

static void note_places(struct graphs *s, const struct trace *t,
                        const struct memory_recorded *r)
{
	for (uint32_t i = 0; i < r->graph->count; i++)
		note_place(s, t, r, i);
}

/* By event: the runtime's states; owned. */
static uint64_t *states_of(const struct plan_run *run)
{
	uint64_t *states = g_new0(uint64_t, run->trace->events_count + 1);
	for (guint i = 0; i < run->facts.states->len; i++) {
		const struct record_state *state =
		        &g_array_index(run->facts.states, struct record_state, i);
		states[state->event] = state->state;
	}
	return states;
}

/* TSO: plain memory that two threads access, one of which writes. */
struct sharing {
	uint32_t thread;
	bool several, written, plain;
};

static void find_shared(struct graphs *s, const struct trace *t,
                        const struct memory_recorded *r)
{
	struct memory_blocks *blocks = memory_blocks_new(t, r->thread);
	GHashTable *seen =
	        g_hash_table_new_full(memory_place_hash, memory_place_equal, g_free, g_free);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct memory_place place;
		if (!op_is_access(x->op) || event_inert(x) ||
		    !memory_place_of(t, blocks, e, &place))
			continue;
		struct sharing *known = g_hash_table_lookup(seen, &place);
		if (known == NULL) {
			known = g_new0(struct sharing, 1);
			known->thread = x->thread;
			g_hash_table_insert(seen, g_memdup2(&place, sizeof place), known);
		}
		known->several |= known->thread != x->thread;
		known->written |= op_writes(x->op);
		known->plain |= !op_is_atomic(x->op);
	}
	GHashTableIter all;
	gpointer place, known;
	g_hash_table_iter_init(&all, seen);
	while (g_hash_table_iter_next(&all, &place, &known)) {
		const struct sharing *w = known;
		if (w->several && w->written &&
		    g_hash_table_add(s->shared, g_memdup2(place, sizeof(struct memory_place))))
			s->again |= w->plain;
	}
	g_hash_table_unref(seen);
	memory_blocks_free(blocks);
}

static void note_unmodelled(struct graphs *s, enum memory_unmodelled what)
{
	char *why =
	        g_strdup_printf("--memory does not model %s: what depends on their order is "
	                        "not explored",
	                        memory_unmodelled_words(what));
	explore_note_incomplete(s->x, why);
	g_free(why);
}

bool graphs_note_mixed(struct graphs *s)
{
	if (s->model != MEMORY_RC11 || g_hash_table_size(s->shared) == 0)
		return false;
	note_unmodelled(s, MEMORY_UNMODELLED_PLAIN);
	return true;
}

void graphs_recorded(struct graphs *s, const struct plan_run *run, struct memory_recorded *r)
{
	const struct trace *t = run->trace;
	uint64_t *states = states_of(run);
	GArray *fences = graphs_fences(s);
	struct memory_choice choice = { .context = s,
		                        .wanted = is_wanted,
		                        .states = states,
		                        .keeps_updates = s->with_rounds,
		                        .fences = fences,
		                        .is_unseen = is_unseen,
		                        .ended = run->facts.ended };
	memory_recorded_init(r, t, &s->world, s->model, &choice);
	g_free(states);
	g_array_free(fences, TRUE);
	if (s->model == MEMORY_TSO)
		find_shared(s, t, r);
	s->again |= r->recounted;
	for (guint i = 0; i < r->mixed->len; i++) {
		const struct memory_place *p = &g_array_index(r->mixed, struct memory_place, i);
		s->again |= g_hash_table_add(s->shared, g_memdup2(p, sizeof *p));
	}
	note_places(s, t, r);
	for (int u = 0; u < MEMORY_UNMODELLED_COUNT; u++)
		if (r->unmodelled >> u & 1)
			note_unmodelled(s, (enum memory_unmodelled)u);
}

/* ---- next events ---- */

struct learning {
	struct graphs *s;
	const struct plan_run *run;
	struct memory_recorded *r;
	struct plan plan;  /* plan of the whole run, for its steps */
	uint32_t *step_of; /* by event of the trace: its step, or NONE */
	GArray **pending;  /* by thread of the trace: struct log_step since its last event */
	guint position;    /* first step that was not processed yet */
	GArray *marks;     /* uint64_t, by look: the mark after it */
	uint64_t *states;  /* by event of the trace */
	GArray **looks;    /* by thread of the trace: struct graphs_looked */
};

static bool same_event(const struct memory_event *a, const struct memory_event *b)
{
	return a->kind == b->kind && a->location == b->location && a->peer == b->peer &&
	       a->guard == b->guard && (a->kind != MEMORY_STORE || a->value == b->value);
}

/* Learn from a compare-and-exchange of the run whether it succeeds with the value read. */
static void learn_outcome(struct graphs *s, struct known *known, const struct memory_event *e)
{
	if (e->kind != MEMORY_LOAD || !(e->flags & MEMORY_LOCKED))
		return;
	if (e->flags & MEMORY_EXCLUSIVE) {
		known->updates = true;
		known->success_order = e->order;
		known->expected = e->value;
	} else if (!has(s->compares, e->site)) {
		/* others at this site may have been taken for updates whatever they read */
		g_hash_table_insert(s->compares, g_memdup2(&e->site, sizeof e->site),
		                    GUINT_TO_POINTER(e->order + 1u));
		s->restart = true;
	}
}

struct memory_event graphs_event(const struct graphs *s, const struct known *known)
{
	struct memory_event e = known->event;
	if (e.kind != MEMORY_LOAD)
		return e;
	gpointer order = g_hash_table_lookup(s->compares, &e.site);
	e.flags &= (uint16_t)~MEMORY_EXCLUSIVE;
	if (!known->updates || order == NULL)
		return e;
	e.flags |= MEMORY_COMPARES;
	e.expected = known->expected;
	e.success_order = known->success_order;
	e.failure_order = (uint8_t)(GPOINTER_TO_UINT(order) - 1);
	return e;
}

static void learn(struct learning *l, uint64_t mark, enum memory_step step,
                  const struct memory_event *event, uint32_t thread, struct log_step own)
{
	GArray *steps = l->pending[thread];
	struct known *known = g_hash_table_lookup(l->s->known, &mark);
	if (known == NULL) {
		known = g_new0(struct known, 1);
		known->step = step;
		if (event != NULL)
			known->event = *event;
		known->event.mark = 0;
		known->steps = g_array_new(FALSE, FALSE, sizeof(struct log_step));
		g_array_append_vals(known->steps, steps->data, steps->len);
		known->own = own;
		g_hash_table_insert(l->s->known, g_memdup2(&mark, sizeof mark), known);
	} else if (step == MEMORY_STEP_AWAIT && known->step != MEMORY_STEP_AWAIT) {
		/* only this shows that it is the end of a round */
		known->step = step;
		known->event = *event;
		l->s->restart = true;
	} else if (step == MEMORY_STEP_EVENT && known->step == MEMORY_STEP_EVENT &&
	           !same_event(&known->event, event)) {
		explore_note_incomplete(
		        l->s->x, "a thread did otherwise after it read the same values: it "
		                 "depends on what is not modelled");
	}
	if (step == MEMORY_STEP_EVENT)
		learn_outcome(l->s, known, event);
	g_array_set_size(steps, 0);
}

static bool is_added_fence(const struct learning *l, uint32_t id)
{
	return id != NONE && l->r->graph->events[id].kind == MEMORY_FENCE &&
	       l->r->event[id] == NONE;
}

/* Adds the steps of fences that the program does not have, up to this event of the graph. */
static void take_fences(struct learning *l, uint32_t id, uint32_t thread)
{
	struct memory_graph *g = l->r->graph;
	if (!is_added_fence(l, id))
		return;
	uint32_t before = g->events[id].po_prev;
	take_fences(l, before, thread);
	uint64_t mark =
	        before == NONE ? graphs_root(g->events[id].thread) : graphs_mark(g, before);
	learn(l, mark, MEMORY_STEP_EVENT, &g->events[id], thread, (struct log_step){ 0 });
}

/* Does the event leave memory and the other threads unchanged? */
static bool only_looks(const struct learning *l, uint32_t event)
{
	const struct trace *t = l->run->trace;
	const struct event *x = &t->events[event];
	enum op_class class = op_table[x->op].class;
	uint32_t stack = t->threads[x->thread].stack;
	if (class != OP_CLASS_ACCESS)
		return x->op == OP_FENCE || class == OP_CLASS_SCOPE || class == OP_CLASS_MARKER;
	if (!op_writes(x->op))
		return true;
	struct wide run = event_variables(t, x);
	for (uint32_t i = 0; i < run.count; i++)
		if (stack == NONE || t->variables[run.first + i].block != stack)
			return false;
	return x->op == OP_WRITE && l->r->graph_of[event] == NONE;
}

/* Notes a change by the thread, up to which its later states are comparable. */
static void take_change(struct learning *l, uint32_t event, uint64_t before)
{
	uint32_t id = l->r->graph_of[event];
	GArray *looks = l->looks[l->run->trace->events[event].thread];
	const struct memory_event *e = id == NONE ? NULL : &l->r->graph->events[id];
	bool load = e != NULL && e->kind == MEMORY_LOAD && l->r->event[id] == event &&
	            !(e->flags & (MEMORY_EXCLUSIVE | MEMORY_LIBRARY | MEMORY_CHOOSES));
	if (!only_looks(l, event) || (e != NULL && !load && e->kind != MEMORY_FENCE))
		g_array_set_size(looks, 0);
	else if (load)
		graphs_look(looks, &(struct graphs_looked){ before, id });
}

static void take_event(struct learning *l, uint32_t event, struct log_step own)
{
	struct memory_graph *g = l->r->graph;
	uint32_t thread = l->run->trace->events[event].thread;
	uint32_t id = l->r->graph_of[event];
	uint32_t before = g->events[id].po_prev;
	take_fences(l, before, thread);
	uint64_t mark =
	        before == NONE ? graphs_root(g->events[id].thread) : graphs_mark(g, before);
	learn(l, mark, MEMORY_STEP_EVENT, &g->events[id], thread, own);
	graphs_note_state(l->s, g, l->looks[thread], mark, l->states[event]);
	take_change(l, event, mark);
	uint32_t next = g->events[id].po_next;
	if (next != NONE && l->r->event[next] == event)
		learn(l, graphs_mark(g, id), MEMORY_STEP_EVENT, &g->events[next], thread,
		      (struct log_step){ 0 });
}

/* An event of a round of a loop that waits: a thread that reads the same waits after the
 * round's last look. */
static void take_look(struct learning *l, uint32_t look, struct log_step own)
{
	struct memory_graph *g = l->r->graph;
	const struct memory_look *k = &g_array_index(l->r->looks, struct memory_look, look);
	uint32_t thread = l->run->trace->events[k->event].thread;
	uint64_t before = k->before != NONE  ? g_array_index(l->marks, uint64_t, k->before)
	                  : k->after != NONE ? graphs_mark(g, k->after)
	                                     : graphs_root(k->e.thread);
	uint64_t mark = graphs_mark_look(g, l->r->looks, look, before);
	g_array_index(l->marks, uint64_t, look) = mark;
	learn(l, before, MEMORY_STEP_EVENT, &k->e, thread, own);
	if (k->before == NONE)
		graphs_note_state(l->s, g, l->looks[thread], before, l->states[k->event]);
	if (k->round == 0)
		return;
	struct memory_event wait = k->e;
	wait.expected = k->round;
	learn(l, mark, MEMORY_STEP_AWAIT, &wait, thread, (struct log_step){ 0 });
}

/* Takes the looks of an event: a load, and an update's store, between which other threads'
 * looks may be. */
static void take_looks(struct learning *l, uint32_t event, struct log_step own)
{
	const struct event *events = l->run->trace->events;
	for (uint32_t i = l->r->look_of[event]; i < l->r->looks->len; i++) {
		uint32_t e = g_array_index(l->r->looks, struct memory_look, i).event;
		if (e != event && events[e].thread == events[event].thread)
			return;
		if (e != event)
			continue;
		bool added = g_array_index(l->r->looks, struct memory_look, i).e.kind ==
		                     MEMORY_FENCE &&
		             events[e].op != OP_FENCE;
		take_look(l, i, added ? (struct log_step){ 0 } : own);
		own = added ? own : (struct log_step){ 0 };
	}
}

/* Steps of events that the trace lacks come before the next event of their thread. */
static struct log_step step_of(struct learning *l, uint32_t event)
{
	uint32_t at = l->step_of[event], thread = l->run->trace->events[event].thread;
	struct log_step own = { 0 };
	if (at == NONE)
		return own;
	for (; l->position < at; l->position++)
		g_array_append_val(l->pending[thread],
		                   g_array_index(l->plan.steps, struct log_step, l->position));
	l->position = at + 1;
	own = g_array_index(l->plan.steps, struct log_step, at);
	own.repeats = 0;
	return own;
}

static void take_waits(struct learning *l)
{
	struct memory_graph *g = l->r->graph;
	for (guint i = 0; i < l->r->waits->len; i++) {
		const struct memory_wait *w =
		        &g_array_index(l->r->waits, struct memory_wait, i);
		struct memory_event wait = g->events[w->event];
		uint32_t thread = l->run->trace->events[l->r->event[w->event]].thread;
		wait.expected = w->round;
		learn(l, graphs_mark(g, w->event), MEMORY_STEP_AWAIT, &wait, thread,
		      (struct log_step){ 0 });
	}
}

static void take_events(struct learning *l)
{
	const struct trace *t = l->run->trace;
	for (uint32_t e = 0; e < t->events_count; e++) {
		struct log_step own = step_of(l, e);
		if (l->r->look_of[e] != NONE)
			take_looks(l, e, own);
		else if (l->r->graph_of[e] != NONE)
			take_event(l, e, own);
		else if (own.tag != 0 && own.tag != LOG_FLUSH)
			g_array_append_val(l->pending[t->events[e].thread], own);
		if (l->r->look_of[e] == NONE && l->r->graph_of[e] == NONE)
			take_change(l, e, 0);
	}
}

static bool contains(const GArray *numbers, uint32_t number)
{
	for (guint i = 0; i < numbers->len; i++)
		if (g_array_index(numbers, uint32_t, i) == number)
			return true;
	return false;
}

/* The wait of the thread (of the trace), or NULL: it is not blocked. */
static const struct record_wait *wait_of(const struct learning *l, uint32_t thread)
{
	const GArray *blocked = l->run->facts.blocked;
	for (guint i = 0; i < blocked->len; i++) {
		const struct record_wait *w = &g_array_index(blocked, struct record_wait, i);
		if (w->thread == l->run->trace->threads[thread].recorded)
			return w;
	}
	return NULL;
}

/* The event that a blocked thread is about to make, by the object that it waits for. */
static const struct request {
	enum log_wait reason;
	enum memory_guard guard; /* MEMORY_ANY: the end of a wait */
	enum log_tag tag;
	uint16_t flags;
} requests[] = {
	{ FOR_MUTEX, MEMORY_FREE, LOG_ACQ, 0 },
	{ FOR_SPIN, MEMORY_FREE, LOG_ACQ, 0 },
	{ FOR_WRITE_LOCK, MEMORY_FREE, LOG_ACQ, 0 },
	{ FOR_READ_LOCK, MEMORY_NO_WRITER, LOG_RACQ, MEMORY_SHARED },
	{ FOR_SEMAPHORE, MEMORY_SOME, LOG_TAKE, 0 },
	{ FOR_CONDITION, MEMORY_ANY, LOG_WAKE, 0 },
	{ FOR_BARRIER, MEMORY_ANY, LOG_DEPART, 0 },
};

/* Adds the end of a wait for a condition or barrier. */
static void request_end(const struct learning *l, uint32_t location, bool condition,
                        struct memory_event *e)
{
	bool rounds = !condition && !memory_barrier_counted(&l->s->world, location);
	e->kind = rounds ? MEMORY_DEPART : MEMORY_WAKE;
	e->peer = location;
	e->expected = condition ? (uint64_t)1 << e->thread % MEMORY_CHOICES : UINT64_MAX;
	e->order = condition ? ORDER_RLX : ORDER_ACQ;
}

static const struct request *request_for(const struct record_wait *w)
{
	for (size_t i = 0; w != NULL && i < G_N_ELEMENTS(requests); i++)
		if (requests[i].reason == w->reason)
			return &requests[i];
	return NULL;
}

/* The request before which a thread is blocked. */
static bool request_of(struct learning *l, uint32_t thread, struct memory_event *e,
                       struct log_step *own)
{
	const struct trace *t = l->run->trace;
	uint32_t number = l->r->thread[thread], event = l->r->wants[number];
	if (event == NONE || t->events[event].thread != thread)
		return false;
	memset(e, 0, sizeof *e);
	e->location = e->peer = NONE;
	e->thread = number;
	if (t->events[event].op == OP_WANTJOIN) {
		e->kind = MEMORY_JOIN;
		e->peer = l->r->thread[t->events[event].target];
		own->tag = LOG_JOIN;
		return true;
	}
	const struct request *request = request_for(wait_of(l, thread));
	if (request == NULL)
		return false;
	uint32_t location =
	        memory_lock_location(t, &l->s->world, l->r, t->events[event].target);
	own->tag = (uint16_t)request->tag;
	e->order = e->success_order = e->failure_order = ORDER_ACQ;
	if (request->guard == MEMORY_ANY) {
		request_end(l, location, request->tag == LOG_WAKE, e);
		return true;
	}
	e->kind = MEMORY_LOAD;
	e->location = location;
	e->guard = (uint8_t)request->guard;
	e->flags = MEMORY_LIBRARY | request->flags;
	return true;
}

/* Takes the begins and ends of threads, which are no events of the trace. */
static void take_edges(struct learning *l)
{
	struct memory_graph *g = l->r->graph;
	const struct trace *t = l->run->trace;
	const struct log_step none = { 0 };
	for (uint32_t i = 0; i < t->threads_count; i++) {
		uint32_t number = l->r->thread[i];
		uint32_t first = number < g->threads ? g->first[number] : NONE;
		uint32_t last = number < g->threads ? g->last[number] : NONE;
		bool ended = last != NONE && g->events[last].kind == MEMORY_END;
		take_fences(l, ended ? g->events[last].po_prev : last, i);
		if (ended)
			learn(l, graphs_mark(g, g->events[last].po_prev), MEMORY_STEP_EVENT,
			      &g->events[last], i, none);
		GArray *kept = l->pending[i];
		l->pending[i] = g_array_new(FALSE, FALSE, sizeof(struct log_step));
		if (first != NONE && g->events[first].kind == MEMORY_BEGIN)
			learn(l, graphs_root(number), MEMORY_STEP_EVENT, &g->events[first], i,
			      none);
		g_array_free(l->pending[i], TRUE);
		l->pending[i] = kept;
	}
}

/* Takes the state after the last event of each thread. */
static void take_ends(struct learning *l)
{
	const struct trace *t = l->run->trace;
	struct memory_graph *g = l->r->graph;
	uint32_t ender = explore_ender(l->s->x, l->run);
	for (uint32_t i = 0; i < t->threads_count; i++) {
		uint32_t number = l->r->thread[i], recorded = t->threads[i].recorded;
		uint32_t last = number < g->threads ? g->last[number] : NONE;
		struct memory_event e = { .location = NONE, .peer = NONE };
		struct log_step own = { 0 };
		if (last == NONE)
			continue;
		uint64_t mark = graphs_mark(g, last);
		const struct memory_event *at = &g->events[last];
		if (request_of(l, i, &e, &own)) {
			if (graphs_known(l->s, mark) == NULL)
				learn(l, mark, MEMORY_STEP_EVENT, &e, i, own);
		} else if (at->kind != MEMORY_END &&
		           (i == ender || contains(l->run->facts.ends, recorded))) {
			learn(l, mark, MEMORY_STEP_EXIT, NULL, i, own);
		} else if (at->kind == MEMORY_END || contains(l->run->facts.ended, recorded)) {
			learn(l, mark, MEMORY_STEP_NONE, NULL, i, own);
		}
	}
}

void graphs_learn(struct graphs *s, const struct plan_run *run, struct memory_recorded *r)
{
	const struct trace *t = run->trace;
	struct learning l = { .s = s, .run = run, .r = r };
	struct error error = { 0 };
	uint32_t *all = g_new(uint32_t, t->events_count + 1);
	const uint32_t none[2] = { NONE, NONE };
	for (uint32_t e = 0; e < t->events_count; e++)
		all[e] = e;
	if (!plan_make(t, all, t->events_count, none, &l.plan, &error)) {
		explore_note_incomplete(s->x, error.what);
		g_free(all);
		return;
	}
	l.step_of = g_new(uint32_t, t->events_count + 1);
	memset(l.step_of, 0xff, (t->events_count + 1) * sizeof *l.step_of);
	for (guint i = 0; i < l.plan.events->len; i++) {
		uint32_t e = g_array_index(l.plan.events, uint32_t, i);
		if (e != NONE)
			l.step_of[e] = i;
	}
	l.pending = g_new(GArray *, t->threads_count + 1);
	for (uint64_t i = 0; i < t->threads_count; i++)
		l.pending[i] = g_array_new(FALSE, FALSE, sizeof(struct log_step));
	l.states = states_of(run);
	l.looks = g_new(GArray *, t->threads_count + 1);
	for (uint64_t i = 0; i < t->threads_count; i++)
		l.looks[i] = g_array_new(FALSE, FALSE, sizeof(struct graphs_looked));
	l.marks = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	g_array_set_size(l.marks, r->looks->len);
	take_waits(&l);
	take_events(&l);
	take_edges(&l);
	take_ends(&l);
	for (uint64_t i = 0; i < t->threads_count; i++)
		g_array_free(l.pending[i], TRUE);
	for (uint64_t i = 0; i < t->threads_count; i++)
		g_array_free(l.looks[i], TRUE);
	g_array_free(l.marks, TRUE);
	g_free(l.states);
	g_free(l.looks);
	g_free(l.pending);
	g_free(l.step_of);
	g_free(all);
	plan_release(&l.plan);
}
