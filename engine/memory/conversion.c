/* conversion.c - see conversion.h. */
#include "engine/memory/conversion.h"

#include "engine/trace/weak.h"

static uint64_t site_of(const struct conversion *c, uint32_t event)
{
	uint32_t at = c->t->events[event].location;
	const struct location *l = &c->t->locations[at];
	return l->module != NONE ? l->address + 1 : at;
}

void conversion_note_event(struct conversion *c, uint32_t id, uint32_t event)
{
	while (c->room <= id)
		c->room = c->room * 2 + 64;
	c->r->event = g_renew(uint32_t, c->r->event, c->room);
	c->r->event[id] = event;
}

void conversion_describe(const struct conversion *c, uint32_t event, struct memory_event *e)
{
	const struct event *x = &c->t->events[event];
	e->thread = c->r->thread[x->thread];
	e->order = x->flags & EVENT_ORDER_MASK;
	if (op_table[x->op].class != OP_CLASS_ACCESS && x->op != OP_FENCE)
		e->order = ORDER_PLAIN;
	e->site = site_of(c, event);
}

uint32_t conversion_append(struct conversion *c, uint32_t event, struct memory_event *e)
{
	conversion_describe(c, event, e);
	uint32_t id = memory_append(c->r->graph, e);
	conversion_note_event(c, id, event);
	if (c->r->graph_of[event] == NONE)
		c->r->graph_of[event] = id;
	return id;
}

uint32_t conversion_append_edge(struct conversion *c, uint32_t thread, enum memory_kind kind)
{
	struct memory_event e = {
		.thread = thread, .kind = (uint8_t)kind, .location = NONE, .peer = NONE
	};
	uint32_t id = memory_append(c->r->graph, &e);
	conversion_note_event(c, id, NONE);
	return id;
}

uint32_t conversion_need_end(struct conversion *c, uint32_t thread)
{
	const struct memory_graph *g = c->r->graph;
	uint32_t last = thread < g->threads ? g->last[thread] : NONE;
	if (last == NONE || g->events[last].kind == MEMORY_END)
		return last;
	return conversion_append_edge(c, thread, MEMORY_END);
}

uint64_t conversion_integer(const struct conversion *c, uint32_t event, bool written,
                            bool *known)
{
	const struct event *x = &c->t->events[event];
	struct value v = trace_value(c->t, x->aux);
	if (v.kind == V_PAIR)
		v = trace_value(c->t, written ? v.second : v.first);
	*known = x->aux != 0 && v.kind == V_INT;
	return *known ? memory_stable_value(c->blocks, (uint64_t)v.integer, event) : 0;
}

/* The value that plain writes left at the place before its first event. */
static void learn_initial(struct conversion *c, struct memory_initial *i,
                          const struct memory_place *p, uint32_t event)
{
	bool several, known = false;
	uint32_t writer = covers_plain_writer(c, event, &several);
	bool exact = writer != NONE &&
	             GPOINTER_TO_UINT(g_hash_table_lookup(c->plain, p)) == writer + 1;
	uint64_t left = exact ? conversion_integer(c, writer, true, &known) : 0;
	if (known && i->known && left != i->value)
		g_array_append_val(c->r->mixed, *p);
	if (known && !i->known) {
		i->value = left;
		i->known = true;
	}
	i->written |= (several || writer != NONE) && !known;
}

uint32_t conversion_need_init(struct conversion *c, uint32_t location, uint32_t event)
{
	struct memory_initial *i =
	        &g_array_index(c->world->initials, struct memory_initial, location);
	const struct memory_place *p =
	        &g_array_index(c->world->places, struct memory_place, location);
	if (p->size > 0)
		learn_initial(c, i, p, event);
	while (c->last_room <= location) {
		c->last_store = g_renew(uint32_t, c->last_store, c->last_room + 1);
		c->last_store[c->last_room++] = NONE;
	}
	uint32_t before = c->r->graph->count;
	uint32_t id = memory_init(c->r->graph, location, i->value);
	if (id == before)
		conversion_note_event(c, id, NONE);
	return id;
}

uint32_t conversion_store_of(const struct conversion *c, uint32_t event)
{
	uint32_t id = event == NONE ? NONE : c->r->graph_of[event];
	gpointer same = g_hash_table_lookup(c->same, GUINT_TO_POINTER(event + 1));
	if (same != NULL)
		return GPOINTER_TO_UINT(same) - 1;
	return id != NONE && c->t->events[event].op == OP_RMW ? c->r->graph->events[id].po_next
	                                                      : id;
}

/* The last store of the thread to the location, if it has not arrived; else NONE. */
static uint32_t own_waiting(const struct conversion *c, uint32_t thread, uint32_t location)
{
	const struct memory_graph *g = c->r->graph;
	uint32_t i = thread < g->threads ? g->last[thread] : NONE;
	while (i != NONE &&
	       (g->events[i].kind != MEMORY_STORE || g->events[i].location != location))
		i = g->events[i].po_prev;
	return i != NONE && g->events[i].mo_prev == NONE ? i : NONE;
}

/* The store that the load of the event reads. */
static uint32_t source_of(struct conversion *c, uint32_t event, uint32_t location)
{
	uint32_t first = conversion_need_init(c, location, event), named = NONE;
	uint32_t own = own_waiting(c, c->r->thread[c->t->events[event].thread], location);
	uint32_t last = c->last_store[location];
	if (own != NONE)
		return own;
	if (c->model == MEMORY_TSO || !op_is_atomic(c->t->events[event].op))
		return memory_newest(c->r->graph, location);
	if (c->t->weak_count == 0)
		return last != NONE ? last : first;
	/* A row exists for reads of older stores; it may name NONE, the initial value. */
	named = trace_weak_store(c->t, event, WEAK_READS, event);
	if (named == event)
		return last != NONE ? last : first;
	named = conversion_store_of(c, named);
	return named != NONE ? named : first;
}

uint32_t conversion_source(struct conversion *c, uint32_t event, uint32_t location,
                           unsigned flags)
{
	struct memory_graph *g = c->r->graph;
	struct memory_initial *init =
	        &g_array_index(c->world->initials, struct memory_initial, location);
	uint32_t from = source_of(c, event, location), first = g->init[location];
	if (from == first && !init->known && (flags & MEMORY_LIBRARY) == 0) {
		init->value = conversion_integer(c, event, false, &init->known);
		g->events[first].value = init->value;
	}
	return from;
}

void conversion_add_load(struct conversion *c, uint32_t event, uint32_t location,
                         unsigned flags)
{
	struct memory_graph *g = c->r->graph;
	struct memory_event e = { .kind = MEMORY_LOAD,
		                  .location = location,
		                  .peer = NONE,
		                  .flags = (uint16_t)flags };
	uint32_t from = conversion_source(c, event, location, flags);
	uint32_t id = conversion_append(c, event, &e);
	memory_read_from(g, id, from);
	g->events[id].flags = (uint16_t)flags;
}

/* The store that precedes this one in modification order. */
static uint32_t place_of_store(struct conversion *c, uint32_t event, uint32_t location,
                               unsigned flags)
{
	const struct memory_graph *g = c->r->graph;
	uint32_t thread = c->r->thread[c->t->events[event].thread];
	uint32_t named = trace_weak_store(c->t, event, WEAK_AFTER, event);
	if (flags & MEMORY_EXCLUSIVE)
		return g->events[g->last[thread]].rf;
	if (named == event)
		return memory_newest(g, location);
	named = conversion_store_of(c, named);
	return named != NONE ? named : g->init[location];
}

void conversion_add_store(struct conversion *c, uint32_t event, uint32_t location,
                          unsigned flags, enum memory_order_kind order, uint64_t value)
{
	struct memory_graph *g = c->r->graph;
	struct memory_event e = { .kind = MEMORY_STORE,
		                  .location = location,
		                  .peer = NONE,
		                  .value = value,
		                  .flags = (uint16_t)flags };
	conversion_need_init(c, location, event);
	uint32_t after = place_of_store(c, event, location, flags);
	uint32_t id = conversion_append(c, event, &e);
	if (flags & MEMORY_LIBRARY)
		g->events[id].order = (uint8_t)order;
	c->last_store[location] = id;
	bool waits =
	        c->model == MEMORY_TSO && flags == 0 && g->events[id].order != ORDER_SEQ_CST;
	if (waits)
		g_queue_push_tail(&c->waiting[c->t->events[event].thread],
		                  GUINT_TO_POINTER(event));
	else
		memory_place_after(g, id, after);
}
