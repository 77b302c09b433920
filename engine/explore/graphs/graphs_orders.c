/*
 * graphs_orders.c - other memory orders than the program's: the atomics of a run get them in
 * its trace, before any analysis reads it; fences that it does not have are in the graphs
 * alone. The program itself follows each graph that it is given, whatever its own orders are.
 */
#include "engine/explore/graphs/graphs.h"
#include "engine/trace/own_code.h"
#include <string.h>

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
		                        .place = g_strdup(own_code_place_name(t, event)),
		                        .variable = g_string_free(variable, FALSE) };
	g_array_append_val(r->atomics, fresh);
}

/* Memory order of a failed compare-and-exchange for a requested `order`. */
static unsigned failure_part(unsigned order)
{
	return order == ORDER_ACQ || order == ORDER_ACQ_REL ? ORDER_ACQ
	       : order == ORDER_SEQ_CST                     ? ORDER_SEQ_CST
	                                                    : ORDER_RLX;
}

const char *const explore_order_words[] = { "plain",   "relaxed", "acquire", "release",
	                                    "acq_rel", "seq_cst", NULL };

/* Could the operation be written with the order? */
static bool can_have(const struct event *e, unsigned order)
{
	bool both = order == ORDER_SEQ_CST || (order == ORDER_RLX && e->op != OP_FENCE);
	return both || e->op == OP_RMW || event_failed_update(e) ||
	       (e->op == OP_AREAD && order == ORDER_ACQ) ||
	       (e->op == OP_AWRITE && order == ORDER_REL) ||
	       (e->op == OP_FENCE && order != ORDER_RLX);
}

static bool is_meant(const struct explore_order *o, const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];
	const struct location *l = location_of(t, e);
	if (o->place == NULL)
		return o->address == l->address && o->module == l->module;
	return can_have(e, o->order) && (strcmp(trace_location_name(t, event), o->place) == 0 ||
	                                 strcmp(own_code_place_name(t, event), o->place) == 0);
}

static void apply(const GArray *orders, const struct trace *t, uint32_t event)
{
	struct event *e = (struct event *)&t->events[event]; /* the trace is ours */
	for (guint i = 0; i < orders->len; i++) {
		struct explore_order *o = &g_array_index(orders, struct explore_order, i);
		if (o->how != EXPLORE_ORDER || !is_meant(o, t, event))
			continue;
		o->met = true;
		unsigned order = event_failed_update(e) ? failure_part(o->order) : o->order;
		e->flags = (uint8_t)((e->flags & ~EVENT_ORDER_MASK) | order);
	}
}

void graphs_apply_orders(struct graphs *s, struct trace *t)
{
	const GArray *orders = s->x->options->orders;
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (t->events[e].op != OP_FENCE && !op_is_atomic(t->events[e].op))
			continue;
		note_atomic(s->x->report, t, e);
		if (orders != NULL)
			apply(orders, t, e);
	}
}

void graphs_note_orders(struct graphs *s)
{
	const GArray *orders = s->x->options->orders;
	for (guint i = 0; orders && i < orders->len; i++) {
		const struct explore_order *o = &g_array_index(orders, struct explore_order, i);
		if (o->place == NULL || o->met)
			continue;
		char *text =
		        g_strdup_printf("--order %s=%s: no run has an atomic operation there "
		                        "that can have this order",
		                        o->place, explore_order_words[o->order]);
		explore_note_incomplete(s->x, text);
		g_free(text);
	}
}

GArray *graphs_fences(const struct graphs *s)
{
	const GArray *orders = s->x->options->orders;
	GArray *fences = g_array_new(FALSE, FALSE, sizeof(struct memory_fence));
	for (guint i = 0; orders != NULL && i < orders->len; i++) {
		const struct explore_order *o = &g_array_index(orders, struct explore_order, i);
		struct memory_fence f = { o->address, o->module, o->order,
			                  o->how == EXPLORE_FENCE_AFTER };
		if (o->how != EXPLORE_ORDER)
			g_array_append_val(fences, f);
	}
	return fences;
}

/* The weakest order that is at least as strong as both. */
static unsigned joined(unsigned a, unsigned b)
{
	static const uint8_t parts[] = { 0, 0, 1, 2, 3, 7 };
	unsigned both = parts[a] | parts[b];
	return both >= parts[ORDER_SEQ_CST]   ? ORDER_SEQ_CST
	       : both == parts[ORDER_ACQ_REL] ? ORDER_ACQ_REL
	       : both == parts[ORDER_REL]     ? ORDER_REL
	       : both == parts[ORDER_ACQ]     ? ORDER_ACQ
	                                      : ORDER_RLX;
}

static void show_fence(const struct explore_order *o, const struct trace *t, struct event *e)
{
	const struct location *l = location_of(t, e);
	bool after = o->how == EXPLORE_FENCE_AFTER;
	if (o->address != l->address || o->module != l->module || !op_is_atomic(e->op) ||
	    !(after ? op_reads(e->op) : op_writes(e->op)))
		return;
	unsigned order = joined(e->flags & EVENT_ORDER_MASK, after ? ORDER_ACQ : ORDER_REL);
	e->flags = (uint8_t)((e->flags & ~EVENT_ORDER_MASK) | order);
}

uint8_t *graphs_show_fences(const struct graphs *s, struct trace *t)
{
	const GArray *orders = s->x->options->orders;
	struct event *events = (struct event *)t->events; /* the trace is ours */
	uint8_t *before = g_new(uint8_t, t->events_count + 1);
	for (uint64_t e = 0; e < t->events_count; e++) {
		before[e] = events[e].flags;
		for (guint i = 0; orders != NULL && i < orders->len; i++) {
			const struct explore_order *o =
			        &g_array_index(orders, struct explore_order, i);
			if (o->how != EXPLORE_ORDER)
				show_fence(o, t, &events[e]);
		}
	}
	return before;
}

void graphs_hide_fences(struct trace *t, uint8_t *before)
{
	struct event *events = (struct event *)t->events;
	for (uint64_t e = 0; e < t->events_count; e++)
		events[e].flags = before[e];
	g_free(before);
}
