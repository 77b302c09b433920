/*
 * order.c - queries on the partial order of a whole trace: is e before f, by which chain, and
 * the vector clock of an event.
 *
 * Answers come from the regions and edges of a kept walk (causality.h).
 */
#include "engine/order/order_private.h"
#include "engine/base/search.h"

#include <string.h>

static const struct {
	const char *word, *title;
} kinds[ORDER_KIND_COUNT] = {
#define O(name, word, title) [ORDER_KIND_##name] = { word, title },
	ORDERS(O)
#undef O
};

bool order_kind_from_word(const char *word, enum order_kind *kind)
{
	for (int i = 0; i < ORDER_KIND_COUNT; i++) {
		if (strcmp(word, kinds[i].word) == 0) {
			*kind = (enum order_kind)i;
			return true;
		}
	}
	return false;
}

const char *order_kind_word(enum order_kind kind)
{
	return kinds[kind].word;
}

const char *order_kind_title(enum order_kind kind)
{
	return kinds[kind].title;
}

struct order {
	enum order_kind kind;
	struct causality *c;
};

static struct order *order_of(enum order_kind kind, struct causality *c)
{
	struct order *order;

	if (c == NULL)
		return NULL;
	order = g_new0(struct order, 1);
	order->kind = kind;
	order->c = c;
	return order;
}

struct order *order_new(struct trace *t, enum order_kind kind, const struct progress *progress)
{
	BUG_ON(kind == ORDER_KIND_EDC); /* edc_order_new: it needs the specifications */
	return order_of(kind, kind == ORDER_KIND_CP
	                              ? cp_walk(t, progress)
	                              : causality_walk(t, kind, KEEP_EDGES, NULL, progress));
}

struct order *order_new_fixed(struct trace *t, const struct progress *progress)
{
	return order_of(ORDER_KIND_PO,
	                causality_walk(t, ORDER_KIND_FIXED, KEEP_EDGES, NULL, progress));
}

struct order *order_new_lasting(struct trace *t, const struct progress *progress)
{
	return order_of(ORDER_KIND_PO,
	                causality_walk(t, ORDER_KIND_LASTING, KEEP_EDGES, NULL, progress));
}

struct order *order_new_edc(struct trace *t, const struct order_touches *touches,
                            GHashTable *sections, const struct progress *progress)
{
	g_autoptr(GArray) edges = edc_edges(t, touches, sections, progress);

	if (edges == NULL)
		return NULL;
	struct causality *c = causality_walk(t, ORDER_KIND_EDC, KEEP_EDGES, edges, progress);
	return order_of(ORDER_KIND_EDC, c);
}

void order_free(struct order *order)
{
	if (order == NULL)
		return;
	causality_free(order->c);
	g_free(order);
}

enum order_kind order_kind(const struct order *order)
{
	return order->kind;
}

/* -- events before an event --------------------------------------------------------------- */

static uint32_t thread_of(const struct causality *c, uint32_t event)
{
	return c->t->events[event].thread;
}

static uint32_t clock_of(const struct causality *c, uint32_t event, bool unobserved)
{
	const struct sync_region *s = causality_region(c, event);

	if (unobserved && s != NULL && s->start == event)
		return s->unobserved;
	return s == NULL ? 0 : s->clock;
}

/* The component of plane 0 (or of the last plane, `strong`) of a clock. */
static uint32_t time_of(const struct causality *c, uint32_t clock, bool strong, uint32_t thread)
{
	return (strong ? clocks_strong_time : clocks_time)(&c->clocks, clock, thread);
}

struct clock_view order_past(const struct order *order, uint32_t f, bool unobserved)
{
	return clocks_view(&order->c->clocks, clock_of(order->c, f, unobserved));
}

const struct clocks *order_clocks(const struct order *order)
{
	return &order->c->clocks;
}

/* -- of some events alone ------------------------------------------------------------------ */

struct order_pasts {
	struct causality *c;
	const uint32_t *events; /* borrowed */
	uint32_t *clocks;       /* by index of `events`, for those that the walk has passed */
	uint64_t count, passed;
};

static void mark_pasts(void *context, struct clocks *clocks)
{
	const struct order_pasts *p = context;

	for (uint64_t i = 0; i < p->passed; i++)
		clocks_mark(clocks, p->clocks[i]);
}

struct order_pasts *order_pasts_new(struct trace *t, enum order_kind kind,
                                    const uint32_t *events, uint64_t count,
                                    const struct progress *progress)
{
	enum { AHEAD = 16 };
	struct order_pasts *p = g_new0(struct order_pasts, 1);

	p->events = events;
	p->count = count;
	p->clocks = g_new(uint32_t, count + 1);
	p->c = causality_new(t, kind, KEEP_REGIONS, progress);
	bool done = p->c != NULL;
	for (uint32_t e = 0; done && p->passed < count; e++) {
		if (G_UNLIKELY((e & 0xfffff) == 0))
			done = progress_tick(progress, (double)e / (double)t->events_count,
			                     "partial order");
		bool asked = events[p->passed] == e;
		if (G_LIKELY(e + AHEAD < t->events_count))
			causality_ahead(p->c, &t->events[e + AHEAD]);
		if (G_UNLIKELY(asked))
			causality_step(p->c, e);
		else
			causality_walk_one(p->c, e, &t->events[e]);
		if (G_UNLIKELY(asked))
			p->clocks[p->passed++] = p->c->unobserved;
		if (clocks_sweep_due(&p->c->clocks))
			causality_sweep(p->c, mark_pasts, p);
	}
	if (!done)
		g_clear_pointer(&p, order_pasts_free);
	return p;
}

void order_pasts_free(struct order_pasts *p)
{
	if (p == NULL)
		return;
	causality_free(p->c);
	g_free(p->clocks);
	g_free(p);
}

void order_pasts_join(const struct order_pasts *p, uint32_t event, uint32_t *to)
{
	uint64_t at = search_end(i, (uint64_t)0, p->count, p->events[i] < event);

	BUG_ON(at == p->count || p->events[at] != event);
	clocks_join_into(&p->c->clocks, p->clocks[at], to);
}

static bool is_before(const struct order *order, uint32_t e, uint32_t f, bool unobserved)
{
	if (e >= f)
		return false;
	if (thread_of(order->c, e) == thread_of(order->c, f))
		return true;
	return time_of(order->c, clock_of(order->c, f, unobserved), true,
	               thread_of(order->c, e)) > e;
}

bool order_ordered(const struct order *order, uint32_t e, uint32_t f)
{
	return is_before(order, e, f, false);
}

bool order_ordered_unobserved(const struct order *order, uint32_t e, uint32_t f)
{
	return is_before(order, e, f, true);
}

void order_clock(const struct order *order, uint32_t e, uint32_t *clock)
{
	const struct causality *c = order->c;
	struct clock_view past = order_past(order, e, false);

	for (uint32_t u = 0; u < c->clocks.threads; u++)
		clock[u] = trace_events_before(
		        c->t, u, u == thread_of(c, e) ? e + 1 : view_time(past, u));
}

uint32_t order_last_before(const struct order *order, uint32_t e, uint32_t f)
{
	const struct trace *t = order->c->t;
	uint32_t thread = t->events[e].thread;
	uint32_t limit = t->events[f].thread == thread
	                         ? f
	                         : view_time(order_past(order, f, false), thread);
	uint32_t count = trace_events_before(t, thread, limit);

	return count == 0 ? NONE : trace_thread_events(t, thread).items[count - 1];
}

/* -- the chain between two events --------------------------------------------------------- */

/*
 * Search for a chain, backwards from f: the first event of the current thread that is ordered
 * after `e`, the edge into it that caused this, and so on from the edge's source. With two
 * planes, the order's own relation is followed until a base edge, and happens-before from
 * there.
 */
struct path_search {
	const struct causality *c;
	uint32_t e;
	bool strong; /* a base edge is still needed before `at` */
	uint32_t at;
};

static bool is_after(const struct causality *c, uint32_t event, uint32_t e, bool strong)
{
	if (!strong && thread_of(c, event) == thread_of(c, e))
		return event >= e;
	return time_of(c, clock_of(c, event, false), strong, thread_of(c, e)) > e;
}

/* First event of at's thread, up to `at`, that is ordered after e. */
static uint32_t first_after(const struct path_search *s)
{
	const struct sync_regions *list = &s->c->regions[thread_of(s->c, s->at)];
	/* clocks only grow */
	uint32_t first = search_end(
	        i, 0u, list->count,
	        time_of(s->c, list->of[i].clock, s->strong, thread_of(s->c, s->e)) <= s->e);

	return list->of[first].start;
}

static uint32_t first_edge_into(const GArray *edges, uint32_t event)
{
	return search_end(i, 0, edges->len, g_array_index(edges, struct edge, i).to < event);
}

/* The same among must-orders that the walk joined together, without an edge each. */
static struct edge shared_from_past(struct path_search *s, uint32_t at)
{
	struct must_sources sources = must_sources(s->c->t, at);
	struct must_edge must;

	while (must_sources_next(&sources, &must)) {
		if (must_is_shared(must.rule) &&
		    (must.before == s->e || is_after(s->c, must.before, s->e, false))) {
			s->strong = false;
			return (struct edge){ must.before, at, must.rule, STEP_MUST, true };
		}
	}
	BUG("no edge orders event %u after event %u", at, s->e);
}

/* The edge into `at` whose source is ordered after e (or is e); updates s->strong. */
static struct edge edge_from_past(struct path_search *s, uint32_t at)
{
	const GArray *edges = s->c->edges;
	bool two_planes = s->c->clocks.planes == 2;

	for (uint32_t i = first_edge_into(edges, at); i < edges->len; i++) {
		const struct edge *edge = &g_array_index(edges, struct edge, i);
		bool strong = s->strong && two_planes && !edge->base;

		if (edge->to != at)
			break;
		if (edge->from == s->e ? !strong : is_after(s->c, edge->from, s->e, strong)) {
			s->strong = strong;
			return *edge;
		}
	}
	return shared_from_past(s, at);
}

static void steps_reverse(GArray *steps)
{
	for (guint i = 0, j = steps->len; i + 1 < j; i++) {
		struct step *a = &g_array_index(steps, struct step, i);
		struct step *b = &g_array_index(steps, struct step, --j), kept = *a;

		*a = *b;
		*b = kept;
	}
}

bool order_path(const struct order *order, uint32_t e, uint32_t f, struct path *path)
{
	struct path_search s = { order->c, e, order->c->clocks.planes == 2, f };

	if (!order_ordered(order, e, f))
		return false;
	if (thread_of(s.c, e) == thread_of(s.c, f)) {
		path_add(path, e, f, STEP_PROGRAM, NONE);
		return true;
	}
	while (s.at != e) {
		if (!s.strong && thread_of(s.c, s.at) == thread_of(s.c, e)) {
			path_add(path, e, s.at, STEP_PROGRAM, NONE);
			break;
		}
		uint32_t place = first_after(&s);
		struct edge edge = edge_from_past(&s, place);
		if (place != s.at)
			path_add(path, place, s.at, STEP_PROGRAM, NONE);
		path_add(path, edge.from, place, edge.rule, edge.detail);
		s.at = edge.from;
	}
	steps_reverse(path->steps);
	return true;
}
