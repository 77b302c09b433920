/*
 * nested.c - rule (b) of WCP and DC: when two critical sections on one lock contain ordered
 * events, their releases are ordered.
 *
 * A section contains its acquire and its release, so the condition is that the first section's
 * acquire is ordered before the second's release. The last event of a thread that is ordered
 * before the current one decides: sections that ended by then are ordered with their release.
 * So rule (b) adds an edge only where that last event lies in a section on the lock. It is
 * always the source of an edge, so only such events are recorded (origins), with their open
 * sections; without nesting there are none. Clocks only grow, so each thread reads the origins
 * of another by an index that only grows.
 */
#include "engine/base/arrays.h"
#include "engine/base/hash.h"
#include "engine/base/search.h"
#include "engine/order/rules.h"

/* A section with an origin in it. */
struct section_node {
	uint32_t key, serial;
	uint32_t outer; /* node of the enclosing section (may have ended); 0: none */
};
/* The source of an edge, inside of sections. */
struct edge_origin {
	uint32_t event, node;
};
/* A thread's view of another thread, as of its last release. */
struct nested_view {
	uint32_t known; /* the other's component of the clock */
	uint32_t next;  /* first origin of the other not below `known` */
	uint32_t node;  /* node at the other's last event before `known`; 0: none */
};
struct thread_end {
	uint32_t thread, end;
};
struct rule_b {
	GArray *nodes;    /* index 0 is not used */
	guint live;       /* first node that may still cause an edge */
	GArray **origins; /* by thread: struct edge_origin; or NULL */
	/* By object: struct thread_end by thread: end of its last section on the object with a
	 * node; NULL: none. A clock that covers all of these gets no edge. */
	GArray **ends;
	uint64_t objects;
	struct nested_view **views; /* by thread: by other thread; with many threads NULL */
	GHashTable *far_views;      /* by (thread, other thread), with many threads */
	uint64_t threads;
};

void rule_b_new(struct sections *s, bool wide)
{
	struct rule_b *b = s->rule_b = g_new0(struct rule_b, 1);
	struct section_node none = { 0 };

	b->threads = s->threads;
	b->nodes = g_array_new(FALSE, FALSE, sizeof(struct section_node));
	g_array_append_val(b->nodes, none);
	b->live = 1;
	b->origins = g_new0(GArray *, s->threads + 1);
	b->objects = s->t->objects_count;
	b->ends = g_new0(GArray *, b->objects + 1);
	b->views = g_new0(struct nested_view *, s->threads + 1);
	if (wide)
		b->far_views = g_hash_table_new_full(hash_pointer, NULL, NULL, g_free);
}

void rule_b_free(struct rule_b *b)
{
	if (b == NULL)
		return;
	for (uint64_t u = 0; u < b->threads; u++)
		g_free(b->views[u]);
	arrays_free(b->origins, b->threads);
	arrays_free(b->ends, b->objects);
	if (b->far_views != NULL)
		g_hash_table_destroy(b->far_views);
	g_array_free(b->nodes, TRUE);
	g_free(b->views);
	g_free(b);
}

static struct section_node *node_at(const struct rule_b *b, uint32_t node)
{
	return &g_array_index(b->nodes, struct section_node, node);
}

static void note_end(struct rule_b *b, const struct held_section *h, uint32_t thread)
{
	GArray **ends = &b->ends[(h->key - 1) / 2];
	struct thread_end fresh = { thread, h->end };

	if (*ends == NULL)
		*ends = g_array_new(FALSE, FALSE, sizeof(struct thread_end));
	guint i = search_end(k, 0, (*ends)->len,
	                     g_array_index(*ends, struct thread_end, k).thread < thread);
	struct thread_end *known = &g_array_index(*ends, struct thread_end, i);
	if (i < (*ends)->len && known->thread == thread)
		known->end = MAX(known->end, h->end);
	else
		g_array_insert_val(*ends, i, fresh);
}

static struct nested_view *view_of(struct rule_b *b, uint32_t own, uint32_t other)
{
	gpointer key = (gpointer)((uintptr_t)own << 32 | other);
	struct nested_view *view;

	if (b->far_views == NULL) {
		if (b->views[own] == NULL)
			b->views[own] = g_new0(struct nested_view, b->threads);
		return &b->views[own][other];
	}
	view = g_hash_table_lookup(b->far_views, key);
	if (view == NULL) {
		view = g_new0(struct nested_view, 1);
		g_hash_table_insert(b->far_views, key, view);
	}
	return view;
}

/* Node of the innermost open section of a thread. */
static uint32_t innermost(struct rule_b *b, struct held_sections *holding, uint32_t thread)
{
	uint32_t outer = 0;

	for (uint32_t i = 0; i < holding->count; i++) {
		struct held_section *h = &holding->held[i];
		struct section_node node = { h->key, h->serial, outer };

		if (h->node == 0) {
			h->node = b->nodes->len;
			g_array_append_val(b->nodes, node);
			note_end(b, h, thread);
		}
		outer = h->node;
	}
	return outer;
}

void sections_origin(struct causality *c, uint32_t event)
{
	struct rule_b *b = c->sections->rule_b;
	uint32_t thread = c->t->events[event].thread;
	struct edge_origin origin = { event, 0 };
	GArray **origins;

	if (b == NULL)
		return;
	origins = &b->origins[thread];
	if (*origins == NULL)
		*origins = g_array_new(FALSE, FALSE, sizeof(struct edge_origin));
	if ((*origins)->len > 0 &&
	    g_array_index(*origins, struct edge_origin, (*origins)->len - 1).event == event)
		return;
	origin.node = innermost(b, &c->sections->holding[thread], thread);
	g_array_append_val(*origins, origin);
}

/* Find the node at the last event of thread `u` that is ordered before. */
static void view_update(const struct rule_b *b, struct nested_view *v, uint32_t u,
                        uint32_t known)
{
	const GArray *list = b->origins[u];
	uint32_t next = v->next, node = 0;

	v->known = known;
	if (list == NULL)
		return;
	while (next < list->len && g_array_index(list, struct edge_origin, next).event < known)
		next++;
	v->next = next;
	if (next > 0 && g_array_index(list, struct edge_origin, next - 1).event + 1 == known)
		node = g_array_index(list, struct edge_origin, next - 1).node;
	v->node = node;
}

/* Edges into a release from one thread's open sections at its last ordered event; true when the
 * clock changed. */
static bool thread_edges(struct causality *c, uint32_t event, uint32_t node)
{
	const struct sections *s = c->sections;
	const struct event *x = &c->t->events[event];
	bool changed = false;

	for (; node != 0; node = node_at(s->rule_b, node)->outer) {
		const struct section_node *n = node_at(s->rule_b, node);
		const struct section_end *from = &s->list[n->serial];

		if ((n->key - 1) / 2 != x->target || (x->op == OP_RREL && ((n->key - 1) & 1)) ||
		    from->end > event ||
		    clocks_strong_time(&c->clocks, c->clocks.now[x->thread], from->thread) >=
		            from->end)
			continue;
		causality_edge(c, event, from->thread,
		               (struct edge_source){ from->end - 1, s->clocks[n->serial] },
		               STEP_ORDERED_SECTION, x->target, true);
		changed = true;
	}
	return changed;
}

/* Edges from the sections of thread `u`; true when the clock changed. */
static bool edges_from(struct causality *c, uint32_t event, uint32_t u, uint32_t own)
{
	uint32_t known = clocks_strong_time(&c->clocks, c->clocks.now[own], u);
	struct nested_view *v = view_of(c->sections->rule_b, own, u);

	if (known != v->known)
		view_update(c->sections->rule_b, v, u, known);
	return v->node != 0 && thread_edges(c, event, v->node);
}

void rule_b_release(struct causality *c, uint32_t event)
{
	const struct rule_b *b = c->sections->rule_b;
	uint32_t own = c->t->events[event].thread;
	const GArray *ends = b->ends[c->t->events[event].target];
	bool changed = ends != NULL;

	while (changed) { /* one edge may enable another */
		changed = false;
		for (guint i = 0; i < ends->len; i++) {
			struct thread_end x = g_array_index(ends, struct thread_end, i);

			/* A thread's own sections matter only where happens-before is composed:
			 * plane 1 does not contain program order there. */
			if (clocks_strong_time(&c->clocks, c->clocks.now[own], x.thread) <
			            x.end &&
			    (x.thread != own || c->clocks.planes > 1))
				changed |= edges_from(c, event, x.thread, own);
		}
	}
}

/* The least component for `thread` in the clocks of all threads that may get an edge from
 * it. */
static uint32_t known_by_all(const struct sections *s, const struct clocks *clocks,
                             uint32_t thread)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t u = 0; u < s->threads; u++) {
		if (u != thread || clocks->planes > 1)
			least = MIN(least, clocks_strong_time(clocks, clocks->now[u], thread));
	}
	return least;
}

void rule_b_mark(const struct sections *s, struct clocks *clocks)
{
	struct rule_b *b = s->rule_b;
	uint32_t *known = g_new0(uint32_t, s->threads + 1); /* 0: not asked yet */

	/* Sections that are ordered before every thread cause no more edges. */
	while (b->live < b->nodes->len) {
		const struct section_end *from = &s->list[node_at(b, b->live)->serial];

		if (from->end > known[from->thread])
			known[from->thread] = known_by_all(s, clocks, from->thread);
		if (from->end > known[from->thread])
			break;
		b->live++;
	}
	g_free(known);
	for (guint i = b->live; i < b->nodes->len; i++)
		clocks_mark(clocks, s->clocks[node_at(b, i)->serial]);
}
