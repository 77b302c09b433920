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
	GHashTable *others;  /* two planes: event -> struct others of the MUST_SHARED edges from
	                      * it */
};

/* The sources of MUST_SHARED edges, of one thread each. With two planes an event comes, in the
 * order itself, after those of other threads alone: its own one's past is but happens-before.
 */
struct others {
	uint32_t count, left; /* sources; edges that are still to be joined */
	uint32_t *threads;    /* of the sources */
	uint32_t *clocks;     /* by source: what all others have together; then: all */
};

static void others_free(void *p)
{
	struct others *o = p;

	g_free(o->threads);
	g_free(o->clocks);
	g_free(o);
}

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
	m->others = g_hash_table_new_full(NULL, NULL, NULL, others_free);
	c->next_must = next_of(c, m);
	return m;
}

void must_walk_free(struct must_walk *m)
{
	if (m == NULL)
		return;
	g_hash_table_destroy(m->others);
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

/* Joins the sources of other threads; frees the set with its last edge. */
static void join_others(struct causality *c, uint32_t event, uint32_t before)
{
	gpointer key = GUINT_TO_POINTER(before + 1);
	struct others *o = g_hash_table_lookup(c->must->others, key);
	uint32_t own = c->t->events[event].thread, i = 0;

	while (i < o->count && o->threads[i] != own)
		i++;
	clocks_join_joined(&c->clocks, own, event, o->clocks[i]);
	if (--o->left == 0) {
		clocks_give_back(&c->clocks, o->clocks, o->count + 1);
		g_hash_table_remove(c->must->others, key);
	}
}

/* Joins all sources of the edge at once, without a struct edge for each (order_path finds
 * them), or one by one where a thread has several of them in an order of two planes. */
static void join_shared(struct causality *c, uint32_t event, uint64_t edge)
{
	const struct must_walk *m = c->must;
	struct must_run run = sources_of(c, edge);
	uint32_t own = c->t->events[event].thread;

	if (m->clocks[edge] != 0) {
		if (c->clocks.planes == 1)
			clocks_join_joined(&c->clocks, own, event, m->clocks[edge]);
		else
			join_others(c, event, c->t->index->must[edge].before);
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

/* As many points as threads? */
static bool one_each(const struct causality *c, const GArray *points)
{
	g_autofree bool *seen = g_new0(bool, c->t->threads_count + 1);

	for (guint i = 0; i < points->len; i++) {
		bool *has = &seen[g_array_index(points, struct sync_point, i).thread];

		if (*has)
			return false;
		*has = true;
	}
	return true;
}

/* The clocks of the sources of all MUST_SHARED edges from `before`; the one of all, or 0. */
static uint32_t joined_others(struct causality *c, uint32_t before, const GArray *points)
{
	if (!one_each(c, points))
		return 0;
	struct others *o = g_new0(struct others, 1);

	o->count = points->len;
	o->threads = g_new(uint32_t, o->count + 1);
	o->clocks = g_new(uint32_t, o->count + 1);
	for (uint32_t i = 0; i < o->count; i++)
		o->threads[i] = g_array_index(points, struct sync_point, i).thread;
	clocks_joined_others(&c->clocks, (const struct sync_point *)(const void *)points->data,
	                     o->count, o->clocks);
	g_hash_table_insert(c->must->others, GUINT_TO_POINTER(before + 1), o);
	return o->clocks[o->count];
}

static uint32_t joined_clock(struct causality *c, uint64_t edge)
{
	const struct must_walk *m = c->must;
	struct must_run run = sources_of(c, edge);
	g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct sync_point));

	for (uint64_t i = run.first; i < run.first + run.count; i++) {
		struct sync_point point = { c->t->index->must[i].before, m->threads[i],
			                    m->clocks[i] };

		if (is_source(c, i))
			g_array_append_val(points, point);
	}
	if (c->clocks.planes > 1)
		return joined_others(c, c->t->index->must[edge].before, points);
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
	uint32_t joined = NONE, shared = 0;

	m->passed = event + 1;
	for (; m->from < ix->must_count; m->from++) {
		uint32_t edge = ix->must_by_before[m->from];

		if (ix->must[edge].before != event)
			break;
		m->threads[edge] = c->t->events[event].thread;
		if (ix->must[edge].rule == MUST_SHARED) {
			joined = joined == NONE ? joined_clock(c, edge) : joined;
			m->clocks[edge] = joined;
			shared++;
			continue;
		}
		m->clocks[edge] = is_hidden(c, ix->must[edge].rule)
		                          ? NONE
		                          : causality_point(c, event).clock;
	}
	struct others *o =
	        shared > 0 ? g_hash_table_lookup(m->others, GUINT_TO_POINTER(event + 1)) : NULL;
	if (o != NULL)
		o->left = shared;
	c->next_must = next_of(c, m);
}

void must_walk_mark(struct causality *c)
{
	if (c->live != NULL) {
		must_live_mark(c);
		return;
	}
	const struct must_walk *m = c->must;
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, m->others);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct others *o = value;

		for (uint32_t i = 0; i <= o->count; i++)
			clocks_mark(&c->clocks, o->clocks[i]);
	}
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
