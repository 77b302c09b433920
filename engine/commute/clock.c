/* clock.c - see clock.h. */
#include "engine/base/arrays.h"
#include "engine/commute/clock.h"
#include "engine/order/causality.h"

/* Scope of an open invocation. */
struct open_scope {
	uint32_t instance;
	bool specified;
	uint32_t clock; /* vector clock at its CALL */
};

struct scope_clocks {
	const struct model *m;
	struct causality *order;
	GArray **scopes; /* by thread: struct open_scope */
	uint32_t *depth; /* by thread: scopes on specified objects */
};

struct scope_clocks *scope_clocks_new(const struct model *m, const struct progress *progress)
{
	struct causality *order = causality_new(m->t, ORDER_KIND_HB, KEEP_NOTHING, progress);

	if (order == NULL)
		return NULL;
	struct scope_clocks *c = g_new0(struct scope_clocks, 1);
	c->m = m;
	c->order = order;
	order->scoped = true;
	c->scopes = arrays_new(m->t->threads_count, sizeof(struct open_scope));
	c->depth = g_new0(uint32_t, m->t->threads_count + 1);
	return c;
}

void scope_clocks_free(struct scope_clocks *c)
{
	if (c == NULL)
		return;
	arrays_free(c->scopes, c->order->t->threads_count);
	g_free(c->depth);
	causality_free(c->order);
	g_free(c);
}

void scope_clocks_before(struct scope_clocks *c, uint32_t event)
{
	c->order->hidden = c->depth[c->order->t->events[event].thread] > 0;
	causality_step(c->order, event);
}

static void mark_scopes(void *context, struct clocks *clocks)
{
	const struct scope_clocks *c = context;

	for (uint32_t u = 0; u < clocks->threads; u++) {
		for (guint i = 0; i < c->scopes[u]->len; i++)
			clocks_mark(clocks,
			            g_array_index(c->scopes[u], struct open_scope, i).clock);
	}
}

void scope_clocks_after(struct scope_clocks *c, uint32_t event)
{
	const struct event *x = &c->order->t->events[event];
	GArray *open = c->scopes[x->thread];

	if (x->op == OP_CALL && !event_inert(x)) {
		struct open_scope s = { x->target, model_specified(c->m, x->target),
			                clocks_hold(&c->order->clocks, x->thread) };

		g_array_append_val(open, s);
		c->depth[x->thread] += s.specified;
	} else if (x->op == OP_RET && !event_inert(x) && open->len > 0) {
		c->depth[x->thread] -=
		        g_array_index(open, struct open_scope, open->len - 1).specified;
		g_array_set_size(open, open->len - 1);
	}
	if (clocks_sweep_due(&c->order->clocks))
		causality_sweep(c->order, mark_scopes, c);
}

uint32_t scope_clocks_time(const struct scope_clocks *c, uint32_t clock, uint32_t thread)
{
	return clocks_time(&c->order->clocks, clock, thread);
}

uint32_t scope_clocks_of(const struct scope_clocks *c, uint32_t thread)
{
	return c->order->clocks.now[thread];
}

uint32_t scope_clocks_call(const struct scope_clocks *c, uint32_t thread)
{
	const GArray *open = c->scopes[thread];

	return open->len ? g_array_index(open, struct open_scope, open->len - 1).clock
	                 : scope_clocks_of(c, thread);
}

uint32_t scope_clocks_inside(const struct scope_clocks *c, uint32_t thread)
{
	for (guint i = c->scopes[thread]->len; i-- > 0;) {
		const struct open_scope *s =
		        &g_array_index(c->scopes[thread], struct open_scope, i);
		if (s->specified)
			return s->instance;
	}
	return NONE;
}
