/*
 * explore_early.c - objects (locks, conditions, semaphores, ...) that a thread may use before
 * another one initialises them.
 *
 * An initialisation is no event of the trace, but it has a place between two events of its
 * thread (struct record_init). A use that nothing but the schedule puts after it is looked for
 * before it; one that comes before it is an error. So is a plain write of the object's memory
 * (an assignment, memset) that nothing but the schedule keeps apart from a use.
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/objects/scopes.h"
#include "engine/order/order.h"
#include "engine/trace/own_code.h"

#include <string.h>

enum { NEEDED = INDEX_THREADS | INDEX_OBJECTS | INDEX_VARIABLES };

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
	return g_strdup_printf("%s early %s", own_code_place_name(t, f->event),
	                       f->other != NONE ? own_code_place_name(t, f->other) : "");
}

static void clear_early(gpointer data)
{
	g_free(((struct early *)data)->text);
}

static GArray *early_new(void)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct early));
	g_array_set_clear_func(all, clear_early);
	return all;
}

/* -- plain writes over an object ---------------------------------------------------------- */

static bool is_plain_write(const struct event *e)
{
	return op_is_access(e->op) && op_writes(e->op) && !op_is_atomic(e->op) &&
	       !(e->flags & EVENT_VOLATILE);
}

/* Is it memory that the program itself accesses by atomics: a lock of its own? */
static bool has_atomics(const struct trace *t, struct event_list list)
{
	for (uint64_t i = 0; i < list.count; i++)
		if (op_is_atomic(t->events[list.items[i]].op))
			return true;
	return false;
}

static char *over_text(const struct trace *t, uint32_t object, uint32_t write)
{
	return g_strdup_printf("%s may be used while %s writes over it at %s: what follows of "
	                       "that order is not explored",
	                       trace_string(t, t->objects[object].name),
	                       trace_thread_name(t, t->events[write].thread),
	                       own_code_place_name(t, write));
}

/* The write, and of each other thread the uses of the object nearest to it on either side. */
static void add_over(const struct exploration *x, const struct fork_order *order,
                     uint32_t object, uint32_t write, GArray *all)
{
	const struct trace *t = x->trace;
	struct event_list uses = event_list_at(&t->index->object_events, object);
	uint32_t *near = g_new(uint32_t, 2 * t->threads_count + 2);
	memset(near, 0xff, sizeof *near * (2 * t->threads_count + 2));
	for (uint64_t i = 0; i < uses.count; i++) {
		uint32_t use = uses.items[i], u = t->events[use].thread;
		if (event_inert(&t->events[use]) || !is_step(x, use))
			continue;
		if (use < write)
			near[2 * u] = use;
		else if (near[2 * u + 1] == NONE)
			near[2 * u + 1] = use;
	}
	for (uint32_t u = 0; u < t->threads_count; u++)
		for (int later = 0; later < 2; later++) {
			uint32_t use = near[2 * u + later];
			uint32_t first = later ? write : use, second = later ? use : write;
			if (use == NONE || u == t->events[write].thread ||
			    fork_ordered(order, first, second))
				continue;
			struct early early = { second, first, over_text(t, object, write) };
			g_array_append_val(all, early);
		}
	g_free(near);
}

static int by_address(gconstpointer a, gconstpointer b, gpointer trace)
{
	const struct trace *t = trace;
	uint64_t x = t->objects[*(const uint32_t *)a].address;
	uint64_t y = t->objects[*(const uint32_t *)b].address;
	return x < y ? -1 : x > y;
}

/* The first of the objects at or above the address. */
static guint first_object(const struct trace *t, const GArray *objects, uint64_t address)
{
	guint low = 0, high = objects->len;
	while (low < high) {
		guint middle = (low + high) / 2;
		if (t->objects[g_array_index(objects, uint32_t, middle)].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Plain writes over objects, where a use of another thread may come on the other side. */
static void add_overs(const struct exploration *x, const struct fork_order *order, GArray *all)
{
	const struct trace *t = x->trace;
	GArray *objects = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t o = 0; o < t->objects_count; o++)
		if (t->objects[o].address != 0)
			g_array_append_val(objects, o);
	g_array_sort_with_data(objects, by_address, (gpointer)t);
	for (uint32_t v = 0; v < t->variables_count && objects->len > 0; v++) {
		const struct variable *y = &t->variables[v];
		struct event_list list = event_list_at(&t->index->variable_events, v);
		for (guint i = first_object(t, objects, y->address); i < objects->len; i++) {
			uint32_t o = g_array_index(objects, uint32_t, i);
			if (t->objects[o].address - y->address >= y->size)
				break;
			if (t->objects[o].block != y->block || has_atomics(t, list))
				continue;
			for (uint64_t k = 0; k < list.count; k++)
				if (is_plain_write(&t->events[list.items[k]]) &&
				    is_step(x, list.items[k]))
					add_over(x, order, o, list.items[k], all);
		}
	}
	g_array_unref(objects);
}

/* -- both ---------------------------------------------------------------------------------- */

GArray *explore_find_early(const struct exploration *x, const struct plan_run *run)
{
	const struct trace *t = x->trace;
	const GArray *inits = run->facts.inits;
	if (inits == NULL || !trace_need(x->trace, NEEDED, x->progress))
		return NULL;
	GArray *all = early_new();
	struct fork_order *order = fork_order_new(t);
	add_overs(x, order, all);
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
		.key = g_strdup_printf("%s used before %s", own_code_place_name(t, use), how),
		.place = g_strdup(own_code_place_name(t, use)),
		.story = g_strdup_printf("%s uses %s before %s",
		                         trace_thread_name(t, t->events[use].thread), name, how)
	};
	return u;
}

/* Uses that happens-before does not order with a plain write over their object. */
static void add_over_uses(struct exploration *x, const struct fork_order *order,
                          GPtrArray *uses)
{
	const struct trace *t = x->trace;
	GArray *early = early_new();
	struct order *hb = NULL;
	add_overs(x, order, early);
	for (guint i = 0; i < early->len && !x->cancelled; i++) {
		const struct early *y = &g_array_index(early, struct early, i);
		bool turned = is_plain_write(&t->events[y->use]);
		uint32_t use = turned ? y->after : y->use, write = turned ? y->use : y->after;
		hb = hb != NULL ? hb : order_new(x->trace, ORDER_KIND_HB, x->progress);
		x->cancelled |= hb == NULL;
		if (hb == NULL || order_ordered(hb, y->after, y->use))
			continue;
		g_autofree char *name = explore_used_name(t, use);
		const char *place = own_code_place_name(t, write);
		explore_note_incomplete(x, y->text);
		struct explore_use *u = g_new(struct explore_use, 1);
		*u = (struct explore_use){
			.key = g_strdup_printf("%s over %s", own_code_place_name(t, use),
			                       place),
			.place = g_strdup(own_code_place_name(t, use)),
			.story = g_strdup_printf(
			        "%s uses %s, which %s writes over at %s, and "
			        "nothing orders the two",
			        trace_thread_name(t, t->events[use].thread), name,
			        trace_thread_name(t, t->events[write].thread), place)
		};
		g_ptr_array_add(uses, u);
	}
	if (hb != NULL)
		order_free(hb);
	g_array_unref(early);
}

GPtrArray *explore_find_early_uses(struct exploration *x, const struct plan_run *run)
{
	const struct trace *t = x->trace;
	const GArray *inits = run->facts.inits;
	GPtrArray *uses = g_ptr_array_new_with_free_func(explore_use_free);
	if (inits == NULL || !trace_need(x->trace, NEEDED, x->progress))
		return uses;
	struct fork_order *order = fork_order_new(t);
	add_over_uses(x, order, uses);
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
