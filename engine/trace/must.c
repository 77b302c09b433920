/*
 * must.c - the edges of the must-order between threads of a whole trace, in one pass: by the
 * rules (must_rules.h), and to the accesses of a block from its allocation. Critical sections
 * and reads-from are no must-orders.
 */
#include "engine/trace/index_private.h"
#include "engine/trace/must_rules.h"

/* The threads that accessed a block, as a bit set created at the first access by another thread
 * than the allocating one. */
struct visitors {
	uint32_t *start;     /* by block: index into words, NONE: none yet */
	uint32_t *allocator; /* by block: the thread that has allocated it, NONE: none yet */
	GArray *words;       /* uint64_t */
	uint32_t width;      /* words for each block */
};

struct must_maker {
	const struct trace *t;
	GArray *edges;    /* struct must_edge */
	uint32_t *latest; /* by thread: event, or NONE */
	struct must_rules *rules;
	GHashTable *freed; /* struct block: its last life that was freed, as block + 1 */
	struct visitors visitors;
};

/* -- rules -------------------------------------------------------------------------- */

static guint block_hash(gconstpointer p)
{
	const struct block *b = p;

	return b->name * 2654435761u ^ (guint)(b->address >> 4);
}

static gboolean block_equal(gconstpointer p, gconstpointer q)
{
	const struct block *a = p, *b = q;

	return a->name == b->name && a->address == b->address;
}

static struct sync_point latest(void *context, uint32_t thread)
{
	const struct must_maker *m = context;

	return (struct sync_point){ m->latest[thread], thread, 0 };
}

/* Program order is implied; edges never lead back in time. */
static void found(void *context, const struct sync_point *before, uint32_t after,
                  enum must_rule rule, uint32_t condition)
{
	struct must_maker *m = context;
	struct must_edge edge = { before->event, after, condition, rule };

	if (before->event < after && before->thread != m->t->events[after].thread)
		g_array_append_val(m->edges, edge);
}

static struct flow_event as_flow(const struct event *x, uint32_t e)
{
	return (struct flow_event){ .op = (enum op)x->op,
		                    .flags = x->flags,
		                    .thread = x->thread,
		                    .number = e,
		                    .target = x->target,
		                    .block = NONE };
}

/* The last life of an allocated block, for the rules; of a freed one, keep it for that. */
static uint32_t last_life(struct must_maker *m, uint32_t e, uint32_t life)
{
	const struct block *b = &m->t->blocks[life];

	if (b->alloc == e)
		return GPOINTER_TO_UINT(g_hash_table_lookup(m->freed, b)) - 1;
	if (b->free == e && b->alloc != NONE)
		g_hash_table_replace(m->freed, (gpointer)b, GUINT_TO_POINTER(life + 1));
	return NONE;
}

static void feed_one(struct must_maker *m, uint32_t e, const struct event *x)
{
	const struct trace *t = m->t;
	struct flow_event flow = as_flow(x, e);

	if (op_table[x->op].operand == OPERAND_OBJECT)
		flow.count = t->objects[x->target].count;
	else if (op_table[x->op].operand == OPERAND_BLOCK)
		flow.block = last_life(m, e, x->target);
	must_rules_event(m->rules, &flow);
}

/* -- blocks --------------------------------------------------------------------------- */

static void visit(struct must_maker *m, uint32_t block, uint32_t e, uint32_t thread)
{
	struct visitors *v = &m->visitors;

	if (v->allocator[block] == NONE || v->allocator[block] == thread)
		return;
	if (v->start[block] == NONE) {
		v->start[block] = v->words->len;
		g_array_set_size(v->words, v->words->len + v->width);
	}
	uint64_t *word = &g_array_index(v->words, uint64_t, v->start[block] + thread / 64);
	if (*word >> (thread % 64) & 1)
		return;
	*word |= (uint64_t)1 << (thread % 64);
	struct must_edge edge = { m->t->blocks[block].alloc, e, NONE, MUST_ALLOC };
	g_array_append_val(m->edges, edge);
}

/* The block that an event which is no access uses. One without effect uses none, but a thread
 * can wait for a lock, or misuse it, only after the allocation of the block that it lies in. */
static void visit_named(struct must_maker *m, uint32_t e, const struct event *x)
{
	const struct trace *t = m->t;
	uint32_t block = NONE;

	if (x->op == OP_ALLOC && t->blocks[x->target].alloc == e)
		m->visitors.allocator[x->target] = x->thread;
	if (event_inert(x) && op_table[x->op].operand == OPERAND_OBJECT)
		block = t->objects[x->target].block;
	else if (!event_inert(x))
		block = event_block_used(t, x);
	if (block != NONE)
		visit(m, block, e, x->thread);
}

static void visit_blocks(struct must_maker *m, uint32_t e, const struct event *x)
{
	const struct trace *t = m->t;

	if (!op_is_access(x->op)) {
		visit_named(m, e, x);
	} else if (!event_inert(x)) {
		struct wide run = event_variables(t, x);

		for (uint32_t i = run.first; i < run.first + run.count; i++) {
			if (t->variables[i].block != NONE)
				visit(m, t->variables[i].block, e, x->thread);
		}
	}
}

/* -- the pass ------------------------------------------------------------------------- */

struct must_maker *must_maker_new(const struct trace *t)
{
	struct must_maker *m = g_new0(struct must_maker, 1);
	struct must_sink sink = { m, latest, found };
	struct visitors *v = &m->visitors;

	m->t = t;
	m->edges = g_array_new(FALSE, FALSE, sizeof(struct must_edge));
	m->latest = g_new(uint32_t, t->threads_count + 1);
	for (uint64_t i = 0; i < t->threads_count; i++)
		m->latest[i] = NONE;
	m->rules = must_rules_new(&sink);
	m->freed = g_hash_table_new(block_hash, block_equal);
	v->width = (uint32_t)(t->threads_count + 63) / 64;
	v->start = g_new(uint32_t, t->blocks_count + 1);
	v->allocator = g_new(uint32_t, t->blocks_count + 1);
	for (uint64_t i = 0; i < t->blocks_count; i++)
		v->start[i] = v->allocator[i] = NONE;
	v->words = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	return m;
}

void must_maker_events(struct must_maker *m, uint64_t from, uint64_t to)
{
	const struct trace *t = m->t;
	bool blocks = t->blocks_count > 0;

	for (uint64_t at = from; at < to; at++) {
		uint32_t e = (uint32_t)at;
		const struct event *x = &t->events[e];

		if (G_UNLIKELY(m->latest[x->thread] == NONE)) {
			struct flow_event first = as_flow(x, e);

			m->latest[x->thread] = e;
			must_rules_begin(m->rules, &first);
		}
		m->latest[x->thread] = e;
		if (G_UNLIKELY(must_rules_takes((enum op)x->op)) && !event_inert(x))
			feed_one(m, e, x);
		if (blocks)
			visit_blocks(m, e, x);
	}
}

static void maker_free(struct must_maker *m)
{
	must_rules_free(m->rules);
	g_hash_table_destroy(m->freed);
	g_free(m->latest);
	g_free(m->visitors.start);
	g_free(m->visitors.allocator);
	g_array_free(m->visitors.words, TRUE);
	if (m->edges)
		g_array_free(m->edges, TRUE);
	g_free(m);
}

/* -- the part of the index ------------------------------------------------------------ */

static int by_after(gconstpointer p, gconstpointer q)
{
	const struct must_edge *a = p, *b = q;

	if (a->after != b->after)
		return a->after < b->after ? -1 : 1;
	if (a->before != b->before)
		return a->before < b->before ? -1 : 1;
	return a->rule < b->rule ? -1 : a->rule > b->rule;
}

static int by_before(gconstpointer p, gconstpointer q, gpointer edges)
{
	const struct must_edge *a = (const struct must_edge *)edges + *(const uint32_t *)p;
	const struct must_edge *b = (const struct must_edge *)edges + *(const uint32_t *)q;

	return a->before < b->before ? -1 : a->before > b->before;
}

static void keep_edges(struct trace_index *ix, GArray *edges)
{
	g_array_sort(edges, by_after);
	ix->must_count = edges->len;
	ix->must = (struct must_edge *)g_array_free(edges, FALSE);
	uint32_t *order = g_new(uint32_t, ix->must_count + 1);
	for (uint32_t i = 0; i < ix->must_count; i++)
		order[i] = i;
	/* The sort is stable, so edges out of an event stay ordered by `after`. */
	g_qsort_with_data(order, (gint)ix->must_count, sizeof(*order), by_before,
	                  (gpointer)ix->must);
	ix->must_by_before = order;
}

void must_maker_end(struct must_maker *m, struct trace_index *ix)
{
	if (ix != NULL)
		keep_edges(ix, g_steal_pointer(&m->edges));
	maker_free(m);
}

bool index_build_must(struct trace *t, struct trace_index *ix, const struct progress *progress)
{
	enum { TICK = 1 << 20 };
	struct must_maker *m = must_maker_new(t);
	uint64_t count = t->events_count;
	bool goes_on = true;

	for (uint64_t e = 0; e < count && goes_on; e += TICK) {
		goes_on = progress_tick(progress, (double)e / (double)count, "must-order");
		if (goes_on)
			must_maker_events(m, e, MIN(e + TICK, count));
	}
	must_maker_end(m, goes_on ? ix : NULL);
	return goes_on;
}

void trace_replace_must(struct trace *t, GArray *edges)
{
	struct trace_index *ix = t->index;

	g_free((void *)ix->must);
	g_free((void *)ix->must_by_before);
	keep_edges(ix, edges);
}
