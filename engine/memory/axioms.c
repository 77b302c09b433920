/*
 * axioms.c - shared by the models' predicates: edges among events, their cycles, the
 * atomicity of read-modify-writes, and the explanation of an axiom that does not hold
 * (models_private.h).
 */
#include "engine/memory/models_private.h"

#include <string.h>

/* ---- why ---- */

bool memory_violates(struct memory_why *why, const char *axiom)
{
	if (why == NULL)
		return false;
	why->axiom = axiom;
	why->cycle = g_array_new(FALSE, FALSE, sizeof(struct memory_edge));
	return false;
}

void memory_why_add(struct memory_why *why, uint32_t from, uint32_t to, const char *relation)
{
	struct memory_edge edge = { from, to, relation };
	if (why != NULL)
		g_array_append_val(why->cycle, edge);
}

void memory_why_release(struct memory_why *why)
{
	if (why->cycle != NULL)
		g_array_free(why->cycle, TRUE);
	memset(why, 0, sizeof *why);
}

/* ---- edges and their cycles ---- */

void memory_edges_init(struct memory_edges *edges, const struct memory_graph *g)
{
	edges->list = g_array_new(FALSE, FALSE, sizeof(struct memory_edge));
	edges->events = g->count;
}

void memory_edges_release(struct memory_edges *edges)
{
	g_array_free(edges->list, TRUE);
}

void memory_edge_add(struct memory_edges *edges, uint32_t from, uint32_t to,
                     const char *relation)
{
	struct memory_edge edge = { from, to, relation };
	if (from != NONE && to != NONE)
		g_array_append_val(edges->list, edge);
}

/* Depth-first search with a stack of its own. */
struct cycle_search {
	const struct memory_edge *edges; /* by `from` */
	uint32_t *begin; /* by event: index of its first edge; one more at the end */
	uint32_t *next;  /* by event: edge to be followed next */
	uint8_t *state;  /* 0 new, 1 on the stack, 2 done */
	uint32_t *stack, depth;
};

static void sort_edges(struct cycle_search *s, const struct memory_edges *edges,
                       struct memory_edge *sorted)
{
	const struct memory_edge *list = (const struct memory_edge *)(void *)edges->list->data;
	for (guint i = 0; i < edges->list->len; i++)
		s->begin[list[i].from + 1]++;
	for (uint32_t e = 0; e < edges->events; e++)
		s->begin[e + 1] += s->begin[e];
	memcpy(s->next, s->begin, edges->events * sizeof *s->next);
	for (guint i = 0; i < edges->list->len; i++)
		sorted[s->next[list[i].from]++] = list[i];
	memcpy(s->next, s->begin, edges->events * sizeof *s->next);
	s->edges = sorted;
}

/* Adds the edges on the stack from `to` up to its top, and the one back to `to`, as the cycle
 * to report. */
static void tell_cycle(const struct cycle_search *s, uint32_t to, struct memory_why *why)
{
	uint32_t at = s->depth - 1;
	while (s->stack[at] != to)
		at--;
	for (; at < s->depth; at++) {
		const struct memory_edge *e = &s->edges[s->next[s->stack[at]] - 1];
		memory_why_add(why, e->from, e->to, e->relation);
	}
}

/* The event that closes a cycle reachable from `root`, or NONE. */
static uint32_t search_from(struct cycle_search *s, uint32_t root)
{
	s->stack[0] = root;
	s->depth = 1;
	s->state[root] = 1;
	while (s->depth > 0) {
		uint32_t at = s->stack[s->depth - 1];
		if (s->next[at] == s->begin[at + 1]) {
			s->state[at] = 2;
			s->depth--;
			continue;
		}
		uint32_t to = s->edges[s->next[at]++].to;
		if (s->state[to] == 1)
			return to;
		if (s->state[to] == 2)
			continue;
		s->state[to] = 1;
		s->stack[s->depth++] = to;
	}
	return NONE;
}

bool memory_edges_acyclic(const struct memory_edges *edges, const char *axiom,
                          struct memory_why *why)
{
	uint32_t n = edges->events, closing = NONE;
	struct memory_edge *sorted = g_new(struct memory_edge, edges->list->len + 1);
	struct cycle_search s = { .begin = g_new0(uint32_t, n + 1),
		                  .next = g_new(uint32_t, n + 1),
		                  .state = g_new0(uint8_t, n + 1),
		                  .stack = g_new(uint32_t, n + 1) };
	sort_edges(&s, edges, sorted);
	for (uint32_t e = 0; e < n && closing == NONE; e++)
		if (s.state[e] == 0)
			closing = search_from(&s, e);
	if (closing != NONE) {
		memory_violates(why, axiom);
		if (why != NULL)
			tell_cycle(&s, closing, why);
	}
	g_free(sorted);
	g_free(s.begin);
	g_free(s.next);
	g_free(s.state);
	g_free(s.stack);
	return closing == NONE;
}

void memory_round_edges_add(struct memory_edges *edges, const struct memory_graph *g,
                            uint32_t departure)
{
	for (uint32_t i = 0; i < g->count; i++)
		if (memory_same_round(&g->events[i], &g->events[departure]))
			memory_edge_add(edges, i, departure, "sw");
}

/* ---- atomicity ---- */

bool memory_is_atomic(const struct memory_graph *g, struct memory_why *why)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct memory_event *e = &g->events[i];
		if (e->kind != MEMORY_LOAD || !(e->flags & MEMORY_EXCLUSIVE) ||
		    e->po_next == NONE)
			continue;
		uint32_t store = e->po_next, before = g->events[store].mo_prev;
		if (before == e->rf)
			continue;
		memory_violates(why, "atomicity");
		memory_why_add(why, i, before, "fr");
		memory_why_add(why, before, store, "mo");
		memory_why_add(why, store, i, "rmw");
		return false;
	}
	return true;
}
