/*
 * rdit.c - must-orders of barrier pairs.
 *
 * For each address, the events of all barrier pairs that may reach it keep their order, so they
 * form a chain; an access to it is ordered between its neighbours on the chain. Linear in the
 * events of barrier pairs times their addresses, and in the accesses to these.
 */
#include "engine/partial/rdit.h"

#include "engine/partial/calls.h"
#include "engine/trace/tries.h"

#include <string.h>

/* Of an address, by an event. */
struct address_touch {
	uint32_t address, event;
	bool barrier; /* in a barrier pair that names it; else an access to it or a part of it
	               */
};

/* Addresses that contain a name: a range of collector.within. */
struct address_span {
	uint32_t first, count;
	bool known;
};

struct containing_address {
	uint32_t address;
	bool whole; /* equal, not only a part */
};

struct collector {
	const struct trace *t;
	GHashTable *addresses; /* text -> number + 1; keys borrowed from the trace */
	GArray *within;        /* struct containing_address */
	struct address_span *variables, *objects; /* by index; looked up once */
	GArray *touches;                          /* struct address_touch */
	GArray *edges;                            /* struct must_edge */
	GHashTable *known;                        /* edges as numbers, to find duplicates */
};

/* -- addresses ------------------------------------------------------------------------- */

static bool is_missing(const struct trace *t, uint32_t e)
{
	return t->events[e].op == OP_MISS && !event_inert(&t->events[e]);
}

static void name_addresses(struct collector *c)
{
	for (uint32_t e = 0; e < c->t->events_count; e++) {
		if (!is_missing(c->t, e))
			continue;
		struct event_list reached = missing_reach(c->t, e);
		for (uint64_t i = 0; i < reached.count; i++) {
			const char *text = missing_address(c->t, reached.items[i]);

			if (text != NULL && !g_hash_table_contains(c->addresses, text))
				g_hash_table_insert(
				        c->addresses, (gpointer)text,
				        GUINT_TO_POINTER(g_hash_table_size(c->addresses) + 1));
		}
	}
}

static void note_within(const char *text, bool whole, void *context)
{
	struct collector *c = context;
	gpointer number = g_hash_table_lookup(c->addresses, text);

	if (number != NULL) {
		struct containing_address new = { GPOINTER_TO_UINT(number) - 1, whole };

		g_array_append_val(c->within, new);
	}
}

static struct address_span span_of(struct collector *c, const char *name)
{
	struct address_span span = { c->within->len, 0, true };

	missing_name_within(name, note_within, c);
	span.count = c->within->len - span.first;
	return span;
}

/* The event touches every address of the span. A barrier pair that reaches only a part of an
 * address is ordered with pairs that reach all of it, but not with others of its kind; in this
 * it equals an access. */
static void add_touches(struct collector *c, struct address_span span, uint32_t e, bool barrier)
{
	for (uint32_t i = span.first; i < span.first + span.count; i++) {
		const struct containing_address *w =
		        &g_array_index(c->within, struct containing_address, i);
		struct address_touch new = { w->address, e, barrier && w->whole };

		g_array_append_val(c->touches, new);
	}
}

/* -- events at addresses ------------------------------------------------------------------ */

/* All events of the barrier pair; without `back`, until the thread's end. */
static void touch_barrier(struct collector *c, uint32_t miss)
{
	const struct trace *t = c->t;
	struct event_list list = trace_thread_events(t, t->events[miss].thread);
	struct event_list reached = missing_reach(t, miss);
	uint32_t back = t->index->partner[miss];
	uint64_t end = back == NONE ? list.count : t->index->position[back] + 1;

	for (uint64_t i = 0; i < reached.count; i++) {
		const char *text = missing_address(t, reached.items[i]);
		struct address_span span = { 0 };

		if (text != NULL)
			span = span_of(c, text);
		for (uint64_t k = t->index->position[miss]; k < end; k++)
			add_touches(c, span, list.items[k], true);
	}
}

static void touch_variables(struct collector *c, const struct event *x, uint32_t e)
{
	struct wide run = event_variables(c->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (!c->variables[v].known)
			c->variables[v] = span_of(c, trace_variable_name(c->t, v));
		add_touches(c, c->variables[v], e, false);
	}
}

static void touch_event(struct collector *c, uint32_t e)
{
	const struct trace *t = c->t;
	const struct event *x = &t->events[e];

	if (event_inert(x))
		return;
	if (op_is_access(x->op))
		touch_variables(c, x, e);
	if (op_table[x->op].operand == OPERAND_OBJECT) {
		if (!c->objects[x->target].known)
			c->objects[x->target] =
			        span_of(c, trace_string(t, t->objects[x->target].name));
		add_touches(c, c->objects[x->target], e, false);
	}
	if (x->op == OP_END)
		add_touches(c, span_of(c, trace_string(t, t->threads[x->thread].name)), e,
		            false);
}

static bool collect_touches(struct collector *c, const struct progress *progress)
{
	name_addresses(c);
	if (g_hash_table_size(c->addresses) == 0)
		return true;
	for (uint32_t e = 0; e < c->t->events_count; e++) {
		if (is_missing(c->t, e))
			touch_barrier(c, e);
		touch_event(c, e);
		if (e % 65536 == 0 &&
		    !progress_tick(progress, (double)e / (double)c->t->events_count,
		                   "missing code"))
			return false;
	}
	return true;
}

/* -- chains ---------------------------------------------------------------------------- */

static gint touch_compare(gconstpointer a, gconstpointer b)
{
	const struct address_touch *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return y->barrier - x->barrier; /* a barrier's event first */
}

static void add_edge(struct collector *c, uint32_t before, uint32_t after)
{
	struct must_edge edge = { before, after, NONE, MUST_MISSING };
	uint64_t key = (uint64_t)before << 32 | after;

	if (before == NONE || c->t->events[before].thread == c->t->events[after].thread ||
	    g_hash_table_contains(c->known, &key))
		return;
	g_hash_table_add(c->known, g_memdup2(&key, sizeof(key)));
	g_array_append_val(c->edges, edge);
}

/* Of one address and thread: accesses since the chain's last event. */
struct chain_accesses {
	uint32_t since; /* that event + 2 (1: before the chain); 0: no access */
	uint32_t last;  /* latest access of the chain */
};

/* Edges of one address: from each event of the chain to the next; from accesses since the
 * previous event of the chain to the next one; from the chain's last event to each access. A
 * thread's accesses between two events of the chain need edges for the first and last only. */
static void chain_edges(struct collector *c, const struct address_touch *touches, guint count,
                        struct chain_accesses *of)
{
	uint32_t last = NONE;

	memset(of, 0, c->t->threads_count * sizeof(*of));
	for (guint i = 0; i < count; i++) {
		uint32_t e = touches[i].event;
		struct chain_accesses *mine = &of[c->t->events[e].thread];

		if (i > 0 && touches[i - 1].event == e)
			continue;
		if (!touches[i].barrier) {
			if (mine->since != last + 2)
				add_edge(c, last, e);
			*mine = (struct chain_accesses){ last + 2, e }; /* NONE + 2 is 1 */
			continue;
		}
		add_edge(c, last, e);
		for (uint64_t u = 0; u < c->t->threads_count; u++) {
			if (of[u].since == last + 2)
				add_edge(c, of[u].last, e);
		}
		last = e;
	}
}

GArray *rdit_edges(struct trace *t, const struct progress *progress)
{
	struct collector c = { .t = t };

	if (!trace_need(t, INDEX_THREADS | INDEX_MATCH, progress))
		return NULL;
	c.addresses = g_hash_table_new(g_str_hash, g_str_equal);
	c.within = g_array_new(FALSE, FALSE, sizeof(struct containing_address));
	c.variables = g_new0(struct address_span, t->variables_count + 1);
	c.objects = g_new0(struct address_span, t->objects_count + 1);
	c.touches = g_array_new(FALSE, FALSE, sizeof(struct address_touch));
	c.edges = g_array_new(FALSE, FALSE, sizeof(struct must_edge));
	c.known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	bool good = collect_touches(&c, progress);
	g_autofree struct chain_accesses *of =
	        g_new(struct chain_accesses, t->threads_count + 1);
	g_array_sort(c.touches, touch_compare);
	for (guint i = 0, end; good && i < c.touches->len; i = end) {
		const struct address_touch *touches = (const void *)c.touches->data;

		for (end = i;
		     end < c.touches->len && touches[end].address == touches[i].address;)
			end++;
		chain_edges(&c, touches + i, end - i, of);
	}
	g_hash_table_destroy(c.addresses);
	g_hash_table_destroy(c.known);
	g_array_free(c.touches, TRUE);
	g_array_free(c.within, TRUE);
	g_free(c.variables);
	g_free(c.objects);
	if (good)
		return c.edges;
	g_array_free(c.edges, TRUE);
	return NULL;
}

/* -- the view -------------------------------------------------------------------------- */

static gint by_after(gconstpointer a, gconstpointer b)
{
	const struct must_edge *x = a, *y = b;

	if (x->after != y->after)
		return x->after < y->after ? -1 : 1;
	return x->before < y->before ? -1 : x->before > y->before;
}

static gint by_before(gconstpointer a, gconstpointer b, gpointer edges)
{
	const struct must_edge *x = (const struct must_edge *)edges + *(const uint32_t *)a;
	const struct must_edge *y = (const struct must_edge *)edges + *(const uint32_t *)b;

	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	return x->after < y->after ? -1 : x->after > y->after;
}

struct trace *trace_view_missing(struct trace *t, const struct progress *progress)
{
	if (!trace_need(t, INDEX_ALL, progress))
		return NULL;
	GArray *edges = rdit_edges(t, progress);
	if (edges == NULL)
		return NULL;
	g_array_append_vals(edges, t->index->must, (guint)t->index->must_count);
	g_array_sort(edges, by_after);
	uint32_t *order = g_new(uint32_t, edges->len + 1);
	for (uint32_t i = 0; i < edges->len; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)edges->len, sizeof(*order), by_before, edges->data);
	trace_tries(t); /* the index below borrows it */
	struct trace *view = g_memdup2(t, sizeof(*t));
	view->index = g_memdup2(t->index, sizeof(*t->index));
	view->index->must_count = edges->len;
	view->index->must = (const void *)g_array_free(edges, FALSE);
	view->index->must_by_before = order;
	return view;
}

void trace_view_free(struct trace *view)
{
	if (view == NULL)
		return;
	g_free((void *)view->index->must);
	g_free((void *)view->index->must_by_before);
	g_free(view->index);
	g_free(view);
}
