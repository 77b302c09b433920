/*
 * rdit.c - must-orders of barrier pairs.
 *
 * For each address, the events of all barrier pairs that may reach it keep their order, so they
 * form a chain; an access to it is ordered between its neighbours on the chain. One walk,
 * linear in the events of barrier pairs times their addresses, and in the accesses to these;
 * memory grows with the addresses alone.
 */
#include "engine/partial/rdit.h"

#include "engine/base/search.h"
#include "engine/partial/calls.h"
#include "engine/trace/stems.h"
#include "engine/trace/tries.h"

/* A thread's latest access of an address. */
struct chain_access {
	uint32_t thread, event;
};

/* The chain of an address: the barrier pairs' events that may reach it, in their order. */
struct chain {
	uint32_t last;    /* its last event so far, or NONE */
	uint32_t touched; /* the last event of either kind, so that each counts once */
	GArray *since;    /* struct chain_access, by thread: accesses after `last`; or NULL */
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

/* A barrier pair, and the memory that its call may reach. */
struct open_pair {
	uint32_t function; /* the target of its first event, and of its last one */
	GArray *spans;     /* struct address_span */
};

struct collector {
	const struct trace *t;
	GHashTable *addresses; /* text -> number + 1; keys borrowed from the trace */
	struct stems *stems;   /* of the addresses */
	GArray *within;        /* struct containing_address */
	/* Spans by index, and by value for arguments of calls; each is looked up once. */
	struct address_span *variables, *objects, *values;
	struct chain *chains; /* by address */
	GArray **open;        /* by thread: struct open_pair, nested; or NULL */
	GArray *edges;        /* struct must_edge */
	/* By thread, the last edge from it, as most events of a chain are neighbours on other
	 * chains, too; and the set of all edges, as numbers. */
	struct must_edge *latest;
	GHashTable *known;
};

/* -- addresses ------------------------------------------------------------------------- */

static bool is_missing(const struct trace *t, uint32_t e)
{
	return t->events[e].op == OP_MISS && !event_inert(&t->events[e]);
}

/* The addresses in all lists of the trace, which are those that calls may reach. (An address
 * that no call reaches has a chain without an event.) */
static void name_addresses(struct collector *c)
{
	g_autofree bool *named = g_new0(bool, c->t->values_count + 1);

	for (uint32_t v = 0; v < c->t->values_count; v++) {
		const struct value list = trace_value(c->t, v);

		for (uint32_t i = 0; list.kind == V_LIST && i < list.count; i++) {
			uint32_t item = c->t->value_lists[list.first + i];
			if (item & VALUE_INTEGER || named[item])
				continue;
			named[item] = true;
			const char *text = missing_address(c->t, item);
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

/* -- chains ---------------------------------------------------------------------------- */

static void add_edge(struct collector *c, uint32_t before, uint32_t after)
{
	struct must_edge edge = { before, after, NONE, MUST_MISSING };
	uint64_t key = (uint64_t)before << 32 | after;

	if (before == NONE)
		return;
	uint32_t thread = c->t->events[before].thread;
	struct must_edge *latest = &c->latest[thread];
	if (thread == c->t->events[after].thread ||
	    (latest->before == before && latest->after == after))
		return;
	*latest = edge;
	if (g_hash_table_contains(c->known, &key))
		return;
	g_hash_table_add(c->known, g_memdup2(&key, sizeof(key)));
	g_array_append_val(c->edges, edge);
}

/* Edges of an event of the chain: from the one before, and from the accesses since. */
static void extend_chain(struct collector *c, struct chain *chain, uint32_t e)
{
	add_edge(c, chain->last, e);
	for (guint i = 0; chain->since && i < chain->since->len; i++)
		add_edge(c, g_array_index(chain->since, struct chain_access, i).event, e);
	if (chain->since)
		g_array_set_size(chain->since, 0);
	chain->last = e;
}

/* An edge from the chain's last event to the thread's first access since; its last one is kept
 * for the next event. */
static void access_chain(struct collector *c, struct chain *chain, uint32_t e)
{
	struct chain_access new = { c->t->events[e].thread, e };

	if (chain->since == NULL)
		chain->since = g_array_new(FALSE, FALSE, sizeof(new));
	struct chain_access *since = (struct chain_access *)chain->since->data;
	guint at = search_end(i, 0, chain->since->len, since[i].thread < new.thread);
	if (at < chain->since->len && since[at].thread == new.thread) {
		since[at].event = e;
		return;
	}
	add_edge(c, chain->last, e);
	g_array_insert_val(chain->since, at, new);
}

/* The event touches every address of the span. A barrier pair that reaches only a part of an
 * address is ordered with pairs that reach all of it, but not with others of its kind; in
 * this it equals an access. So the addresses that an event touches as a barrier come first. */
static void touch(struct collector *c, struct address_span span, uint32_t e, bool pair,
                  bool barrier)
{
	for (uint32_t i = span.first; i < span.first + span.count; i++) {
		const struct containing_address *w =
		        &g_array_index(c->within, struct containing_address, i);
		struct chain *chain = &c->chains[w->address];

		if ((pair && w->whole) != barrier || chain->touched == e)
			continue;
		chain->touched = e;
		if (barrier)
			extend_chain(c, chain, e);
		else
			access_chain(c, chain, e);
	}
}

/* -- events at addresses ------------------------------------------------------------------ */

static void open_pair_free(struct open_pair *pair)
{
	g_array_free(pair->spans, TRUE);
}

static void begin_pair(struct collector *c, uint32_t miss)
{
	const struct trace *t = c->t;
	GArray **open = &c->open[t->events[miss].thread];
	struct event_list reached = missing_reach(t, miss);
	struct open_pair new = { t->events[miss].target,
		                 g_array_new(FALSE, FALSE, sizeof(struct address_span)) };

	for (uint64_t i = 0; i < reached.count; i++) {
		struct address_span *span = &c->values[reached.items[i]];

		if (!span->known) {
			const char *text = missing_address(t, reached.items[i]);
			*span = text ? span_of(c, text)
			             : (struct address_span){ .known = true };
		}
		if (span->count > 0)
			g_array_append_val(new.spans, *span);
	}
	if (*open == NULL)
		*open = g_array_new(FALSE, FALSE, sizeof(struct open_pair));
	g_array_append_val(*open, new);
}

static void touch_pairs(struct collector *c, const GArray *open, uint32_t e, bool barrier)
{
	for (guint i = 0; open && i < open->len; i++) {
		const GArray *spans = g_array_index(open, struct open_pair, i).spans;

		for (guint k = 0; k < spans->len; k++)
			touch(c, g_array_index(spans, struct address_span, k), e, true,
			      barrier);
	}
}

/* Ends the innermost pair of the function. */
static void end_pair(GArray *open, uint32_t function)
{
	for (guint i = open ? open->len : 0; i-- > 0;) {
		struct open_pair *pair = &g_array_index(open, struct open_pair, i);

		if (pair->function != function)
			continue;
		open_pair_free(pair);
		g_array_remove_index(open, i);
		return;
	}
}

static void touch_variables(struct collector *c, const struct event *x, uint32_t e)
{
	struct wide run = event_variables(c->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (!c->variables[v].known)
			c->variables[v] = stems_may_begin(c->stems, v)
			                          ? span_of(c, trace_variable_name(c->t, v))
			                          : (struct address_span){ .known = true };
		touch(c, c->variables[v], e, false, false);
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
		touch(c, c->objects[x->target], e, false, false);
	}
	if (x->op == OP_END)
		touch(c, span_of(c, trace_string(t, t->threads[x->thread].name)), e, false,
		      false);
}

static bool walk_chains(struct collector *c, const struct progress *progress)
{
	for (uint32_t e = 0; e < c->t->events_count; e++) {
		const struct event *x = &c->t->events[e];

		if (is_missing(c->t, e))
			begin_pair(c, e);
		GArray *open = c->open[x->thread];
		touch_pairs(c, open, e, true);
		touch_pairs(c, open, e, false);
		touch_event(c, e);
		if (x->op == OP_BACK && !event_inert(x))
			end_pair(open, x->target);
		if (e % 65536 == 0 &&
		    !progress_tick(progress, (double)e / (double)c->t->events_count,
		                   "missing code"))
			return false;
	}
	return true;
}

GArray *rdit_edges(struct trace *t, const struct progress *progress)
{
	struct collector c = { .t = t };

	c.addresses = g_hash_table_new(g_str_hash, g_str_equal);
	c.within = g_array_new(FALSE, FALSE, sizeof(struct containing_address));
	c.variables = g_new0(struct address_span, t->variables_count + 1);
	c.objects = g_new0(struct address_span, t->objects_count + 1);
	c.values = g_new0(struct address_span, t->values_count + 1);
	c.open = g_new0(GArray *, t->threads_count + 1);
	c.latest = g_new0(struct must_edge, t->threads_count + 1);
	c.edges = g_array_new(FALSE, FALSE, sizeof(struct must_edge));
	c.known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	name_addresses(&c);
	uint32_t addresses = g_hash_table_size(c.addresses);
	g_autofree const char **texts =
	        (const char **)g_hash_table_get_keys_as_array(c.addresses, NULL);
	c.stems = stems_new(t, texts);
	c.chains = g_new(struct chain, addresses + 1);
	for (uint32_t i = 0; i < addresses; i++)
		c.chains[i] = (struct chain){ NONE, NONE, NULL };
	bool good = addresses == 0 || walk_chains(&c, progress);
	for (uint32_t i = 0; i < addresses; i++) {
		if (c.chains[i].since)
			g_array_free(c.chains[i].since, TRUE);
	}
	for (uint32_t u = 0; u < t->threads_count; u++) {
		for (guint i = 0; c.open[u] && i < c.open[u]->len; i++)
			open_pair_free(&g_array_index(c.open[u], struct open_pair, i));
		if (c.open[u])
			g_array_free(c.open[u], TRUE);
	}
	stems_free(c.stems);
	g_hash_table_destroy(c.addresses);
	g_hash_table_destroy(c.known);
	g_array_free(c.within, TRUE);
	g_free(c.variables);
	g_free(c.objects);
	g_free(c.values);
	g_free(c.chains);
	g_free(c.open);
	g_free(c.latest);
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

struct trace *trace_view_missing(struct trace *t, unsigned parts,
                                 const struct progress *progress)
{
	if (!trace_need(t, parts | INDEX_MUST, progress))
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
	trace_tries(t); /* built first: the index below borrows it */
	struct trace *view = g_memdup2(t, sizeof(*t));
	view->index = g_memdup2(t->index, sizeof(*t->index));
	view->index->whole = t;
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
