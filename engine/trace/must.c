/*
 * must.c - the edges of the must-order between threads of a whole trace: one pass through the
 * rules (must_rules.h), one for the blocks that accesses use. Critical sections and reads-from
 * are no must-orders.
 */
#include "engine/trace/index_private.h"
#include "engine/trace/must_rules.h"

struct maker {
	const struct trace *t;
	GArray *edges; /* struct must_edge */
};

static void add(struct maker *m, uint32_t before, uint32_t after, enum must_rule rule,
                uint32_t condition)
{
	struct must_edge edge = { before, after, condition, rule };

	/* Program order is implied; edges never lead back in time. */
	if (before < after && m->t->events[before].thread != m->t->events[after].thread)
		g_array_append_val(m->edges, edge);
}

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

/* must_rules.h over the events of a trace. */
struct feed {
	struct maker *m;
	uint32_t *latest; /* by thread: event, or NONE */
	struct must_rules *rules;
	GHashTable *freed; /* struct block: its last life that was freed, as block + 1 */
};

static struct sync_point latest(void *context, uint32_t thread)
{
	const struct feed *f = context;

	return (struct sync_point){ f->latest[thread], thread, 0 };
}

static void found(void *context, const struct sync_point *before, uint32_t after,
                  enum must_rule rule, uint32_t condition)
{
	const struct feed *f = context;

	add(f->m, before->event, after, rule, condition);
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
static uint32_t last_life(struct feed *f, uint32_t e, uint32_t life)
{
	const struct block *b = &f->m->t->blocks[life];

	if (b->alloc == e)
		return GPOINTER_TO_UINT(g_hash_table_lookup(f->freed, b)) - 1;
	if (b->free == e && b->alloc != NONE)
		g_hash_table_replace(f->freed, (gpointer)b, GUINT_TO_POINTER(life + 1));
	return NONE;
}

static void feed_one(struct feed *f, uint32_t e, const struct event *x)
{
	const struct trace *t = f->m->t;
	struct flow_event flow = as_flow(x, e);

	if (op_table[x->op].operand == OPERAND_OBJECT)
		flow.count = t->objects[x->target].count;
	else if (op_table[x->op].operand == OPERAND_BLOCK)
		flow.block = last_life(f, e, x->target);
	must_rules_event(f->rules, &flow);
}

/* Returns false when cancelled. */
static bool add_synchronisation(struct maker *m, const struct progress *progress)
{
	const struct trace *t = m->t;
	struct feed f = { .m = m, .latest = g_new(uint32_t, t->threads_count + 1) };
	struct must_sink sink = { &f, latest, found };
	bool goes_on = true;

	f.rules = must_rules_new(&sink);
	f.freed = g_hash_table_new(block_hash, block_equal);
	for (uint64_t i = 0; i < t->threads_count; i++)
		f.latest[i] = NONE;
	for (uint32_t e = 0; e < t->events_count && goes_on; e++) {
		const struct event *x = &t->events[e];
		uint32_t before = f.latest[x->thread];

		if (G_UNLIKELY((e & 0xfffff) == 0))
			goes_on = progress_tick(progress, (double)e / t->events_count,
			                        "must-order");
		f.latest[x->thread] = e;
		if (G_UNLIKELY(before == NONE)) {
			struct flow_event first = as_flow(x, e);

			must_rules_begin(f.rules, &first);
		}
		if (G_UNLIKELY(must_rules_takes((enum op)x->op)) && !event_inert(x))
			feed_one(&f, e, x);
	}
	must_rules_free(f.rules);
	g_hash_table_destroy(f.freed);
	g_free(f.latest);
	return goes_on;
}

/* -- blocks --------------------------------------------------------------------------- */

/* The threads that accessed a block, as a bit set created at the first access by another thread
 * than the allocating one. */
struct visitors {
	uint32_t *start; /* by block: index into words, NONE: none yet */
	GArray *words;   /* uint64_t */
	uint32_t width;  /* words for each block */
};

static void visit(struct maker *m, struct visitors *v, uint32_t block, uint32_t e)
{
	uint32_t alloc = m->t->blocks[block].alloc;
	uint32_t thread = m->t->events[e].thread;

	if (alloc == NONE || alloc > e || m->t->events[alloc].thread == thread)
		return;
	if (v->start[block] == NONE) {
		v->start[block] = v->words->len;
		g_array_set_size(v->words, v->words->len + v->width);
	}
	uint64_t *word = &g_array_index(v->words, uint64_t, v->start[block] + thread / 64);
	if (*word >> (thread % 64) & 1)
		return;
	*word |= (uint64_t)1 << (thread % 64);
	add(m, alloc, e, MUST_ALLOC, NONE);
}

/* An event without effect uses no block, but a thread can wait for a lock, or misuse it, only
 * after the allocation of the block that it lies in. */
static void visit_named(struct maker *m, struct visitors *v, uint32_t e)
{
	const struct event *x = &m->t->events[e];
	uint32_t block = op_table[x->op].operand == OPERAND_OBJECT
	                         ? m->t->objects[x->target].block
	                         : NONE;

	if (block != NONE)
		visit(m, v, block, e);
}

static bool add_blocks(struct maker *m, const struct progress *progress)
{
	const struct trace *t = m->t;
	struct visitors v = { .width = (uint32_t)(t->threads_count + 63) / 64 };
	bool goes_on = true;

	if (t->blocks_count == 0)
		return true;
	v.start = g_new(uint32_t, t->blocks_count);
	for (uint64_t i = 0; i < t->blocks_count; i++)
		v.start[i] = NONE;
	v.words = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	for (uint32_t e = 0; e < t->events_count && goes_on; e++) {
		const struct event *x = &t->events[e];

		if (G_UNLIKELY((e & 0xfffff) == 0))
			goes_on = progress_tick(progress, (double)e / t->events_count,
			                        "must-order of blocks");
		if (event_inert(x)) {
			visit_named(m, &v, e);
			continue;
		}
		if (!op_is_access(x->op)) {
			if (event_block_used(t, x) != NONE)
				visit(m, &v, event_block_used(t, x), e);
			continue;
		}
		struct wide run = event_variables(t, x);
		for (uint32_t i = run.first; i < run.first + run.count; i++) {
			if (t->variables[i].block != NONE)
				visit(m, &v, t->variables[i].block, e);
		}
	}
	g_free(v.start);
	g_array_free(v.words, TRUE);
	return goes_on;
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

bool index_build_must(struct trace *t, struct trace_index *ix, const struct progress *progress)
{
	struct maker m = { t, g_array_new(FALSE, FALSE, sizeof(struct must_edge)) };

	if (!add_synchronisation(&m, progress) || !add_blocks(&m, progress)) {
		g_array_free(m.edges, TRUE);
		return false;
	}
	keep_edges(ix, m.edges);
	return true;
}

void trace_replace_must(struct trace *t, GArray *edges)
{
	struct trace_index *ix = t->index;

	g_free((void *)ix->must);
	g_free((void *)ix->must_by_before);
	keep_edges(ix, edges);
}
