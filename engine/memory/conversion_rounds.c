/* conversion_rounds.c - the events of rounds of loops that wait, which are in no graph
 * (rounds.h). */
#include "engine/memory/conversion.h"

void conversion_add_look(struct conversion *c, uint32_t event, struct memory_event e)
{
	uint32_t thread = c->t->events[event].thread, number = c->r->thread[thread];
	const struct memory_graph *g = c->r->graph;
	struct memory_look look = { e, event, c->look[thread], NONE, 0 };
	look.e.po_prev = look.e.po_next = NONE;
	if (number < g->threads)
		look.after = g->last[number];
	c->look[thread] = c->r->looks->len;
	if (c->r->look_of[event] == NONE)
		c->r->look_of[event] = c->r->looks->len;
	g_array_append_val(c->r->looks, look);
}

void conversion_add_due_store(struct conversion *c, uint32_t thread)
{
	if (!c->store_due[thread])
		return;
	struct memory_look look =
	        g_array_index(c->r->looks, struct memory_look, c->look[thread]);
	look.e.kind = MEMORY_STORE;
	look.e.flags = MEMORY_EXCLUSIVE;
	look.e.rf = NONE;
	c->store_due[thread] = false;
	conversion_add_look(c, look.event, look.e);
}

void conversion_look_with_fence(struct conversion *c, uint32_t event)
{
	struct memory_event e = { .kind = MEMORY_FENCE, .location = NONE, .peer = NONE };
	conversion_add_due_store(c, c->t->events[event].thread);
	conversion_describe(c, event, &e);
	e.rf = NONE;
	conversion_add_look(c, event, e);
}

void conversion_look(struct conversion *c, uint32_t event, uint32_t location, unsigned flags)
{
	struct memory_event e = { .kind = MEMORY_LOAD,
		                  .location = location,
		                  .peer = NONE,
		                  .flags = (uint16_t)flags };
	uint32_t thread = c->t->events[event].thread;
	conversion_add_due_store(c, thread);
	conversion_describe(c, event, &e);
	e.rf = conversion_source(c, event, location, flags);
	e.value = c->r->graph->events[e.rf].value;
	conversion_add_look(c, event, e);
	if (!(flags & MEMORY_EXCLUSIVE))
		return;
	c->store_due[thread] = true;
	c->last_store[location] = e.rf;
	g_hash_table_insert(c->same, GUINT_TO_POINTER(event + 1), GUINT_TO_POINTER(e.rf + 1));
}

/* Notes that a thread waits after a round that stays in the graph. */
static void wait_in_graph(struct conversion *c, uint32_t first, uint32_t thread)
{
	const struct memory_graph *g = c->r->graph;
	uint32_t begin = c->r->graph_of[first], last = g->last[c->r->thread[thread]];
	if (begin == NONE || c->look[thread] != NONE)
		return;
	while (c->r->event[last] == NONE) /* a fence of memory_choice */
		last = g->events[last].po_prev;
	if (g->events[last].kind == MEMORY_STORE)
		last = g->events[last].po_prev;
	struct memory_wait wait = { last, g->events[last].index - g->events[begin].index + 1 };
	g_array_append_val(c->r->waits, wait);
}

void conversion_end_round(struct conversion *c, uint32_t event)
{
	uint32_t first = c->rounds.first[event], thread = c->t->events[event].thread, count = 1;
	uint32_t begin = first != NONE ? c->r->look_of[first] : NONE, last = c->look[thread];
	if (begin == NONE && first != NONE)
		wait_in_graph(c, first, thread);
	if (begin == NONE)
		return;
	for (uint32_t i = last; i != begin; count++)
		i = g_array_index(c->r->looks, struct memory_look, i).before;
	g_array_index(c->r->looks, struct memory_look, last).round = count;
	c->look[thread] = g_array_index(c->r->looks, struct memory_look, begin).before;
	c->store_due[thread] = false;
}
