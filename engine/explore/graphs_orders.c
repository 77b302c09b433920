/*
 * graphs_orders.c - other memory orders than the program's: the atomics of a run get them in
 * its trace, before anything looks at it. The program itself follows each graph that it is
 * told, whatever its orders are.
 */
#include "engine/explore/graphs.h"

static const struct location *location_of(const struct trace *t, const struct event *e)
{
	return &t->locations[e->location];
}

static void note_atomic(struct explore_report *r, const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];
	const struct location *l = location_of(t, e);
	for (guint i = 0; i < r->atomics->len; i++) {
		struct explore_atomic *a = &g_array_index(r->atomics, struct explore_atomic, i);
		if (a->address != l->address || a->module != l->module)
			continue;
		a->compares |= event_failed_update(e);
		if (e->op == OP_RMW && a->op != OP_RMW) {
			a->op = OP_RMW;
			a->order = e->flags & EVENT_ORDER_MASK;
		}
		return;
	}
	GString *variable = g_string_new(NULL);
	if (e->op != OP_FENCE)
		trace_append_variable(t, e, variable);
	struct explore_atomic fresh = { .address = l->address,
		                        .module = l->module,
		                        .op = e->op,
		                        .order = e->flags & EVENT_ORDER_MASK,
		                        .compares = event_failed_update(e),
		                        .place = g_strdup(trace_location_name(t, event)),
		                        .variable = g_string_free(variable, FALSE) };
	g_array_append_val(r->atomics, fresh);
}

/* What a failed compare-and-exchange has of the order. */
static unsigned failure_part(unsigned order)
{
	return order == ORDER_ACQ || order == ORDER_ACQ_REL ? ORDER_ACQ
	       : order == ORDER_SEQ_CST                     ? ORDER_SEQ_CST
	                                                    : ORDER_RLX;
}

static void apply(const GArray *orders, const struct trace *t, struct event *e)
{
	const struct location *l = location_of(t, e);
	for (guint i = 0; i < orders->len; i++) {
		const struct explore_order *o = &g_array_index(orders, struct explore_order, i);
		if (o->address != l->address || o->module != l->module)
			continue;
		unsigned order = event_failed_update(e) ? failure_part(o->order) : o->order;
		e->flags = (uint8_t)((e->flags & ~EVENT_ORDER_MASK) | order);
	}
}

void graphs_apply_orders(struct graphs *s, struct trace *t)
{
	const GArray *orders = s->x->options->orders;
	struct event *events = (struct event *)t->events; /* the trace is ours */
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (events[e].op != OP_FENCE && !op_is_atomic(events[e].op))
			continue;
		note_atomic(s->x->report, t, e);
		if (orders != NULL)
			apply(orders, t, &events[e]);
	}
}
