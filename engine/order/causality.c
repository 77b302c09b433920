/*
 * causality.c - the walk: for each event, which parts have edges into it, and in which
 * order they go in.  See causality.h.
 */
#include "engine/order/causality.h"

#include <string.h>

struct causality *causality_new(struct trace *t, enum order_kind kind, enum keep keep,
                                const struct progress *progress)
{
	bool composed_with_hb = kind == ORDER_KIND_WCP || kind == ORDER_KIND_CP;
	bool over_sections =
	        kind == ORDER_KIND_WCP || kind == ORDER_KIND_DC || kind == ORDER_KIND_WDC;
	/* (EDC is given its sections' edges, see edc.c.) */
	/* Who asks about the edges of a kept walk asks for threads' events too. */
	unsigned asked = keep == KEEP_EDGES || over_sections ? INDEX_THREADS | INDEX_MATCH : 0;
	struct causality *c;

	if (!trace_need(t, INDEX_MUST | asked, progress))
		return NULL;
	c = g_new0(struct causality, 1);
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
	/* What a write knew is what its stretch says. */
	if (keep != KEEP_NOTHING || c->observations != NULL)
		causality_keep_stretches(c);
	c->must = must_walk_new(c);
	c->atomics = atomics_new(t, kind == ORDER_KIND_FIXED || kind == ORDER_KIND_LASTING);
	if (kind == ORDER_KIND_HB || kind == ORDER_KIND_SHB || composed_with_hb)
		c->locks = locks_new(t);
	if (over_sections)
		c->sections = sections_new(c, kind != ORDER_KIND_WDC);
	return c;
}

void causality_keep_stretches(struct causality *c)
{
	if (c->stretches != NULL)
		return;
	c->stretches = g_new0(struct stretches, c->t->threads_count + 1);
}

void causality_free(struct causality *c)
{
	if (c == NULL)
		return;
	if (c->edges != NULL)
		g_array_free(c->edges, TRUE);
	if (c->stretches != NULL) {
		for (uint64_t i = 0; i < c->t->threads_count; i++)
			g_free(c->stretches[i].of);
		g_free(c->stretches);
	}
	clocks_release(&c->clocks);
	must_walk_free(c->must);
	atomics_free(c->atomics);
	locks_free(c->locks);
	observations_free(c->observations);
	sections_free(c->sections);
	g_free(c->depth);
	g_free(c);
}

void causality_edge(struct causality *c, uint32_t to, uint32_t from_thread, struct point from,
                    enum step_rule rule, uint32_t detail, bool base)
{
	uint32_t thread = c->t->events[to].thread;

	/* From a thread's own events program order leads anyway; only an order that is not
	 * composed with program order alone can still learn something. */
	if (from_thread == thread && (!base || c->clocks.planes == 1))
		return;
	if (clocks_join(&c->clocks, thread, to, from_thread, from, base) && c->edges != NULL) {
		struct edge edge = { from.event, to, detail, rule, base };

		g_array_append_val(c->edges, edge);
	}
}

struct stretch *stretches_find(const struct stretches *s, uint32_t event)
{
	enum { FEW = 12 };
	uint32_t low = 0, high = s->count, least = high > FEW ? high - FEW : 0;

	/* Who walks asks for what was not long ago. */
	while (high > least && s->of[high - 1].start > event)
		high--;
	if (high > least || high == 0)
		return high == 0 ? NULL : &s->of[high - 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->of[middle].start <= event)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NULL : &s->of[low - 1];
}

struct stretch *causality_stretch(const struct causality *c, uint32_t event)
{
	return stretches_find(&c->stretches[c->t->events[event].thread], event);
}

void stretches_make_room(struct stretches *s)
{
	s->capacity = MAX(64, 2 * s->capacity);
	s->of = g_renew(struct stretch, s->of, s->capacity);
}

struct point causality_past_point(const struct causality *c, uint32_t event)
{
	const struct stretch *s = causality_stretch(c, event);

	return (struct point){ event, s == NULL ? 0 : s->row };
}

static void take_forced(struct causality *c, uint32_t event)
{
	while (c->forced_next < c->forced_count && c->forced[c->forced_next].to == event) {
		const struct forced_edge *f = &c->forced[c->forced_next++];
		uint32_t thread = c->t->events[f->from].thread;

		/* Composed with happens-before on its left by taking plane 0 of `from`. */
		causality_edge(c, event, thread, causality_past_point(c, f->from), f->rule,
		               f->object, true);
	}
}

static void step_access(struct causality *c, uint32_t event, const struct event *x)
{
	if (c->sections != NULL)
		sections_access(c, event);
	c->unobserved = c->clocks.now[x->thread];
	if (c->observations != NULL || op_is_atomic(x->op))
		clocks_hold(&c->clocks, x->thread);
	if (x->op == OP_AREAD || x->op == OP_RMW)
		atomics_read(c, event);
	if (c->observations != NULL)
		observations_access(c, event);
	/* What a write releases includes what an RMW has just read. */
	if (x->op == OP_AWRITE || x->op == OP_RMW)
		atomics_write(c, event);
	else if (x->op == OP_WRITE)
		atomics_plain_write(c, event);
}

void causality_lock(struct causality *c, uint32_t event, const struct event *x)
{
	bool lent = c->locks != NULL && c->locks->last != NULL;

	if (lent)
		locks_settle(c, x->target);
	if (op_acquires(x->op)) {
		if (c->locks != NULL)
			locks_acquire(c, event);
		if (c->forced != NULL)
			take_forced(c, event);
		if (c->sections != NULL)
			sections_acquire(c, event);
	} else {
		/* Rule (b) adds to what a release knows: first. */
		if (c->sections != NULL)
			sections_release(c, event);
		if (c->locks != NULL)
			locks_release(c, event);
	}
	if (c->observations != NULL)
		observations_try(c, event);
	if (lent)
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
		causality_lock(c, event, x);
		break;
	case OP_FENCE:
		atomics_fence(c, event);
		break;
	case OP_TRYFAIL:
	case OP_DESTROY:
		if (c->observations != NULL && c->locks != NULL && c->locks->last != NULL)
			locks_settle(c, x->target);
		/* fall through */
	case OP_TAKETRYFAIL:
	case OP_POST:
	case OP_TAKE:
		if (c->observations != NULL)
			observations_try(c, event);
		break;
	default:
		break;
	}
}

static void keep_stretch(struct causality *c, uint32_t event, uint32_t thread, uint32_t before)
{
	struct stretch stretch = { event, c->clocks.now[thread], c->unobserved };

	if (stretch.row != before)
		stretches_add(&c->stretches[thread], stretch);
}

void causality_step(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	uint32_t before = c->clocks.now[x->thread];

	if (event >= c->next_must)
		must_walk_into(c, event);
	c->unobserved = c->clocks.now[x->thread];
	if (c->forced != NULL &&
	    !op_acquires(x->op)) /* acquires take theirs after the lock's */
		take_forced(c, event);
	if (!event_inert(x))
		step_op(c, event, x);
	if (!op_is_access(x->op))
		c->unobserved = c->clocks.now[x->thread];
	if (event >= c->next_must)
		must_walk_from(c, event);
	if (c->stretches != NULL)
		keep_stretch(c, event, x->thread, before);
}

static inline void walk_one(struct causality *c, uint32_t e, const struct event *x)
{
	if (e >= c->next_must || !causality_quiet(c, x, c->sections != NULL))
		causality_step(c, e);
	else if (x->op == OP_WRITE)
		causality_wrote(c, e, x);
	else if (c->observations != NULL && !observations_known(c, x->target, x->thread))
		causality_step(c, e);
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
		bool told =
		        c->forced_next < c->forced_count && c->forced[c->forced_next].to == e;
		if (G_UNLIKELY(told))
			causality_step(c, e);
		else
			walk_one(c, e, &t->events[e]);
	}
	c->forced = NULL; /* the caller's */
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
