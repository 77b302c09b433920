/*
 * smt_tables.c - data on a trace for the solver's analyses: readers of writes, events with
 * additional checks, outermost sections, initial values. Linear passes.
 */
#include "engine/base/arrays.h"
#include "engine/predict/smt/smt_private.h"

#include "engine/witness/check.h"
#include "engine/base/search.h"

#include <string.h>

/* Lists of events by an index, built in two passes: count, then fill. */
struct list_maker {
	uint64_t *start;
	uint32_t *items;
	uint64_t count;
	bool filling;
};

static void list_add(struct list_maker *m, uint64_t list, uint32_t item)
{
	if (m->filling)
		m->items[m->start[list]++] = item;
	else
		m->start[list + 1]++;
}

static void maker_init(struct list_maker *m, uint64_t count)
{
	*m = (struct list_maker){ .start = g_new0(uint64_t, count + 2), .count = count };
}

static void maker_fill(struct list_maker *m)
{
	for (uint64_t i = 0; i < m->count; i++)
		m->start[i + 1] += m->start[i];
	m->items = g_new(uint32_t, m->start[m->count] + 1);
	m->filling = true;
}

static struct event_lists maker_done(struct list_maker *m)
{
	memmove(m->start + 1, m->start, m->count * sizeof(uint64_t)); /* starts had moved on */
	m->start[0] = 0;
	return (struct event_lists){ m->start, m->items };
}

static void pass_blocks(const struct smt *s, struct list_maker *m)
{
	const struct trace *t = s->t;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t last = NONE;

		if (event_inert(x))
			continue;
		if (!op_is_access(x->op)) {
			last = event_block_used(t, x);
			if (last != NONE && t->blocks[last].free != NONE)
				list_add(m, last, e);
			continue;
		}
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			uint32_t block = t->variables[v].block;

			if (block != NONE && block != last && t->blocks[block].free != NONE)
				list_add(m, block, e);
			last = block;
		}
	}
}

static void make_block_accesses(struct smt *s)
{
	struct list_maker blocks;
	bool frees = false;

	for (uint64_t b = 0; b < s->t->blocks_count; b++)
		frees |= s->t->blocks[b].free != NONE;
	maker_init(&blocks, s->t->blocks_count);
	if (frees)
		pass_blocks(s, &blocks);
	maker_fill(&blocks);
	if (frees)
		pass_blocks(s, &blocks);
	s->block_accesses = maker_done(&blocks);
}

static const uint8_t need_of_try[] = {
	[TRY_NOTHING] = 0,
	[TRY_EXCLUSIVE] = NEED_HOLDER,
	[TRY_ANY] = NEED_ANY_HOLDER,
	[TRY_DESTROYED] = NEED_DESTROYED,
};

static void make_needs(struct smt *s)
{
	const struct trace *t = s->t;
	uint64_t tried = trace_has(t, OPERATIONS_FAILED) ? t->events_count : 0;

	s->needs = g_new0(uint8_t, t->events_count + 1);
	for (uint64_t i = 0; i < t->index->must_count; i++)
		s->needs[t->index->must[i].after] |= NEED_MUST;
	for (uint32_t e = 0; e < tried; e++) {
		const struct event *x = &t->events[e];

		if (event_inert(x))
			continue;
		if (x->op == OP_TRYFAIL && !past_exempt(s->options.exempt, e))
			s->needs[e] |= need_of_try[tries_need(s->tries, e)];
		else if (x->op == OP_TAKETRYFAIL && tries_binding(s->tries, e))
			s->needs[e] |= NEED_EMPTY;
		s->has_empty |= (s->needs[e] & NEED_EMPTY) != 0;
		s->has_tries |= (s->needs[e] & (NEED_EMPTY | NEED_OF_TRY)) != 0;
	}
}

static void note_outermost(struct smt *s, uint32_t thread, uint32_t e, const GArray *held)
{
	GArray *changes = s->outermost[thread];
	struct outermost now = { e, held->len > 0 ? g_array_index(held, uint32_t, 0) : NONE };

	if (changes->len > 0 &&
	    g_array_index(changes, struct outermost, changes->len - 1).acquire == now.acquire)
		return;
	g_array_append_val(changes, now);
}

static void make_outermost(struct smt *s)
{
	const struct trace *t = s->t;
	/* acquires, the oldest first */
	GArray **held = arrays_new(s->threads, sizeof(uint32_t));

	s->outermost = arrays_new(s->threads, sizeof(struct outermost));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		GArray *h = held[x->thread];

		if (op_is_access(x->op) || event_inert(x) ||
		    (!op_acquires(x->op) && !op_releases(x->op)))
			continue;
		if (op_acquires(x->op))
			g_array_append_val(h, e);
		for (guint i = 0; op_releases(x->op) && i < h->len; i++) {
			if (g_array_index(h, uint32_t, i) == t->index->partner[e])
				g_array_remove_index(h, i--);
		}
		note_outermost(s, x->thread, e, h);
	}
	arrays_free(held, s->threads);
	for (uint32_t b = 0; b < t->blocks_count; b++) {
		struct event_list list = event_list_at(&s->block_accesses, b);

		s->late_access |=
		        list.count > 0 && list.items[list.count - 1] > t->blocks[b].free;
	}
}

uint32_t outermost_before(const struct smt *s, uint32_t thread, uint32_t e)
{
	const GArray *changes = s->outermost[thread];
	guint low = search_end(i, 0, changes->len,
	                       g_array_index(changes, struct outermost, i).event < e);
	return low == 0 ? NONE : g_array_index(changes, struct outermost, low - 1).acquire;
}

/* A variable's initial value is the one seen by its first read or rmw. */
static void make_initial_values(struct smt *s)
{
	const struct trace *t = s->t;

	s->initial_value = g_new0(uint32_t, t->variables_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (!op_is_access(x->op) || !op_reads(x->op))
			continue;
		struct wide run = event_variables(t, x);
		if (event_inert(x) || run.count != 1 || trace_writers(t, e).items[0] != NONE)
			continue;
		if (s->initial_value[run.first] == 0)
			s->initial_value[run.first] = past_value_read(t, e);
	}
}

bool c11_matters(const struct trace *t)
{
	bool any = trace_has(t, OPERATION(OP_AREAD) | OPERATION(OP_RMW));

	for (uint32_t e = 0; any && e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if ((x->op != OP_AREAD && x->op != OP_RMW) || event_inert(x))
			continue;
		struct event_list writers = trace_writers(t, e);
		for (uint64_t i = 0; i < writers.count; i++) {
			const struct event *w =
			        writers.items[i] == NONE ? NULL : &t->events[writers.items[i]];

			if (w != NULL && w->thread != x->thread && op_is_atomic(w->op) &&
			    (!order_acquires(event_order(x)) ||
			     !order_releases(event_order(w))))
				return true;
		}
	}
	return false;
}

struct smt *smt_make(struct trace *t, const struct smt_options *options, bool pairing,
                     const struct progress *progress)
{
	struct past_options past = PAST_DEFAULTS;

	if (!trace_need(t, INDEX_VARIABLES, progress))
		return NULL;
	past.values = options->use_values;
	past.invocations = options->invocations;
	past.exempt = options->exempt;
	past.pairing = pairing;
	struct smt *s = g_new0(struct smt, 1);
	s->t = t;
	s->options = *options;
	s->threads = (uint32_t)t->threads_count;
	s->past = options->past;
	if (s->past == NULL || !past_serves(s->past, &past))
		s->past = s->own_past = past_new(t, &past, progress);
	if (s->past == NULL) {
		g_free(s);
		return NULL;
	}
	s->weak_atomics = c11_matters(t);
	return s;
}

void smt_need_tables(struct smt *s)
{
	if (s->needs != NULL)
		return;
	s->tries = trace_tries(s->t);
	make_block_accesses(s);
	make_needs(s);
	make_outermost(s);
	if (s->options.use_values)
		make_initial_values(s);
	s->scheduler = scheduler_new(s);
	s->encoder = encoder_new(s);
}

struct smt *smt_new(struct trace *t, const struct smt_options *options,
                    const struct progress *progress)
{
	return smt_make(t, options, true, progress);
}

static void lists_free(struct event_lists *lists)
{
	g_free((void *)lists->start);
	g_free((void *)lists->items);
}

void smt_free(struct smt *s)
{
	if (s == NULL)
		return;
	smt_free(s->unpaired);
	checker_free(s->own_checker);
	past_free(s->own_past);
	chase_free(s->chase);
	if (s->needs != NULL) {
		lists_free(&s->block_accesses);
		g_free(s->needs);
		arrays_free(s->outermost, s->threads);
		g_free(s->initial_value);
		scheduler_free(s->scheduler);
		encoder_free(s->encoder);
	}
	g_free(s);
}
