/*
 * must.c - the edges of the must-order between threads of a whole trace, in one pass: by the
 * rules (must_rules.h), between the lives of blocks, and to the accesses of a block from its
 * allocation. Critical sections and reads-from are no must-orders.
 *
 * The events may come while the trace is recorded: a block's name, which is known only at the
 * end, is read at the end.
 */
#include "engine/base/hash.h"
#include "engine/trace/index_private.h"
#include "engine/trace/must_rules.h"

#include <string.h>

/* Threads that used a block of memory. */
struct visitors {
	uint32_t allocator, freer; /* threads, or NONE: none yet */
	uint64_t threads;          /* bit set: threads below MANY whose edge exists */
};
enum { MANY = 64 };

struct must_maker {
	const struct trace *t; /* the tables */
	GArray *edges;         /* struct must_edge */
	GArray *latest;        /* uint32_t, by thread: event, or NONE */
	struct must_rules *rules;
	GArray *visitors;   /* struct visitors, by block */
	GHashTable *others; /* (block, thread) of threads from MANY on whose edge exists */
	GArray *lives;      /* uint32_t: the allocations and frees of blocks, in order: the
	                     * block's number doubled, plus one for a free */
	uint64_t operations;
	uint32_t thread; /* the last event's; NONE: there is none */
};

/* -- rules -------------------------------------------------------------------------- */

static struct sync_point latest(void *context, uint32_t thread)
{
	const struct must_maker *m = context;

	return (struct sync_point){ g_array_index(m->latest, uint32_t, thread), thread, 0 };
}

static void add_edge(struct must_maker *m, uint32_t before, uint32_t after, enum must_rule rule,
                     uint32_t condition)
{
	struct must_edge edge = { before, after, condition, rule };

	g_array_append_val(m->edges, edge);
}

/* Edges never lead back in time. */
static void found(void *context, const struct sync_point *before, uint32_t after,
                  enum must_rule rule, uint32_t condition)
{
	if (before->event < after)
		add_edge(context, before->event, after, rule, condition);
}

/* As struct must_edge says: the first one, which has all edges, shares them. */
static void found_shared(void *context, struct sync_set *set, uint32_t after,
                         enum must_rule rule)
{
	found(context, &g_array_index(set->points, struct sync_point, set->own), after, rule,
	      NONE);
	found(context, &set->first, after, MUST_SHARED, NONE);
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

/* -- blocks --------------------------------------------------------------------------- */

static struct visitors *visitors_of(const struct must_maker *m, uint32_t block)
{
	return &g_array_index(m->visitors, struct visitors, block);
}

static bool visited_before(struct must_maker *m, struct visitors *v, uint32_t block,
                           uint32_t thread)
{
	uint64_t bit = (uint64_t)1 << (thread % MANY);

	if (thread >= MANY)
		return !g_hash_table_add(
		        m->others, (gpointer)((uintptr_t)block * (EVENT_THREADS + 1) + thread));
	if (v->threads & bit)
		return true;
	v->threads |= bit;
	return false;
}

static inline void visit(struct must_maker *m, uint32_t block, uint32_t e, uint32_t thread)
{
	struct visitors *v = visitors_of(m, block);

	if (v->allocator == thread || v->allocator == NONE ||
	    visited_before(m, v, block, thread))
		return;
	add_edge(m, m->t->blocks[block].alloc, e, MUST_ALLOC, NONE);
}

/* The first of several frees of a block counts. */
static void note_life(struct must_maker *m, uint32_t e, const struct event *x)
{
	struct visitors *v = visitors_of(m, x->target);
	uint32_t life = 2 * x->target;

	if (x->op == OP_ALLOC && m->t->blocks[x->target].alloc == e) {
		v->allocator = x->thread;
	} else if (x->op == OP_FREE && v->freer == NONE && v->allocator != NONE) {
		v->freer = x->thread;
		life++;
	} else {
		return;
	}
	g_array_append_val(m->lives, life);
}

/* An inert event uses none, but a thread can wait for a lock, or misuse it, only after the
 * allocation of its block. */
uint32_t must_block_used(const struct trace *t, const struct event *x)
{
	if (!event_inert(x))
		return event_block_used(t, x);
	return op_table[x->op].operand == OPERAND_OBJECT ? t->objects[x->target].block : NONE;
}

static void visit_places(struct must_maker *m, uint32_t e, const struct event *x)
{
	const struct trace *t = m->t;
	struct wide run = event_variables(t, x);

	for (uint32_t i = run.first; i < run.first + run.count; i++) {
		if (t->variables[i].block != NONE)
			visit(m, t->variables[i].block, e, x->thread);
	}
}

static void other_event(struct must_maker *m, uint32_t e, const struct event *x)
{
	const struct trace *t = m->t;
	uint32_t block = must_block_used(t, x);

	if (op_table[x->op].operand == OPERAND_BLOCK && !event_inert(x)) {
		note_life(m, e, x);
	} else if (must_rules_takes((enum op)x->op) && !event_inert(x)) {
		struct flow_event flow = as_flow(x, e);

		if (op_table[x->op].operand == OPERAND_OBJECT)
			flow.count = t->objects[x->target].count;
		must_rules_event(m->rules, &flow);
	}
	if (block != NONE)
		visit(m, block, e, x->thread);
}

/* -- the pass ------------------------------------------------------------------------- */

struct must_maker *must_maker_new(void)
{
	struct must_maker *m = g_new0(struct must_maker, 1);
	struct must_sink sink = { m, latest, found, found_shared };

	m->edges = g_array_new(FALSE, FALSE, sizeof(struct must_edge));
	m->latest = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	m->rules = must_rules_new(&sink);
	m->visitors = g_array_new(FALSE, FALSE, sizeof(struct visitors));
	m->others = g_hash_table_new(hash_pointer, NULL);
	m->lives = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	m->thread = NONE;
	return m;
}

/* Takes the present tables, which may have grown. */
static void take_tables(struct must_maker *m, const struct trace *t)
{
	const struct visitors nobody = { .allocator = NONE, .freer = NONE };
	const uint32_t none = NONE;

	m->t = t;
	for (uint64_t u = m->latest->len; u < t->threads_count; u++)
		g_array_append_val(m->latest, none);
	for (uint64_t b = m->visitors->len; b < t->blocks_count; b++)
		g_array_append_val(m->visitors, nobody);
}

/* The first event of a thread after events of another one. */
static void begin_turn(struct must_maker *m, uint32_t e, const struct event *x)
{
	uint32_t *last = &g_array_index(m->latest, uint32_t, x->thread);
	struct flow_event flow = as_flow(x, e);
	bool first = *last == NONE;

	*last = e;
	if (first)
		must_rules_begin(m->rules, &flow);
}

static inline uint32_t block_of(const struct must_places *places, uint32_t place)
{
	uint32_t block;

	memcpy(&block, places->blocks + (place >> places->shift) * places->stride,
	       sizeof block);
	return block;
}

/* An event, with number e: the one before it is by the thread of the last one that was taken.
 * `last`: m->latest's elements. */
static inline __attribute__((always_inline)) void take_event(struct must_maker *m,
                                                             const struct must_places *places,
                                                             const struct event *x, uint32_t e,
                                                             uint32_t *last)
{
	uint32_t block;

	if (G_UNLIKELY(x->thread != m->thread)) {
		if (m->thread != NONE)
			last[m->thread] = e - 1;
		m->thread = x->thread;
		begin_turn(m, e, x);
	}
	if (G_UNLIKELY(!op_is_access(x->op))) {
		last[x->thread] = e;
		other_event(m, e, x);
	} else if (m->t->blocks_count == 0 || event_inert(x)) {
		return;
	} else if (places == NULL) {
		visit_places(m, e, x);
	} else if ((block = block_of(places, x->target)) != NONE) {
		visit(m, block, e, x->thread);
	}
}

static uint32_t *begin_row(struct must_maker *m, const struct trace *t)
{
	take_tables(m, t);
	return (uint32_t *)(void *)m->latest->data;
}

void must_maker_marked(struct must_maker *m, const struct trace *t, const struct event *events,
                       uint64_t first, const struct must_marks *marks)
{
	uint32_t *last = begin_row(m, t);

	for (uint32_t k = 0; k < marks->count; k++) {
		uint64_t i = marks->at[k];

		m->operations |= OPERATION(events[i].op);
		take_event(m, NULL, &events[i], (uint32_t)(first + i), last);
	}
}

void must_maker_recorded(struct must_maker *m, const struct trace *t,
                         const struct must_places *places, const struct event *events,
                         const uint32_t *numbers, uint32_t count)
{
	uint32_t *last = begin_row(m, t);

	for (uint32_t k = 0; k < count; k++) {
		m->operations |= OPERATION(events[k].op);
		take_event(m, places, &events[k], numbers[k], last);
	}
}

/* Between the allocation of a block and its free, and the free of one life and the next
 * allocation of the block: of the same name and address. */
guint must_life_hash(gconstpointer p)
{
	const struct block *b = p;

	return b->name * 2654435761u ^ (guint)(b->address >> 4);
}

gboolean must_life_equal(gconstpointer p, gconstpointer q)
{
	const struct block *a = p, *b = q;

	return a->name == b->name && a->address == b->address;
}

static void end_lives(struct must_maker *m)
{
	g_autoptr(GHashTable) freed = g_hash_table_new(must_life_hash, must_life_equal);

	for (guint i = 0; i < m->lives->len; i++) {
		uint32_t life = g_array_index(m->lives, uint32_t, i) / 2;
		const struct block *b = &m->t->blocks[life];
		const struct visitors *v = visitors_of(m, life);

		if (g_array_index(m->lives, uint32_t, i) % 2 == 1) {
			if (v->freer != v->allocator)
				add_edge(m, b->alloc, b->free, MUST_ALLOC, NONE);
			g_hash_table_replace(freed, (gpointer)b, (gpointer)b);
			continue;
		}
		const struct block *before = g_hash_table_lookup(freed, b);
		if (before != NULL &&
		    visitors_of(m, (uint32_t)(before - m->t->blocks))->freer != v->allocator)
			add_edge(m, before->free, b->alloc, MUST_FREE, NONE);
	}
}

static void maker_free(struct must_maker *m)
{
	must_rules_free(m->rules);
	g_array_free(m->latest, TRUE);
	g_array_free(m->visitors, TRUE);
	g_hash_table_destroy(m->others);
	g_array_free(m->lives, TRUE);
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

uint64_t must_maker_end(struct must_maker *m, const struct trace *t, struct trace_index *ix)
{
	uint64_t operations = m->operations;

	if (ix != NULL) {
		take_tables(m, t);
		end_lives(m);
		keep_edges(ix, g_steal_pointer(&m->edges));
	}
	maker_free(m);
	return operations;
}

static void take_events(struct must_maker *m, const struct trace *t, const struct event *events,
                        uint64_t first, uint64_t count)
{
	uint32_t *last = begin_row(m, t);
	uint64_t operations = m->operations;

	for (uint64_t i = 0; i < count; i++) {
		operations |= OPERATION(events[i].op);
		take_event(m, NULL, &events[i], (uint32_t)(first + i), last);
	}
	m->operations = operations;
}

bool index_build_must(struct trace *t, struct trace_index *ix, const struct progress *progress)
{
	enum { TICK = 1 << 20 };
	struct must_maker *m = must_maker_new();
	uint64_t count = t->events_count;
	bool goes_on = true;

	for (uint64_t e = 0; e < count && goes_on; e += TICK) {
		goes_on = progress_tick(progress, (double)e / (double)count, "must-order");
		if (goes_on)
			take_events(m, t, t->events + e, e, MIN(TICK, count - e));
	}
	must_maker_end(m, t, goes_on ? ix : NULL);
	return goes_on;
}

void trace_replace_must(struct trace *t, GArray *edges)
{
	struct trace_index *ix = t->index;

	g_free((void *)ix->must);
	g_free((void *)ix->must_by_before);
	keep_edges(ix, edges);
	ix->parts |= INDEX_MUST;
}
