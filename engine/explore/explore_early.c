/*
 * explore_early.c - objects (locks, conditions, semaphores, ...) that a thread may use before
 * another one initialises them.
 *
 * An initialisation is no event of the trace, but it has a place between two events of its
 * thread (struct record_init). A use that nothing but the schedule puts after it is looked for
 * before it; one that comes before it is an error.
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/objects/scopes.h"
#include "engine/order/order.h"
#include "engine/trace/own_code.h"

#include <string.h>

enum { NEEDED = INDEX_THREADS | INDEX_OBJECTS };

/* Is it a step of the run (of an execution graph: an event with an effect)? */
static bool is_step(const struct exploration *x, uint32_t event)
{
	return x->history != NULL ? g_array_index(x->history->step_of, uint32_t, event) != NONE
	                          : !event_inert(&x->trace->events[event]);
}

/* The first step of the run that comes after the initialisation in its thread or, where that
 * has no more, after its end was awaited; NONE: none. */
static uint32_t step_after(const struct exploration *x, const struct record_init *init)
{
	struct event_list mine = trace_thread_events(x->trace, init->thread);
	for (uint64_t i = 0; i < mine.count; i++)
		if (mine.items[i] >= init->before && is_step(x, mine.items[i]))
			return mine.items[i];
	for (uint32_t e = init->before; e < x->trace->events_count; e++)
		if (x->trace->events[e].op == OP_JOIN &&
		    x->trace->events[e].target == init->thread)
			return e;
	return NONE;
}

static uint32_t event_before(const struct trace *t, const struct record_init *init)
{
	struct event_list mine = trace_thread_events(t, init->thread);
	uint32_t before = t->threads[init->thread].fork;
	for (uint64_t i = 0; i < mine.count && mine.items[i] < init->before; i++)
		before = mine.items[i];
	return before;
}

/* The first use of the object by the thread; NONE: none. */
static uint32_t first_use(const struct trace *t, uint32_t object, uint32_t thread)
{
	struct event_list list = event_list_at(&t->index->object_events, object);
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *e = &t->events[list.items[i]];
		if (e->thread == thread && !event_inert(e))
			return list.items[i];
	}
	return NONE;
}

/* "main initialises it at a.c:5" */
static char *init_text(const struct trace *t, const struct plan_run *run,
                       const struct record_init *init)
{
	GString *text = g_string_new(trace_thread_name(t, init->thread));
	g_string_append(text, " initialises it");
	if (init->pc != 0) {
		g_string_append(text, " at ");
		record_describe(&run->facts, init->pc, text, NULL);
	}
	return g_string_free(text, FALSE);
}

/* Without the number of the object at its address, which is one reason for all. */
static char *gap_text(const struct trace *t, const struct plan_run *run,
                      const struct record_init *init, uint32_t use)
{
	g_autofree char *name = explore_used_name(t, use), *how = init_text(t, run, init);
	char *number = strrchr(name, '#');
	if (number != NULL)
		*number = 0;
	return g_strdup_printf(
	        "%s may be used before %s: what follows of that order is not explored", name,
	        how);
}

char *explore_early_key(const struct trace *t, const struct reversal *f)
{
	return g_strdup_printf("%s early %s", trace_location_name(t, f->event),
	                       f->other != NONE ? trace_location_name(t, f->other) : "");
}

static void clear_early(gpointer data)
{
	g_free(((struct early *)data)->text);
}

GArray *explore_find_early(const struct exploration *x, const struct plan_run *run)
{
	const struct trace *t = x->trace;
	const GArray *inits = run->facts.inits;
	if (inits == NULL || inits->len == 0 || !trace_need(x->trace, NEEDED, x->progress))
		return NULL;
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct early));
	g_array_set_clear_func(all, clear_early);
	struct fork_order *order = fork_order_new(t);
	for (guint i = 0; i < inits->len; i++) {
		const struct record_init *init = &g_array_index(inits, struct record_init, i);
		uint32_t after = init->object != NONE ? step_after(x, init) : NONE;
		for (uint32_t u = 0; u < t->threads_count && init->object != NONE; u++) {
			uint32_t use = u != init->thread ? first_use(t, init->object, u) : NONE;
			if (use == NONE || after == use || !is_step(x, use) ||
			    (after != NONE && fork_ordered(order, after, use)))
				continue;
			struct early early = { use, after, gap_text(t, run, init, use) };
			g_array_append_val(all, early);
		}
	}
	fork_order_free(order);
	return all;
}

bool explore_note_unordered_uses(struct exploration *x, const struct plan_run *run)
{
	GArray *early = explore_find_early(x, run);
	if (early == NULL)
		return true;
	struct order *order =
	        early->len > 0 ? order_new(x->trace, ORDER_KIND_HB, x->progress) : NULL;
	x->cancelled |= early->len > 0 && order == NULL;
	for (guint i = 0; order != NULL && i < early->len; i++) {
		const struct early *y = &g_array_index(early, struct early, i);
		if (y->after == NONE || !order_ordered(order, y->after, y->use))
			explore_note_incomplete(x, y->text);
	}
	if (order != NULL)
		order_free(order);
	g_array_unref(early);
	return !x->cancelled;
}

static struct explore_use *early_use(const struct trace *t, const struct plan_run *run,
                                     const struct record_init *init, uint32_t use)
{
	struct explore_use *u = g_new(struct explore_use, 1);
	g_autofree char *name = explore_used_name(t, use), *how = init_text(t, run, init);
	*u = (struct explore_use){
		.key = g_strdup_printf("%s used before %s", trace_location_name(t, use), how),
		.place = g_strdup(own_code_place_name(t, use)),
		.story = g_strdup_printf("%s uses %s before %s",
		                         trace_thread_name(t, t->events[use].thread), name, how)
	};
	return u;
}

GPtrArray *explore_find_early_uses(struct exploration *x, const struct plan_run *run)
{
	const struct trace *t = x->trace;
	const GArray *inits = run->facts.inits;
	GPtrArray *uses = g_ptr_array_new_with_free_func(explore_use_free);
	if (inits == NULL || inits->len == 0 || !trace_need(x->trace, NEEDED, x->progress))
		return uses;
	struct fork_order *order = fork_order_new(t);
	for (guint i = 0; i < inits->len; i++) {
		const struct record_init *init = &g_array_index(inits, struct record_init, i);
		uint32_t before = init->previous != NONE ? event_before(t, init) : NONE;
		for (uint32_t u = 0; u < t->threads_count && init->previous != NONE; u++) {
			uint32_t use =
			        u != init->thread ? first_use(t, init->previous, u) : NONE;
			if (use == NONE || use >= init->before ||
			    (before != NONE && fork_ordered(order, use, before)))
				continue;
			g_autofree char *gap = gap_text(t, run, init, use);
			explore_note_incomplete(x, gap);
			g_ptr_array_add(uses, early_use(t, run, init, use));
		}
	}
	fork_order_free(order);
	return uses;
}
