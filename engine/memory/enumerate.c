/* enumerate.c - see enumerate.h. The words of the paper: SetRF is memory_read_from, SetCO
 * memory_place_after, porf memory_prefix. */
#include "engine/memory/enumerate.h"

#include <string.h>

struct enumeration {
	const struct memory_program *program;
	enum memory_model model;
	struct memory_counts *counts;
	GPtrArray *waiting; /* struct memory_graph, last in, first out */
};

/* Adds a graph to those that wait, if consistent; takes ownership. Only adding the newest
 * store needs no such check. */
static void consider(struct enumeration *x, struct memory_graph *g)
{
	if (memory_consistent(g, x->model, NULL)) {
		g_ptr_array_add(x->waiting, g);
		return;
	}
	x->counts->rejected++;
	memory_graph_free(g);
}

/* ---- the next event ---- */

static bool is_held(struct enumeration *x, struct memory_graph *g, const struct memory_event *e)
{
	if (e->kind != MEMORY_LOAD || e->guard == MEMORY_ANY)
		return false;
	memory_init(g, e->location, x->program->initial(x->program->context, e->location));
	return memory_blocks(e, g->events[memory_newest(g, e->location)].value);
}

enum pick { PICK_EVENT, PICK_HELD, PICK_NOTHING, PICK_FAILED };

/* The next event of a thread, if it can be added. */
static enum pick pick_of(struct enumeration *x, struct memory_graph *g, uint32_t thread,
                         struct memory_event *event)
{
	uint32_t last = thread < g->threads ? g->last[thread] : NONE;
	if (last != NONE &&
	    (memory_is_blocked(&g->events[last]) || g->events[last].kind == MEMORY_ERROR))
		return PICK_NOTHING;
	memset(event, 0, sizeof *event);
	event->location = event->peer = NONE;
	event->thread = thread;
	enum memory_step step = x->program->next(x->program->context, g, thread, event);
	if (step != MEMORY_STEP_EVENT)
		return step == MEMORY_STEP_FAILED ? PICK_FAILED : PICK_NOTHING;
	bool follows = event->kind == MEMORY_JOIN || event->kind == MEMORY_WAKE ||
	               event->kind == MEMORY_DEPART;
	if (follows && memory_peer(g, event) == NONE)
		return PICK_NOTHING;
	return is_held(x, g, event) ? PICK_HELD : PICK_EVENT;
}

/* Chooses the next event by the graph alone: a read-modify-write is completed; else the first
 * thread that can continue; a lock that is held comes last. */
static enum pick pick(struct enumeration *x, struct memory_graph *g, struct memory_event *event)
{
	uint32_t threads = x->program->threads(x->program->context, g);
	struct memory_event held;
	bool waits = false;
	for (uint32_t t = 0; t < g->threads; t++) {
		if (g->last[t] == NONE || g->events[g->last[t]].kind != MEMORY_LOAD)
			continue;
		enum pick found = pick_of(x, g, t, event);
		bool completes = found == PICK_EVENT && event->kind == MEMORY_STORE &&
		                 (event->flags & MEMORY_EXCLUSIVE);
		if (completes || found == PICK_FAILED)
			return found;
	}
	for (uint32_t t = 0; t < threads; t++) {
		enum pick found = pick_of(x, g, t, event);
		if (found == PICK_EVENT || found == PICK_FAILED)
			return found;
		if (found == PICK_HELD && !waits) {
			held = *event;
			waits = true;
		}
	}
	if (waits)
		*event = held;
	return waits ? PICK_HELD : PICK_NOTHING;
}

/* ---- loads ---- */

/* The load has its store: adds the graphs with its other choices. */
static void consider_choices(struct enumeration *x, struct memory_graph *g, uint32_t load)
{
	const struct memory_event *e = &g->events[load];
	uint32_t first = e->choice, choice = first;
	if (!(e->flags & MEMORY_CHOOSES) || first == MEMORY_CHOICES)
		return;
	while ((choice = memory_next_choice(&g->events[load], choice)) != NONE) {
		memory_choose(g, load, choice);
		consider(x, memory_graph_copy(g));
	}
	memory_choose(g, load, first);
}

/* All other stores wait as graphs; this graph continues with the newest. */
static void add_load(struct enumeration *x, struct memory_graph *g,
                     const struct memory_event *event)
{
	uint32_t newest = memory_newest(g, event->location);
	uint32_t load = memory_append(g, event);
	for (uint32_t s = g->events[newest].mo_prev; s != NONE; s = g->events[s].mo_prev) {
		/* the thread would be blocked by a lock that was unlocked */
		if (memory_blocks(event, g->events[s].value))
			continue;
		memory_read_from(g, load, s);
		consider(x, memory_graph_copy(g));
		consider_choices(x, g, load);
	}
	memory_read_from(g, load, newest);
	consider_choices(x, g, load);
}

/* ---- stores ---- */

/* All places of the store, or the one next to its load; the graph is not changed. */
static void consider_places(struct enumeration *x, const struct memory_graph *g, uint32_t store,
                            uint32_t from)
{
	const struct memory_event *e = &g->events[store];
	for (uint32_t place = from; place != NONE; place = g->events[place].mo_prev) {
		if ((e->flags & MEMORY_EXCLUSIVE) && place != g->events[e->po_prev].rf)
			continue;
		struct memory_graph *copy = memory_graph_copy(g);
		memory_place_after(copy, store, place);
		consider(x, copy);
	}
}

/* The paper's IsMaximallyAdded: when `e` was added it read, or was, the newest of the earlier
 * events and those in the prefix of the revisiting store. */
static bool is_maximal(const struct memory_graph *g, uint32_t id, const uint8_t *prefix)
{
#define PREVIOUS(other) ((other) <= id || prefix[other])
	const struct memory_event *e = &g->events[id];
	uint32_t store = id;
	if (e->kind == MEMORY_DEPART)
		return e->rf == e->po_prev || memory_decider(g, e) != id;
	if (e->kind == MEMORY_LOAD)
		store = e->rf;
	else if (e->kind != MEMORY_STORE)
		return true;
	if (!PREVIOUS(store) && g->events[store].kind != MEMORY_INIT)
		return false;
	if ((e->flags & MEMORY_CHOOSES) && e->kind == MEMORY_LOAD &&
	    e->choice != MIN(memory_next_choice(e, MEMORY_CHOICES), MEMORY_CHOICES))
		return false;
	for (uint32_t s = g->events[store].mo_next; s != NONE; s = g->events[s].mo_next)
		if (PREVIOUS(s))
			return false;
	if (e->kind == MEMORY_LOAD)
		return true;
	for (uint32_t r = 0; r < g->count; r++)
		if (PREVIOUS(r) && g->events[r].kind == MEMORY_LOAD && g->events[r].rf == id)
			return false;
	return true;
#undef PREVIOUS
}

/* The graph without the events added after the load, except the store's causal past; NULL
 * when one of these was not added maximally (TruSt's condition). */
static struct memory_graph *without_later(const struct memory_graph *g, uint32_t load,
                                          const uint8_t *prefix)
{
	uint8_t *kept = g_new0(uint8_t, g->count + 1);
	bool maximal = is_maximal(g, load, prefix);
	for (uint32_t i = 0; i < g->count && maximal; i++) {
		kept[i] = i <= load || prefix[i] || g->events[i].kind == MEMORY_INIT;
		maximal = kept[i] || is_maximal(g, i, prefix);
	}
	struct memory_graph *without = maximal ? memory_restrict(g, kept) : NULL;
	g_free(kept);
	return without;
}

/* Makes earlier loads read the store, which is the last event and has no place in mo yet. */
static void revisit_loads(struct enumeration *x, const struct memory_graph *g, uint32_t store)
{
	uint8_t *prefix = memory_prefix(g, store);
	for (uint32_t load = 0; load < store; load++) {
		const struct memory_event *e = &g->events[load];
		if (e->kind != MEMORY_LOAD || prefix[load] ||
		    e->location != g->events[store].location)
			continue;
		struct memory_graph *without = without_later(g, load, prefix);
		if (without == NULL)
			continue;
		uint32_t kept = load, last = without->count - 1;
		/* events before the load stay as they are, and so does its id */
		memory_read_from(without, kept, last);
		uint32_t choice = without->events[kept].choice;
		do {
			if (choice < MEMORY_CHOICES)
				memory_choose(without, kept, choice);
			consider_places(x, without, last, memory_newest(without, e->location));
		} while ((e->flags & MEMORY_CHOOSES) && choice < MEMORY_CHOICES &&
		         (choice = memory_next_choice(&without->events[kept], choice)) != NONE);
		memory_graph_free(without);
	}
	g_free(prefix);
}

/* False: this store has no continuation, as its only place is taken. */
static bool add_store(struct enumeration *x, struct memory_graph *g,
                      const struct memory_event *event)
{
	uint32_t newest = memory_newest(g, event->location);
	uint32_t store = memory_append(g, event);
	revisit_loads(x, g, store);
	if ((event->flags & MEMORY_EXCLUSIVE) &&
	    g->events[g->events[store].po_prev].rf != newest) {
		consider_places(x, g, store, newest);
		return false;
	}
	if (!(event->flags & MEMORY_EXCLUSIVE))
		consider_places(x, g, store, g->events[newest].mo_prev);
	memory_place_after(g, store, newest);
	if (!(event->flags & MEMORY_EXCLUSIVE))
		return true;
	/* only now the load is known to be exclusive, which may forbid the store that it
	 * read */
	const struct memory_event *load = &g->events[g->events[store].po_prev];
	bool good = (load->flags & (MEMORY_UPDATES | MEMORY_COMPARES)) ||
	            load->guard != MEMORY_ANY || memory_consistent(g, x->model, NULL);
	x->counts->rejected += !good;
	return good;
}

/* ---- barriers ---- */

/* May the arrival be the last of the round of `departure`, which at first is its own
 * thread's? All arrivals whose code ignores the result are represented by one, as no thread
 * can tell which came last. */
static bool may_be_last(const struct memory_graph *g, uint32_t arrival, uint32_t departure)
{
	const struct memory_event *e = &g->events[departure], *a = &g->events[arrival];
	if (arrival == e->rf || !memory_same_round(a, e))
		return false;
	if (!(a->flags & MEMORY_UNSEEN))
		return true;
	for (uint32_t i = 0; i < g->count; i++) {
		const struct memory_event *other = &g->events[i];
		if (memory_same_round(other, e) && (other->flags & MEMORY_UNSEEN) &&
		    other->thread < a->thread)
			return false;
	}
	return true;
}

/* Adds the graphs with other last arrivals of the round. */
static void consider_last(struct enumeration *x, const struct memory_graph *g,
                          uint32_t departure)
{
	if (memory_decider(g, &g->events[departure]) != departure)
		return;
	for (uint32_t i = 0; i < g->count; i++) {
		if (!may_be_last(g, i, departure))
			continue;
		struct memory_graph *copy = memory_graph_copy(g);
		memory_read_from(copy, departure, i);
		consider(x, copy);
	}
}

/* ---- graphs to their end ---- */

/* False: the graph has no continuation here. */
static bool add_next(struct enumeration *x, struct memory_graph *g,
                     const struct memory_event *event)
{
	if (event->location != NONE)
		memory_init(g, event->location,
		            x->program->initial(x->program->context, event->location));
	if (event->kind == MEMORY_LOAD) {
		add_load(x, g, event);
		return true;
	}
	if (event->kind == MEMORY_STORE)
		return add_store(x, g, event);
	uint32_t peer = memory_peer(g, event);
	uint32_t id = memory_append(g, event);
	if (event->kind == MEMORY_BEGIN || event->kind == MEMORY_JOIN ||
	    event->kind == MEMORY_WAKE || event->kind == MEMORY_DEPART)
		g->events[id].rf = peer;
	if (event->kind == MEMORY_DEPART)
		consider_last(x, g, id);
	return true;
}

enum wait { WAIT_NOT, WAIT_EXIT, WAIT_FOR_EVER, WAIT_IN_VAIN };

/* Does the store write back the value that the load of its round read? */
static bool writes_the_same(const struct memory_graph *g, uint32_t store)
{
	const struct memory_event *e = &g->events[store];
	return e->kind == MEMORY_STORE && (e->flags & MEMORY_EXCLUSIVE) &&
	       e->value == g->events[e->po_prev].value;
}

/* Does a store exist that one of the last `count` events of the thread could read instead? */
static bool may_read_later(const struct memory_graph *g, uint32_t last, uint64_t count)
{
	for (uint32_t i = last; i != NONE && count > 0; i = g->events[i].po_prev, count--) {
		if (g->events[i].kind != MEMORY_LOAD)
			continue;
		uint32_t later = g->events[g->events[i].rf].mo_next;
		while (later != NONE && writes_the_same(g, later))
			later = g->events[later].mo_next;
		if (later != NONE)
			return true;
	}
	return false;
}

/* Does a thread wait for ever? In vain: for an existing store, which it reads in another
 * graph. */
static enum wait wait_of(struct enumeration *x, const struct memory_graph *g, uint32_t thread)
{
	uint32_t last = thread < g->threads ? g->last[thread] : NONE;
	const struct memory_event *e = last != NONE ? &g->events[last] : NULL;
	struct memory_event event = {
		.location = NONE, .peer = NONE, .thread = thread, .expected = 1
	};
	enum memory_step step = MEMORY_STEP_AWAIT;
	if (e != NULL && e->kind == MEMORY_ERROR)
		return WAIT_NOT;
	if (e == NULL || !memory_is_blocked(e))
		step = x->program->next(x->program->context, g, thread, &event);
	if (step == MEMORY_STEP_AWAIT &&
	    (event.expected == 0 || may_read_later(g, last, event.expected)))
		return WAIT_IN_VAIN;
	return step == MEMORY_STEP_NONE   ? WAIT_NOT
	       : step == MEMORY_STEP_EXIT ? WAIT_EXIT
	                                  : WAIT_FOR_EVER;
}

static bool finish(struct enumeration *x, const struct memory_graph *g)
{
	uint32_t threads = x->program->threads(x->program->context, g);
	bool blocked = false, over = false;
	for (uint32_t t = 0; t < threads; t++) {
		enum wait wait = wait_of(x, g, t);
		if (wait == WAIT_IN_VAIN) {
			x->counts->abandoned++;
			return true;
		}
		blocked |= wait == WAIT_FOR_EVER;
		over |= wait == WAIT_EXIT;
	}
	blocked &= !over;
	*(blocked ? &x->counts->blocked : &x->counts->complete) += 1;
	return x->program->visit(x->program->context, g, blocked);
}

static bool follow(struct enumeration *x, struct memory_graph *g)
{
	struct memory_event event;
	for (;;) {
		enum pick found = pick(x, g, &event);
		if (found == PICK_FAILED)
			return false;
		if (found == PICK_NOTHING)
			return finish(x, g);
		if (!add_next(x, g, &event))
			return true;
	}
}

bool memory_enumerate(const struct memory_program *program, enum memory_model model,
                      struct memory_counts *counts)
{
	struct enumeration x = { .program = program,
		                 .model = model,
		                 .counts = counts,
		                 .waiting = g_ptr_array_new() };
	bool good = true;
	memset(counts, 0, sizeof *counts);
	g_ptr_array_add(x.waiting, memory_graph_new());
	while (good && x.waiting->len > 0) {
		struct memory_graph *g =
		        g_ptr_array_remove_index(x.waiting, x.waiting->len - 1);
		good = follow(&x, g);
		memory_graph_free(g);
	}
	for (guint i = 0; i < x.waiting->len; i++)
		memory_graph_free(x.waiting->pdata[i]);
	g_ptr_array_unref(x.waiting);
	return good;
}
