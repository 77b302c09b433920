/*
 * must_walk.c - the must-order edges of the index, joined as the walk passes their ends.
 *
 * The conditional edge from a wait to its waker (rule 4) is left out: without the wake it does
 * not apply, and with it other edges imply it.
 */
#include "engine/order/causality.h"

struct must_walk {
	uint64_t into, from; /* next edge by `after`; next index of must_by_before */
	uint32_t passed;     /* the events before this one have been passed */
	uint32_t *clocks;    /* by edge: clock of its `before`, once passed; NONE: hidden; of a
	                      * MUST_SHARED one the clock that its sources have together, or 0 */
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

/* The sources of a MUST_SHARED edge: a range of edges. */
static struct must_run sources_of(const struct causality *c, uint64_t edge)
{
	return trace_must_into(c->t, c->t->index->must[edge].before);
}

static bool is_source(const struct causality *c, uint64_t edge)
{
	return must_is_shared(c->t->index->must[edge].rule) && c->must->clocks[edge] != NONE;
}

/* Joins all sources of the edge at once, without a struct edge for each (order_path finds
 * them), or, where the order is not composed with program order, one by one. */
static void join_shared(struct causality *c, uint32_t event, uint64_t edge)
{
	const struct must_walk *m = c->must;
	struct must_run run = sources_of(c, edge);
	uint32_t own = c->t->events[event].thread;

	if (m->clocks[edge] != 0) {
		clocks_join_joined(&c->clocks, own, event, m->clocks[edge]);
		return;
	}
	for (uint64_t i = run.first; i < run.first + run.count; i++) {
		const struct must_edge *e = &c->t->index->must[i];

		if (is_source(c, i) && m->threads[i] != own)
			causality_edge(c, event, m->threads[i],
			               (struct edge_source){ e->before, m->clocks[i] },
			               STEP_MUST, e->rule, true);
	}
}

static uint32_t joined_clock(struct causality *c, uint64_t edge)
{
	const struct must_walk *m = c->must;
	struct must_run run = sources_of(c, edge);
	g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct sync_point));

	if (c->clocks.planes > 1)
		return 0;
	for (uint64_t i = run.first; i < run.first + run.count; i++) {
		struct sync_point point = { c->t->index->must[i].before, m->threads[i],
			                    m->clocks[i] };

		if (is_source(c, i))
			g_array_append_val(points, point);
	}
	return clocks_joined(&c->clocks, (const struct sync_point *)(const void *)points->data,
	                     points->len);
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
		if (e->rule == MUST_SHARED) {
			if (!is_hidden(c, e->rule))
				join_shared(c, event, m->into);
		} else if (e->rule != MUST_WAIT && m->clocks[m->into] != NONE &&
		           !is_hidden(c, e->rule) &&
		           !(e->rule == MUST_INVOCATION &&
		             (c->scoped || c->kind == ORDER_KIND_EDC)))
			causality_edge(c, event, m->threads[m->into],
			               (struct edge_source){ e->before, m->clocks[m->into] },
			               STEP_MUST, e->rule, true);
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
	uint32_t joined = NONE;

	m->passed = event + 1;
	for (; m->from < ix->must_count; m->from++) {
		uint32_t edge = ix->must_by_before[m->from];

		if (ix->must[edge].before != event)
			break;
		m->threads[edge] = c->t->events[event].thread;
		if (ix->must[edge].rule == MUST_SHARED) {
			joined = joined == NONE ? joined_clock(c, edge) : joined;
			m->clocks[edge] = joined;
			continue;
		}
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
		const struct must_edge *e = &c->t->index->must[i];

		if (m->clocks[i] != NONE)
			clocks_mark(&c->clocks, m->clocks[i]);
		if (e->rule != MUST_SHARED || m->clocks[i] != 0 || e->before >= m->passed)
			continue;
		struct must_run run = sources_of(c, i);
		for (uint64_t k = run.first; k < run.first + run.count; k++) {
			if (m->clocks[k] != NONE)
				clocks_mark(&c->clocks, m->clocks[k]);
		}
	}
}
