/*
 * must_live.c - the must-order of a trace that has no index yet: its edges are found by the
 * rules (must_rules.h) as the walk passes their later ends. The edges are those of must_walk.c.
 *
 * A trace that is checked while it is opened is walked so (trace_watch); the check says which
 * events may have an edge.
 */
#include "engine/order/causality.h"
#include "engine/trace/must_rules.h"

struct must_live {
	struct must_rules *rules;
	uint32_t *last; /* by thread: its last event, or NONE; behind at the thread that runs */
	GHashTable
	        *freed; /* the last life of each block of memory that was freed: struct block */
	/* the present block of events, and the next of its marks */
	uint64_t first, end;
	const uint16_t *marks;
	uint32_t count, next;
};

static struct sync_point latest(void *context, uint32_t thread)
{
	struct causality *c = context;
	uint32_t event = c->live->last[thread];

	if (event == NONE)
		return NO_SYNC_POINT;
	return (struct sync_point){ event, thread, clocks_hold(&c->clocks, thread) };
}

/* The conditional edge from a wait to its waker is left out, as in must_walk.c. */
static void found(void *context, const struct sync_point *before, uint32_t after,
                  enum must_rule rule, uint32_t condition)
{
	struct causality *c = context;

	if (rule != MUST_WAIT && before->event < after)
		causality_edge(c, after, before->thread,
		               (struct edge_source){ before->event, before->clock }, STEP_MUST,
		               rule, true);
}

static void found_all(void *context, struct sync_set *set, uint32_t after, enum must_rule rule)
{
	struct causality *c = context;

	if (set->clock == 0)
		set->clock = clocks_joined(&c->clocks,
		                           (const struct sync_point *)(void *)set->points->data,
		                           set->points->len);
	clocks_join_joined(&c->clocks, c->t->events[after].thread, after, set->clock);
}

void must_live_new(struct causality *c)
{
	struct must_live *m = c->live = g_new0(struct must_live, 1);
	struct must_sink sink = { c, latest, found, found_all };

	m->rules = must_rules_new(&sink);
	m->last = g_new(uint32_t, c->t->threads_count + 1);
	for (uint64_t u = 0; u <= c->t->threads_count; u++)
		m->last[u] = NONE;
	m->freed = g_hash_table_new(must_life_hash, must_life_equal);
	c->next_must = 0;
}

void must_live_free(struct must_live *m)
{
	if (m == NULL)
		return;
	must_rules_free(m->rules);
	g_hash_table_destroy(m->freed);
	g_free(m->last);
	g_free(m);
}

static uint32_t next_mark(const struct must_live *m)
{
	return (uint32_t)(m->next < m->count ? m->first + m->marks[m->next] : m->end);
}

void causality_live_block(struct causality *c, uint64_t first, uint64_t count,
                          const uint16_t *marks, uint32_t marked)
{
	struct must_live *m = c->live;

	m->first = first;
	m->end = first + count;
	m->marks = marks;
	m->count = marked;
	m->next = 0;
	c->next_must = next_mark(m);
}

/* -- an event ------------------------------------------------------------------------------ */

static void visit(struct causality *c, uint32_t block, uint32_t event, uint32_t thread)
{
	struct sync_point alloc = must_rules_alloc(c->live->rules, block);

	if (alloc.event != NONE && alloc.thread != thread)
		found(c, &alloc, event, MUST_ALLOC, NONE);
}

/* An allocation comes after the free of the block's last life; only one that the table names
 * counts, as in must.c. */
static void step_life(struct causality *c, struct flow_event *flow)
{
	struct must_live *m = c->live;
	const struct block *life = &c->t->blocks[flow->target];

	if (flow->op == OP_ALLOC && life->alloc == flow->number) {
		const struct block *before = g_hash_table_lookup(m->freed, life);

		flow->block = before == NULL ? NONE : (uint32_t)(before - c->t->blocks);
		must_rules_event(m->rules, flow);
	} else if (flow->op == OP_FREE && life->alloc < flow->number) {
		must_rules_event(m->rules, flow);
		g_hash_table_replace(m->freed, (gpointer)life, (gpointer)life);
	}
}

static void step_other(struct causality *c, struct flow_event *flow, const struct event *x)
{
	uint32_t block = must_block_used(c->t, x);

	if (block != NONE)
		visit(c, block, flow->number, x->thread);
	if (event_inert(x))
		return;
	if (op_table[x->op].operand == OPERAND_BLOCK) {
		step_life(c, flow);
	} else if (must_rules_takes((enum op)x->op)) {
		if (op_table[x->op].operand == OPERAND_OBJECT)
			flow->count = c->t->objects[x->target].count;
		must_rules_event(c->live->rules, flow);
	}
}

void must_live_into(struct causality *c, uint32_t event)
{
	struct must_live *m = c->live;
	const struct trace *t = c->t;
	const struct event *x = &t->events[event];
	struct flow_event flow = { .op = (enum op)x->op,
		                   .flags = x->flags,
		                   .thread = x->thread,
		                   .number = event,
		                   .target = x->target,
		                   .block = NONE };

	if (event > 0)
		m->last[x[-1].thread] = event - 1;
	bool begins = m->last[x->thread] == NONE;
	m->last[x->thread] = event;
	if (begins)
		must_rules_begin(m->rules, &flow);
	if (!op_is_access(x->op)) {
		step_other(c, &flow, x);
		return;
	}
	if (t->blocks_count == 0 || event_inert(x))
		return;
	struct wide run = event_variables(t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		if (t->variables[v].block != NONE)
			visit(c, t->variables[v].block, event, x->thread);
}

void must_live_from(struct causality *c, uint32_t event)
{
	struct must_live *m = c->live;

	while (m->next < m->count && m->first + m->marks[m->next] <= event)
		m->next++;
	c->next_must = next_mark(m);
}

/* -- clocks in use ------------------------------------------------------------------------- */

static void mark(void *context, const struct sync_point *point)
{
	struct causality *c = context;

	clocks_mark(&c->clocks, point->clock);
}

/* Is every thread ordered after the event, so that its edges would add to no clock? */
static bool is_known(void *context, const struct sync_point *at)
{
	const struct causality *c = context;

	for (uint32_t u = 0; u < c->clocks.threads; u++)
		if (u != at->thread && clocks_now_time(&c->clocks, u, at->thread) <= at->event)
			return false;
	return true;
}

void must_live_mark(struct causality *c)
{
	must_rules_forget(c->live->rules, is_known, c);
	must_rules_visit(c->live->rules, mark, c);
}
