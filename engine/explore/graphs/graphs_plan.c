/*
 * graphs_plan.c - a graph as a plan: an order of its events in which the program can be run,
 * and for each load and store what the model leaves open in that order.
 *
 * Sequential consistency: any order that contains po, rf, mo and fr. RC11: po and rf; the
 * plan gives each load its store and each store its place. TSO: the total store order, in
 * which a store is at its arrival in memory; it is issued before the next event of its thread
 * that is due.
 */
#include "engine/explore/graphs/graphs.h"

#include <string.h>

struct planning {
	struct graphs *s;
	struct memory_graph *g;
	struct plan *plan;
	uint32_t *step;    /* by event: its step, or NONE */
	uint32_t *name;    /* by event: name of a store, in struct log_step */
	bool *begun;       /* by location: an atomic access of it is issued */
	uint32_t *issued;  /* by thread: its next event that has no steps yet, or NONE */
	GArray **buffered; /* TSO, by thread: uint32_t: waiting events; NONE: not an event */
};

/* ---- the order ---- */

struct sorting {
	const struct memory_graph *g;
	GArray *from, *to; /* uint32_t: edges */
};

/* Add an edge. An event before the store of a read-modify-write is before its load, too: both
 * are one step. */
static void edge(struct sorting *s, uint32_t from, uint32_t to)
{
	if (from == NONE || to == NONE)
		return;
	g_array_append_val(s->from, from);
	g_array_append_val(s->to, to);
	const struct memory_event *e = &s->g->events[to];
	if (e->kind == MEMORY_STORE && (e->flags & MEMORY_EXCLUSIVE) && from != e->po_prev)
		edge(s, from, e->po_prev);
}

/* Is it a store that waits in its thread's buffer? */
static bool waits(const struct planning *p, uint32_t id)
{
	return p->s->model == MEMORY_TSO && p->g->events[id].kind == MEMORY_STORE &&
	       !memory_drains(&p->g->events[id]);
}

static void add_program_order(const struct planning *p, struct sorting *s, uint32_t t)
{
	uint32_t store = NONE, other = NONE;
	for (uint32_t i = p->g->first[t]; i != NONE; i = p->g->events[i].po_next) {
		if (p->s->model != MEMORY_TSO) {
			edge(s, p->g->events[i].po_prev, i);
			continue;
		}
		edge(s, other, i);
		if (waits(p, i) || memory_drains(&p->g->events[i]))
			edge(s, store, i);
		*(waits(p, i) ? &store : &other) = i;
	}
}

/* Orders the arrivals of a barrier's round before the departure, the last one after the
 * others. */
static void add_round(struct sorting *s, uint32_t departure)
{
	const struct memory_event *e = &s->g->events[departure];
	for (uint32_t i = 0; i < s->g->count; i++) {
		if (!memory_same_round(&s->g->events[i], e) || i == e->rf)
			continue;
		edge(s, i, departure);
		edge(s, i, e->rf);
	}
}

static void add_edges(const struct planning *p, struct sorting *s)
{
	const struct memory_graph *g = p->g;
	for (uint32_t t = 0; t < g->threads; t++)
		add_program_order(p, s, t);
	for (uint32_t i = 0; i < g->count; i++) {
		const struct memory_event *e = &g->events[i];
		if (e->kind == MEMORY_DEPART)
			add_round(s, i);
		bool own = p->s->model == MEMORY_TSO && e->kind == MEMORY_LOAD &&
		           g->events[e->rf].thread == e->thread;
		if (!own)
			edge(s, e->rf, i);
		if (p->s->model == MEMORY_RC11 && !(e->flags & MEMORY_LIBRARY))
			continue;
		if (memory_writes(e))
			edge(s, i, e->mo_next);
		/* a try may fail because of an old store: then the plan says that it fails */
		bool planned_to_fail =
		        p->s->model == MEMORY_RC11 && !(e->flags & MEMORY_EXCLUSIVE);
		if (e->kind == MEMORY_LOAD && !planned_to_fail)
			edge(s, i, g->events[e->rf].mo_next);
	}
}

/* The events in an order, in which the earliest added comes first; owned. */
static uint32_t *sort_events(const struct planning *p, uint32_t *count)
{
	uint32_t n = p->g->count;
	struct sorting s = { p->g, g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		             g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	add_edges(p, &s);
	uint32_t *left = g_new0(uint32_t, n + 1), *order = g_new(uint32_t, n + 1);
	bool *done = g_new0(bool, n + 1);
	const uint32_t *from = (const uint32_t *)(void *)s.from->data;
	const uint32_t *to = (const uint32_t *)(void *)s.to->data;
	for (guint i = 0; i < s.to->len; i++)
		left[to[i]]++;
	*count = 0;
	for (bool progress = true; progress;) {
		progress = false;
		for (uint32_t e = 0; e < n; e++) {
			if (done[e] || left[e] > 0)
				continue;
			done[e] = progress = true;
			order[(*count)++] = e;
			for (guint i = 0; i < s.from->len; i++)
				if (from[i] == e)
					left[to[i]]--;
			break;
		}
	}
	g_array_free(s.from, TRUE);
	g_array_free(s.to, TRUE);
	g_free(left);
	g_free(done);
	return order;
}

/* ---- steps ---- */

static bool may_wait(const struct log_step *s)
{
	return s->tag == LOG_WRITE || s->tag == LOG_AWRITE;
}

static uint32_t add_step(struct planning *p, struct log_step step, uint32_t thread)
{
	step.thread = thread;
	step.repeats = 0;
	g_array_append_val(p->plan->steps, step);
	uint32_t none = NONE;
	g_array_append_val(p->plan->events, none);
	return p->plan->steps->len - 1;
}

/* Tags of an operation with a guard, when it updates and when it does not. */
static const struct {
	uint16_t done, failed;
} guarded[] = {
	[MEMORY_FREE] = { LOG_ACQ, LOG_TRYFAIL },
	[MEMORY_SOME] = { LOG_TAKE, LOG_TAKETRYFAIL },
	[MEMORY_NO_WRITER] = { LOG_RACQ, LOG_TRYFAIL },
	[MEMORY_NOT_RUNNING] = { LOG_SND, LOG_RCV },
};

/* The tag of a load's operation depends on the store it reads. */
static uint16_t tag_of_load(const struct memory_graph *g, uint32_t id, uint16_t tag)
{
	const struct memory_event *e = &g->events[id];
	bool updates = e->flags & MEMORY_EXCLUSIVE;
	if (e->guard != MEMORY_ANY)
		return updates ? guarded[e->guard].done : guarded[e->guard].failed;
	if (tag == LOG_READ || (e->flags & MEMORY_LIBRARY))
		return tag;
	if (e->po_next == NONE)
		return LOG_NOTHING;
	return updates ? LOG_RMW : LOG_AREAD;
}

/* Puts the outcome of an operation on a condition into its step: the waiter to wake, or a
 * timeout. */
static void tell_waits(const struct memory_event *e, struct log_step *step)
{
	if ((e->flags & MEMORY_CHOOSES) && e->choice < MEMORY_CHOICES)
		step->reads = STEP_STORE + e->choice;
	if (step->tag == LOG_WAKE && e->kind == MEMORY_LOAD)
		step->late = e->value >> e->thread % MEMORY_CHOICES & 1;
}

static bool is_plain(const struct memory_event *e)
{
	return e->order == ORDER_PLAIN;
}

/* Name of a store in a plan. A value that a plain write leaves before the first atomic access
 * is the initial value. */
static uint32_t named_store(const struct planning *p, uint32_t store)
{
	const struct memory_event *e = &p->g->events[store];
	return e->kind == MEMORY_INIT ? STEP_INITIAL : p->name[store];
}

static void name_store(struct planning *p, uint32_t id)
{
	const struct memory_event *e = &p->g->events[id];
	if (e->location == NONE || (e->flags & MEMORY_LIBRARY))
		return;
	bool first = is_plain(e) && !p->begun[e->location];
	p->name[id] = first ? STEP_INITIAL : STEP_STORE + p->step[id];
	p->begun[e->location] |= !is_plain(e);
}

/* Name the store that the step reads from, which RC11 leaves open. */
static void tell_source(const struct planning *p, uint32_t id, struct log_step *step)
{
	const struct memory_event *e = &p->g->events[id];
	if (p->s->model != MEMORY_RC11 || (e->flags & MEMORY_LIBRARY) || is_plain(e))
		return;
	if (e->kind == MEMORY_LOAD)
		step->reads = named_store(p, e->rf);
	if (e->kind != MEMORY_STORE)
		return;
	uint32_t before = e->mo_prev;
	while (p->g->events[before].kind != MEMORY_INIT && p->step[before] == NONE)
		before = p->g->events[before].mo_prev;
	step->after = named_store(p, before);
}

/* Is it the last look of a thread that waits? It is left out of the plan: an update would be
 * made with its store, which this graph does not have. */
static bool waits_after(const struct planning *p, uint32_t id)
{
	const struct memory_event *e = &p->g->events[id];
	if (e->kind != MEMORY_LOAD || e->po_next != NONE)
		return false;
	const struct known *k = graphs_known(p->s, graphs_mark(p->g, id));
	return k != NULL && k->step == MEMORY_STEP_AWAIT;
}

/* Adds the steps of its thread's next event. */
static void issue(struct planning *p, uint32_t id)
{
	struct memory_graph *g = p->g;
	const struct memory_event *e = &g->events[id];
	uint64_t past =
	        e->po_prev == NONE ? graphs_root(e->thread) : graphs_mark(g, e->po_prev);
	const struct known *k = graphs_known(p->s, past);
	uint32_t none = NONE;
	p->issued[e->thread] = e->po_next;
	if (k == NULL || memory_is_blocked(e) || waits_after(p, id))
		return;
	for (guint i = 0; i < k->steps->len; i++) {
		struct log_step step = g_array_index(k->steps, struct log_step, i);
		add_step(p, step, e->thread);
		if (p->s->model == MEMORY_TSO && may_wait(&step))
			g_array_append_val(p->buffered[e->thread], none);
	}
	if (k->own.tag == 0) {
		if (e->kind == MEMORY_STORE && (e->flags & MEMORY_EXCLUSIVE))
			p->step[id] = p->step[e->po_prev];
		name_store(p, id);
		return;
	}
	struct log_step own = k->own;
	if (e->kind == MEMORY_LOAD)
		own.tag = tag_of_load(g, id, own.tag);
	tell_source(p, id, &own);
	tell_waits(e, &own);
	p->step[id] = add_step(p, own, e->thread);
	name_store(p, id);
	if (waits(p, id))
		g_array_append_val(p->buffered[e->thread], id);
	else if (memory_drains(e))
		g_array_set_size(p->buffered[e->thread], 0);
}

/* Makes the store arrive, and those before it. */
static void arrive(struct planning *p, uint32_t id)
{
	GArray *buffer = p->buffered[p->g->events[id].thread];
	bool last = false;
	while (buffer->len > 0 && !last) {
		struct log_step flush = { .tag = LOG_FLUSH };
		last = g_array_index(buffer, uint32_t, 0) == id;
		g_array_remove_index(buffer, 0);
		add_step(p, flush, p->g->events[id].thread);
	}
}

static void add_threads(const struct graphs *s, struct plan *plan)
{
	for (guint i = 0; i < s->world.threads->len; i++) {
		const struct memory_ancestry *a =
		        &g_array_index(s->world.threads, struct memory_ancestry, i);
		struct log_thread t = { a->parent == NONE ? LOG_ALL_THREADS : a->parent,
			                a->ordinal };
		g_array_append_val(plan->threads, t);
	}
}

void graphs_plan(struct graphs *s, struct memory_graph *g, struct plan *plan)
{
	struct planning p = { .s = s, .g = g, .plan = plan };
	uint32_t count;
	plan_init(plan);
	plan->strategy = STRATEGY_FIRST;
	add_threads(s, plan);
	uint32_t *order = sort_events(&p, &count);
	p.step = g_new(uint32_t, g->count + 1);
	memset(p.step, 0xff, (g->count + 1) * sizeof *p.step);
	p.name = g_new0(uint32_t, g->count + 1);
	p.begun = g_new0(bool, g->locations + 1);
	p.issued = g_new(uint32_t, g->threads + 1);
	p.buffered = g_new(GArray *, g->threads + 1);
	for (uint32_t t = 0; t < g->threads; t++) {
		p.issued[t] = g->first[t];
		p.buffered[t] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct memory_event *e = &g->events[order[i]];
		if (e->kind == MEMORY_INIT)
			continue;
		while (p.issued[e->thread] != NONE &&
		       g->events[p.issued[e->thread]].index <= e->index)
			issue(&p, p.issued[e->thread]);
		if (waits(&p, order[i]))
			arrive(&p, order[i]);
	}
	for (uint32_t t = 0; t < g->threads; t++)
		g_array_free(p.buffered[t], TRUE);
	g_free(p.buffered);
	g_free(p.issued);
	g_free(p.step);
	g_free(p.name);
	g_free(p.begun);
	g_free(order);
}
