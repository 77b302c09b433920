/*
 * edges.c - an edge into the event that the walk has reached, and the synchronisation-free
 * regions between edges, by which the clocks of passed events are found.
 */
#include "engine/base/search.h"
#include "engine/order/causality.h"

void causality_edge(struct causality *c, uint32_t to, uint32_t from_thread,
                    struct edge_source from, enum step_rule rule, uint32_t detail, bool base)
{
	uint32_t thread = c->t->events[to].thread;

	/* Program order covers edges within a thread, except in orders that are not composed
	 * with it. */
	if (from_thread == thread && (!base || c->clocks.planes == 1))
		return;
	if (clocks_join(&c->clocks, thread, to, from_thread, from, base) && c->edges != NULL) {
		struct edge edge = { from.event, to, detail, rule, base };

		g_array_append_val(c->edges, edge);
	}
}

struct sync_region *regions_find(const struct sync_regions *s, uint32_t event)
{
	enum { FEW = 12 };
	uint32_t high = s->count, least = high > FEW ? high - FEW : 0;

	/* Callers that walk mostly ask for recent events. */
	while (high > least && s->of[high - 1].start > event)
		high--;
	if (high > least || high == 0)
		return high == 0 ? NULL : &s->of[high - 1];
	high = search_end(i, 0u, high, s->of[i].start <= event);
	return high == 0 ? NULL : &s->of[high - 1];
}

struct sync_region *causality_region(const struct causality *c, uint32_t event)
{
	return regions_find(&c->regions[c->t->events[event].thread], event);
}

void regions_make_room(struct sync_regions *s)
{
	s->capacity = MAX(64, 2 * s->capacity);
	s->of = g_renew(struct sync_region, s->of, s->capacity);
}

struct edge_source causality_past_point(const struct causality *c, uint32_t event,
                                        uint32_t thread)
{
	const struct sync_region *s = regions_find(&c->regions[thread], event);

	return (struct edge_source){ event, s == NULL ? 0 : s->clock };
}

void causality_keep_regions(struct causality *c)
{
	if (c->regions != NULL)
		return;
	c->regions = g_new0(struct sync_regions, c->t->threads_count + 1);
	c->regions_count = c->t->threads_count;
}
