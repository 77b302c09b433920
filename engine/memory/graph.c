/* graph.c - see graph.h. */
#include "engine/memory/graph.h"

#include <string.h>

struct memory_graph *memory_graph_new(void)
{
	return g_new0(struct memory_graph, 1);
}

static void *copy_of(const void *bytes, size_t size)
{
	return size > 0 ? g_memdup2(bytes, size) : NULL;
}

struct memory_graph *memory_graph_copy(const struct memory_graph *g)
{
	struct memory_graph *copy = copy_of(g, sizeof *g);
	copy->capacity = g->count;
	copy->events = copy_of(g->events, g->count * sizeof *g->events);
	copy->first = copy_of(g->first, g->threads * sizeof *g->first);
	copy->last = copy_of(g->last, g->threads * sizeof *g->last);
	copy->init = copy_of(g->init, g->locations * sizeof *g->init);
	return copy;
}

void memory_graph_free(struct memory_graph *g)
{
	if (g == NULL)
		return;
	g_free(g->events);
	g_free(g->first);
	g_free(g->last);
	g_free(g->init);
	g_free(g);
}

static uint32_t new_event(struct memory_graph *g)
{
	if (g->count == g->capacity) {
		g->capacity = g->capacity * 2 + 16;
		g->events = g_renew(struct memory_event, g->events, g->capacity);
	}
	return g->count++;
}

static void need_thread(struct memory_graph *g, uint32_t thread)
{
	if (thread < g->threads)
		return;
	g->first = g_renew(uint32_t, g->first, thread + 1);
	g->last = g_renew(uint32_t, g->last, thread + 1);
	for (; g->threads <= thread; g->threads++)
		g->first[g->threads] = g->last[g->threads] = NONE;
}

uint32_t memory_init(struct memory_graph *g, uint32_t location, uint64_t value)
{
	if (location >= g->locations) {
		g->init = g_renew(uint32_t, g->init, location + 1);
		while (g->locations <= location)
			g->init[g->locations++] = NONE;
	}
	if (g->init[location] != NONE)
		return g->init[location];
	uint32_t id = new_event(g);
	g->events[id] = (struct memory_event){ .kind = MEMORY_INIT,
		                               .value = value,
		                               .thread = NONE,
		                               .location = location,
		                               .peer = NONE,
		                               .po_prev = NONE,
		                               .po_next = NONE,
		                               .rf = NONE,
		                               .mo_prev = NONE,
		                               .mo_next = NONE };
	return g->init[location] = id;
}

/* An update's load has the update's order. Before it is known to be an update, a load that
 * may be a compare-and-exchange's has the order of a failure. */
static void become_exclusive(struct memory_event *load, uint8_t order)
{
	if (!(load->flags & (MEMORY_UPDATES | MEMORY_COMPARES)) && load->guard == MEMORY_ANY)
		load->order = order;
	load->flags |= MEMORY_EXCLUSIVE;
}

/* The thread's last arrival at the barrier, or NONE. */
static uint32_t last_arrival(const struct memory_graph *g, uint32_t thread, uint32_t barrier)
{
	uint32_t i = thread < g->threads ? g->last[thread] : NONE;
	while (i != NONE &&
	       (g->events[i].kind != MEMORY_ARRIVE || g->events[i].peer != barrier))
		i = g->events[i].po_prev;
	return i;
}

/* A thread's first arrival is in the first round, its second one in the second. */
static uint64_t round_of(const struct memory_graph *g, const struct memory_event *e)
{
	uint32_t arrival = last_arrival(g, e->thread, e->peer);
	uint64_t before = arrival == NONE ? 0 : g->events[arrival].value;
	return before + (e->kind == MEMORY_ARRIVE);
}

uint32_t memory_append(struct memory_graph *g, const struct memory_event *event)
{
	need_thread(g, event->thread);
	uint32_t id = new_event(g), last = g->last[event->thread];
	struct memory_event *e = &g->events[id];
	*e = *event;
	if (e->kind == MEMORY_ARRIVE || e->kind == MEMORY_DEPART)
		e->value = round_of(g, e);
	e->po_prev = last;
	e->po_next = e->rf = e->mo_prev = e->mo_next = NONE;
	e->index = last == NONE ? 0 : g->events[last].index + 1;
	e->mark = 0;
	if (last == NONE)
		g->first[e->thread] = id;
	else
		g->events[last].po_next = id;
	g->last[e->thread] = id;
	if (e->kind == MEMORY_STORE && (e->flags & MEMORY_EXCLUSIVE))
		become_exclusive(&g->events[last], e->order);
	return id;
}

void memory_read_from(struct memory_graph *g, uint32_t load, uint32_t store)
{
	struct memory_event *e = &g->events[load];
	e->rf = store;
	e->mark = 0;
	if (e->kind != MEMORY_LOAD)
		return;
	e->value = g->events[store].value;
	bool updates = e->flags & MEMORY_UPDATES;
	if (e->flags & MEMORY_COMPARES)
		updates = e->value == e->expected;
	if (e->guard == MEMORY_NOT_RUNNING)
		updates = e->value == 0;
	else if (e->guard != MEMORY_ANY)
		updates = memory_passes((enum memory_guard)e->guard, e->value);
	e->flags =
	        (uint16_t)((e->flags & ~MEMORY_EXCLUSIVE) | (updates ? MEMORY_EXCLUSIVE : 0));
	if ((e->flags & MEMORY_COMPARES) || e->guard != MEMORY_ANY)
		e->order = updates ? e->success_order : e->failure_order;
	if (e->flags & MEMORY_CHOOSES)
		e->choice = (uint8_t)MIN(memory_next_choice(e, MEMORY_CHOICES), MEMORY_CHOICES);
}

void memory_choose(struct memory_graph *g, uint32_t load, uint32_t choice)
{
	g->events[load].choice = (uint8_t)choice;
	g->events[load].mark = 0;
}

uint32_t memory_next_choice(const struct memory_event *load, uint32_t choice)
{
	uint32_t from = choice == MEMORY_CHOICES ? 0 : choice + 1;
	uint64_t left = from < MEMORY_CHOICES ? load->value >> from << from : 0;
	return left == 0 ? NONE : (uint32_t)__builtin_ctzll(left);
}

/* The store that ends the wait of the thread, or NONE. */
static uint32_t waker(const struct memory_graph *g, const struct memory_event *e)
{
	uint32_t store = e->thread < g->threads ? g->last[e->thread] : NONE;
	while (store != NONE &&
	       (g->events[store].kind != MEMORY_STORE || g->events[store].location != e->peer))
		store = g->events[store].po_prev;
	while (store != NONE && (g->events[store].value & e->expected))
		store = g->events[store].mo_next;
	return store;
}

uint32_t memory_decider(const struct memory_graph *g, const struct memory_event *departure)
{
	uint32_t first = NONE, decider = NONE;
	for (uint32_t i = 0; i < g->count; i++)
		if (memory_same_round(&g->events[i], departure))
			first = MIN(first, g->events[i].thread);
	for (uint32_t i = first == NONE ? NONE : g->first[first]; i != NONE;
	     i = g->events[i].po_next)
		if (g->events[i].kind == MEMORY_DEPART &&
		    g->events[i].peer == departure->peer &&
		    g->events[i].value == departure->value)
			decider = i;
	return decider;
}

/* The last arrival of the round, when all have arrived and it is decided, or is decided now. */
static uint32_t last_of_round(const struct memory_graph *g, const struct memory_event *e)
{
	struct memory_event departure = *e;
	uint32_t own = last_arrival(g, e->thread, e->peer), first = NONE;
	uint64_t here = 0;
	if (own == NONE)
		return NONE;
	departure.value = round_of(g, e);
	for (uint32_t i = 0; i < g->count; i++) {
		if (!memory_same_round(&g->events[i], &departure))
			continue;
		first = MIN(first, g->events[i].thread);
		here++;
	}
	if (here < g->events[own].expected)
		return NONE;
	uint32_t decider = memory_decider(g, &departure);
	return first == e->thread ? own : decider != NONE ? g->events[decider].rf : NONE;
}

uint32_t memory_peer(const struct memory_graph *g, const struct memory_event *e)
{
	if (e->kind == MEMORY_WAKE)
		return waker(g, e);
	if (e->kind == MEMORY_DEPART)
		return last_of_round(g, e);
	if (e->kind == MEMORY_JOIN) {
		uint32_t last = e->peer < g->threads ? g->last[e->peer] : NONE;
		return last != NONE && g->events[last].kind == MEMORY_END ? last : NONE;
	}
	for (uint32_t i = 0; i < g->count; i++)
		if (g->events[i].kind == MEMORY_CREATE && g->events[i].peer == e->thread)
			return i;
	return NONE;
}

void memory_place_after(struct memory_graph *g, uint32_t store, uint32_t previous)
{
	struct memory_event *e = &g->events[store];
	e->mo_prev = previous;
	e->mo_next = g->events[previous].mo_next;
	g->events[previous].mo_next = store;
	if (e->mo_next != NONE)
		g->events[e->mo_next].mo_prev = store;
}

uint32_t memory_newest(const struct memory_graph *g, uint32_t location)
{
	uint32_t store = g->init[location];
	while (g->events[store].mo_next != NONE)
		store = g->events[store].mo_next;
	return store;
}

/* Events whose past is to be visited. */
struct pending {
	uint8_t *prefix;
	uint32_t *stack, depth;
};

static void add_pending(struct pending *p, uint32_t event)
{
	if (event == NONE || p->prefix[event])
		return;
	p->prefix[event] = 1;
	p->stack[p->depth++] = event;
}

uint8_t *memory_prefix(const struct memory_graph *g, uint32_t of)
{
	uint8_t *prefix = g_new0(uint8_t, g->count + 1);
	struct pending p = { prefix, g_new(uint32_t, g->count + 1), 0 };
	add_pending(&p, of);
	while (p.depth > 0) {
		const struct memory_event *e = &g->events[p.stack[--p.depth]];
		add_pending(&p, e->po_prev);
		add_pending(&p, e->rf);
		if (e->kind != MEMORY_DEPART)
			continue;
		add_pending(&p, memory_decider(g, e));
		for (uint32_t i = 0; i < g->count; i++)
			if (memory_same_round(&g->events[i], e))
				add_pending(&p, i);
	}
	g_free(p.stack);
	return prefix;
}

/* Unlinks the stores that are dropped from the modification order. */
static void drop_stores(struct memory_graph *g, const uint8_t *kept)
{
	for (uint32_t i = 0; i < g->count; i++) {
		struct memory_event *e = &g->events[i];
		if (kept[i] || e->kind != MEMORY_STORE || e->mo_prev == NONE)
			continue;
		g->events[e->mo_prev].mo_next = e->mo_next;
		if (e->mo_next != NONE)
			g->events[e->mo_next].mo_prev = e->mo_prev;
	}
}

static void renumber(uint32_t *id, const uint32_t *map)
{
	if (*id != NONE)
		*id = map[*id];
}

struct memory_graph *memory_restrict(const struct memory_graph *g, const uint8_t *kept)
{
	struct memory_graph *r = memory_graph_copy(g);
	uint32_t *map = g_new(uint32_t, g->count + 1), count = 0;
	drop_stores(r, kept);
	for (uint32_t i = 0; i < g->count; i++)
		map[i] = kept[i] || g->events[i].kind == MEMORY_INIT ? count++ : NONE;
	for (uint32_t i = 0; i < g->count; i++) {
		if (map[i] == NONE)
			continue;
		struct memory_event *e = &r->events[map[i]];
		*e = r->events[i];
		renumber(&e->po_prev, map);
		renumber(&e->po_next, map);
		renumber(&e->rf, map);
		renumber(&e->mo_prev, map);
		renumber(&e->mo_next, map);
	}
	r->count = count;
	for (uint32_t t = 0; t < r->threads; t++) {
		renumber(&r->first[t], map);
		r->last[t] = NONE;
	}
	for (uint32_t i = 0; i < count; i++)
		if (r->events[i].kind != MEMORY_INIT && r->events[i].po_next == NONE)
			r->last[r->events[i].thread] = i;
	for (uint32_t l = 0; l < r->locations; l++)
		renumber(&r->init[l], map);
	g_free(map);
	return r;
}
