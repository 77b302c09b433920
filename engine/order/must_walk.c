/*
 * must_walk.c - the must-order edges of the index, joined as the walk passes their ends.
 *
 * The conditional edge from a wait to its waker (rule 4) is left out: without the wake it does
 * not apply, and with it other edges imply it.
 */
#include "engine/order/causality.h"

struct must_walk {
	uint64_t into, from; /* next edge by `after`; next index of must_by_before */
	uint32_t *clocks;    /* by edge: clock of its `before`, once passed; NONE: hidden */
	uint32_t *threads;   /* by edge: thread of its `before`: that event may be far back in
	                      * a trace that is decoded in passes */
};

static uint32_t next_of(const struct causality *c, const struct must_walk *m)
{
	const struct trace_index *ix = c->t->index;
	uint32_t next = NONE;

	if (m->into < ix->must_count)
		next = ix->must[m->into].after;
	if (m->from < ix->must_count)
		next = MIN(next, ix->must[ix->must_by_before[m->from]].before);
	return next;
}

struct must_walk *must_walk_new(struct causality *c)
{
	struct must_walk *m = g_new0(struct must_walk, 1);

	m->clocks = g_new0(uint32_t, c->t->index->must_count + 1);
	m->threads = g_new(uint32_t, c->t->index->must_count + 1);
	c->next_must = next_of(c, m);
	return m;
}

void must_walk_free(struct must_walk *m)
{
	if (m == NULL)
		return;
	g_free(m->clocks);
	g_free(m->threads);
	g_free(m);
}

/* Creation of threads and memory are never an invocation's own synchronisation. */
static bool is_hidden(const struct causality *c, uint32_t rule)
{
	return c->hidden && rule != MUST_FORK && rule != MUST_JOIN && rule != MUST_ALLOC &&
	       rule != MUST_FREE;
}

void must_walk_into(struct causality *c, uint32_t event)
{
	if (c->live != NULL) {
		must_live_into(c, event);
		return;
	}
	struct must_walk *m = c->must;
	const struct trace_index *ix = c->t->index;

	for (; m->into < ix->must_count && ix->must[m->into].after == event; m->into++) {
		const struct must_edge *e = &ix->must[m->into];

		/* EDC has the order of invocations from specifications. */
		if (e->rule != MUST_WAIT && m->clocks[m->into] != NONE &&
		    !is_hidden(c, e->rule) &&
		    !(e->rule == MUST_INVOCATION && (c->scoped || c->kind == ORDER_KIND_EDC)))
			causality_edge(c, event, m->threads[m->into],
			               (struct edge_source){ e->before, m->clocks[m->into] },
			               STEP_MUST, e->rule, true);
		m->clocks[m->into] = 0;
	}
}

void must_walk_from(struct causality *c, uint32_t event)
{
	if (c->live != NULL) {
		must_live_from(c, event);
		return;
	}
	struct must_walk *m = c->must;
	const struct trace_index *ix = c->t->index;

	for (; m->from < ix->must_count; m->from++) {
		uint32_t edge = ix->must_by_before[m->from];

		if (ix->must[edge].before != event)
			break;
		m->threads[edge] = c->t->events[event].thread;
		m->clocks[edge] = is_hidden(c, ix->must[edge].rule)
		                          ? NONE
		                          : causality_point(c, event).clock;
	}
	c->next_must = next_of(c, m);
}

void must_walk_mark(struct causality *c)
{
	if (c->live != NULL) {
		must_live_mark(c);
		return;
	}
	const struct must_walk *m = c->must;

	for (uint64_t i = m->into; i < c->t->index->must_count; i++) {
		if (m->clocks[i] != NONE)
			clocks_mark(&c->clocks, m->clocks[i]);
	}
}
