/*
 * causality.c - the walk: the order in which each event's edges are joined.
 */
#include "engine/order/causality.h"
#include "engine/trace/weak.h"

enum order_kind causality_lasting_kind(const struct trace *t)
{
	const uint64_t turning = OPERATION(OP_AREAD) | OPERATION(OP_AWRITE) |
	                         OPERATION(OP_RMW) | OPERATION(OP_TRYFAIL) |
	                         OPERATION(OP_TAKETRYFAIL);

	return trace_has(t, turning) ? ORDER_KIND_LASTING : ORDER_KIND_OBSERVED;
}

struct causality *causality_new_live(struct trace *t)
{
	struct causality *c = g_new0(struct causality, 1);

	c->t = t;
	c->kind = ORDER_KIND_LASTING;
	clocks_init(&c->clocks, (uint32_t)t->threads_count, 1);
	c->observations = observations_new(t);
	c->observations->plain_only = true;
	causality_keep_regions(c);
	must_live_new(c);
	c->atomics = atomics_new(t, true);
	return c;
}

struct causality *causality_new(struct trace *t, enum order_kind kind, enum keep keep,
                                const struct progress *progress)
{
	bool composed_with_hb = kind == ORDER_KIND_WCP || kind == ORDER_KIND_CP;
	bool over_sections =
	        kind == ORDER_KIND_WCP || kind == ORDER_KIND_DC || kind == ORDER_KIND_WDC;
	/* EDC gets its section edges from edc.c. */
	/* Questions about kept edges need the threads' events as well. */
	unsigned asked = keep == KEEP_EDGES || over_sections ? INDEX_THREADS | INDEX_MATCH : 0;

	if (t->weak_count || trace_model(t) != WEAK_SC)
		asked |= INDEX_WRITERS;
	if (!trace_need(t, INDEX_MUST | asked, progress))
		return NULL;
	struct causality *c = g_new0(struct causality, 1);
	c->t = t;
	c->kind = kind;
	clocks_init(&c->clocks, (uint32_t)t->threads_count, composed_with_hb ? 2 : 1);
	c->clocks.in_place = keep == KEEP_NOTHING && kind != ORDER_KIND_SHB;
	if (keep == KEEP_EDGES)
		c->edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
	if (kind == ORDER_KIND_SHB || kind == ORDER_KIND_OBSERVED || kind == ORDER_KIND_LASTING)
		c->observations = observations_new(t);
	if (kind == ORDER_KIND_LASTING)
		c->observations->plain_only = true;
	/* Regions are needed to look up the clocks of writes. */
	if (keep != KEEP_NOTHING || c->observations != NULL)
		causality_keep_regions(c);
	c->must = must_walk_new(c);
	c->atomics = atomics_new(t, kind == ORDER_KIND_FIXED || kind == ORDER_KIND_LASTING);
	if (kind == ORDER_KIND_HB || kind == ORDER_KIND_SHB || composed_with_hb)
		c->locks = locks_new(t);
	if (over_sections)
		c->sections = sections_new(c, kind != ORDER_KIND_WDC);
	return c;
}

void causality_free(struct causality *c)
{
	if (c == NULL)
		return;
	if (c->edges != NULL)
		g_array_free(c->edges, TRUE);
	if (c->regions != NULL) {
		for (uint64_t i = 0; i < c->regions_count; i++)
			g_free(c->regions[i].of);
		g_free(c->regions);
	}
	clocks_release(&c->clocks);
	must_walk_free(c->must);
	must_live_free(c->live);
	atomics_free(c->atomics);
	locks_free(c->locks);
	observations_free(c->observations);
	sections_free(c->sections);
	g_free(c->depth);
	g_free(c);
}

static void take_forced(struct causality *c, uint32_t event)
{
	while (c->forced_next < c->forced_count && c->forced[c->forced_next].to == event) {
		const struct forced_edge *f = &c->forced[c->forced_next++];
		uint32_t thread = c->t->events[f->from].thread;

		/* A base edge takes plane 0 of `from`: this composes it with happens-before on
		 * its left. */
		causality_edge(c, event, thread, causality_past_point(c, f->from, thread),
		               f->rule, f->object, true);
	}
}

static void step_access(struct causality *c, uint32_t event, const struct event *x)
{
	if (c->sections != NULL)
		sections_access(c, event);
	c->unobserved = c->clocks.now[x->thread];
	if (c->observations != NULL || op_is_atomic(x->op))
		clocks_hold(&c->clocks, x->thread);
	if ((x->op == OP_AREAD || x->op == OP_RMW) && !c->hidden)
		atomics_read(c, event);
	if (c->observations != NULL)
		observations_access(c, event);
	/* After the read: an RMW's release includes the sequence that it has read. */
	if (x->op == OP_AWRITE || x->op == OP_RMW)
		atomics_write(c, event);
	else if (x->op == OP_WRITE)
		atomics_plain_write(c, event);
}

void causality_lock(struct causality *c, uint32_t event, const struct event *x)
{
	bool borrowed = c->locks != NULL && c->locks->last != NULL;

	if (borrowed)
		locks_settle(c, x->target);
	if (op_acquires(x->op)) {
		if (c->locks != NULL)
			locks_acquire(c, event);
		if (c->forced != NULL)
			take_forced(c, event);
		if (c->sections != NULL)
			sections_acquire(c, event);
	} else {
		/* Rule (b) adds to the release's clock, so it goes first. */
		if (c->sections != NULL)
			sections_release(c, event);
		if (c->locks != NULL)
			locks_release(c, event);
	}
	if (borrowed)
		locks_note(c, event);
}

static void step_op(struct causality *c, uint32_t event, const struct event *x)
{
	if (op_is_access(x->op)) {
		step_access(c, event, x);
		return;
	}
	switch (x->op) {
	case OP_ACQ:
	case OP_RACQ:
	case OP_REL:
	case OP_RREL:
		if (!c->hidden)
			causality_lock(c, event, x);
		break;
	case OP_FENCE:
		if (!c->hidden)
			atomics_fence(c, event);
		break;
	case OP_TRYFAIL:
	case OP_TAKETRYFAIL:
		if (c->observations != NULL)
			observations_try(c, event);
		break;
	default:
		break;
	}
}

static void keep_region(struct causality *c, uint32_t event, uint32_t thread, uint32_t before)
{
	struct sync_region region = { event, c->clocks.now[thread], c->unobserved };

	if (region.clock != before)
		regions_add(&c->regions[thread], region);
}

void causality_step(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t before = c->clocks.now[x->thread];

	if (event >= c->next_must)
		must_walk_into(c, event);
	c->unobserved = c->clocks.now[x->thread];
	if (c->forced != NULL && !op_acquires(x->op)) /* for acquires, causality_lock */
		take_forced(c, event);
	if (!event_inert(x))
		step_op(c, event, x);
	if (!op_is_access(x->op))
		c->unobserved = c->clocks.now[x->thread];
	if (event >= c->next_must)
		must_walk_from(c, event);
	if (c->regions != NULL)
		keep_region(c, event, x->thread, before);
}

void causality_edge_after(struct causality *c, uint32_t to, uint32_t from, uint32_t from_thread,
                          enum step_rule rule, uint32_t detail)
{
	uint32_t thread = c->t->events[to].thread, before = clocks_hold(&c->clocks, thread);
	struct sync_regions *list = &c->regions[thread];

	causality_edge(c, to, from_thread, causality_past_point(c, from, from_thread), rule,
	               detail, false);
	if (c->clocks.now[thread] == before)
		return;
	if (list->count > 0 && list->of[list->count - 1].start == to)
		list->of[list->count - 1].clock = c->clocks.now[thread];
	else
		keep_region(c, to, thread, before);
}

struct causality *causality_walk(struct trace *t, enum order_kind kind, enum keep keep,
                                 const GArray *forced, const struct progress *progress)
{
	struct causality *c = causality_new(t, kind, keep, progress);

	if (c == NULL)
		return NULL;
	if (forced != NULL) {
		c->forced = (const struct forced_edge *)forced->data;
		c->forced_count = forced->len;
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (G_UNLIKELY((e & 0xfffff) == 0) &&
		    !progress_tick(progress, (double)e / t->events_count, "partial order")) {
			causality_free(c);
			return NULL;
		}
		bool has_forced =
		        c->forced_next < c->forced_count && c->forced[c->forced_next].to == e;
		if (G_UNLIKELY(has_forced))
			causality_step(c, e);
		else
			causality_walk_one(c, e, &t->events[e]);
	}
	c->forced = NULL;
	return c;
}

void causality_sweep(struct causality *c, void (*mark)(void *context, struct clocks *clocks),
                     void *context)
{
	clocks_sweep_begin(&c->clocks);
	must_walk_mark(c);
	atomics_mark(c);
	if (c->locks != NULL)
		locks_mark(c);
	if (c->observations != NULL)
		observations_mark(c);
	if (c->sections != NULL)
		sections_mark(c);
	if (mark != NULL)
		mark(context, &c->clocks);
	clocks_sweep_end(&c->clocks);
}
