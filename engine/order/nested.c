/*
 * nested.c - rule (b) of WCP and DC: the releases of two critical sections on one lock that
 * hold ordered events are ordered.
 *
 * Sections contain their acquire and their release, so "they hold ordered events" is "the
 * first's acquire is before the second's release".  Of what a thread knows of another one,
 * all is said by the last event that it knows: a section that has ended by then is known with
 * its release.  So rule (b) can add something only where that last event lies inside of a
 * section on the lock.  And as the last event known always is one that an edge began at, only
 * those events are noted, with the sections that are open there: where nothing is nested in
 * a section there are none.  What a thread knows only grows, so it reads another's notes
 * with a pointer that only moves forward.
 */
#include "engine/order/rules.h"

struct node { /* a section that edges begin in */
	uint32_t key, serial;
	uint32_t outer; /* node of the next section out (which may have ended); 0 none */
};
struct origin { /* an event inside of sections that edges begin at */
	uint32_t event, node;
};
struct view {            /* of the others by one thread; not beyond when it last looked */
	uint32_t *known; /* by thread: one more than the last event known */
	uint32_t *next;  /* by thread: the first origin not below that */
	uint32_t *node;  /* by thread: what is open at the last event known */
};
struct rule_b {
	GArray *nodes;    /* struct node; 0 is not used */
	guint live;       /* of nodes: the first that can still tell somebody something */
	GArray **origins; /* by thread: struct origin; or NULL */
	/* By object, NULL where there is no node: by thread where the last section on it that
	 * is a node ends.  Who knows all of these gets no edge. */
	uint32_t **ends;
	uint64_t objects;
	struct view *views;
	uint64_t threads;
};

void rule_b_new(struct sections *s)
{
	struct rule_b *b = s->rule_b = g_new0(struct rule_b, 1);
	struct node none = { 0 };

	b->threads = s->threads;
	b->nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
	g_array_append_val(b->nodes, none);
	b->live = 1;
	b->origins = g_new0(GArray *, s->threads + 1);
	b->objects = s->t->objects_count;
	b->ends = g_new0(uint32_t *, b->objects + 1);
	b->views = g_new0(struct view, s->threads + 1);
}

void rule_b_free(struct rule_b *b)
{
	if (b == NULL)
		return;
	for (uint64_t u = 0; u < b->threads; u++) {
		if (b->origins[u] != NULL)
			g_array_free(b->origins[u], TRUE);
		g_free(b->views[u].known);
	}
	for (uint64_t i = 0; i < b->objects; i++)
		g_free(b->ends[i]);
	g_free(b->ends);
	g_array_free(b->nodes, TRUE);
	g_free(b->origins);
	g_free(b->views);
	g_free(b);
}

static struct node *node_at(const struct rule_b *b, uint32_t node)
{
	return &g_array_index(b->nodes, struct node, node);
}

static void note_end(struct rule_b *b, const struct held *h, uint32_t thread)
{
	uint32_t **ends = &b->ends[(h->key - 1) / 2];

	if (*ends == NULL)
		*ends = g_new0(uint32_t, b->threads);
	(*ends)[thread] = MAX((*ends)[thread], h->end);
}

/* The node of the innermost section that a thread is in. */
static uint32_t innermost(struct rule_b *b, struct holding *holding, uint32_t thread)
{
	uint32_t outer = 0;

	for (uint32_t i = 0; i < holding->count; i++) {
		struct held *h = &holding->held[i];
		struct node node = { h->key, h->serial, outer };

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
	struct origin origin = { event, 0 };
	GArray **origins;

	if (b == NULL)
		return;
	origins = &b->origins[thread];
	if (*origins == NULL)
		*origins = g_array_new(FALSE, FALSE, sizeof(struct origin));
	if ((*origins)->len > 0 &&
	    g_array_index(*origins, struct origin, (*origins)->len - 1).event == event)
		return;
	origin.node = innermost(b, &c->sections->holding[thread], thread);
	g_array_append_val(*origins, origin);
}

/* What is open at the last event of thread `u` that is known now. */
static void look(const struct rule_b *b, struct view *v, uint32_t u, uint32_t known)
{
	const GArray *list = b->origins[u];
	uint32_t next = v->next[u], node = 0;

	v->known[u] = known;
	if (list == NULL)
		return;
	while (next < list->len && g_array_index(list, struct origin, next).event < known)
		next++;
	v->next[u] = next;
	if (next > 0 && g_array_index(list, struct origin, next - 1).event + 1 == known)
		node = g_array_index(list, struct origin, next - 1).node;
	v->node[u] = node;
}

/* The edges from one thread's sections that hold its last known event into a release; true
 * when they told something. */
static bool thread_edges(struct causality *c, uint32_t event, uint32_t node)
{
	const struct sections *s = c->sections;
	const struct event *x = &c->t->events[event];
	bool told = false;

	for (; node != 0; node = node_at(s->rule_b, node)->outer) {
		const struct node *n = node_at(s->rule_b, node);
		const struct ending *from = &s->list[n->serial];

		if ((n->key - 1) / 2 != x->target || (x->op == OP_RREL && ((n->key - 1) & 1)) ||
		    from->end > event ||
		    clocks_strong(&c->clocks, x->thread)[from->thread] >= from->end)
			continue;
		causality_edge(c, event, from->thread,
		               (struct point){ from->end - 1, s->rows[n->serial] },
		               STEP_ORDERED_SECTION, x->target, true);
		told = true;
	}
	return told;
}

/* Is there an edge from one of thread `u`'s sections?  True when it told something. */
static bool edges_from(struct causality *c, uint32_t event, struct view *v, uint32_t u,
                       uint32_t own)
{
	uint32_t known = clocks_strong(&c->clocks, own)[u];

	if (known != v->known[u])
		look(c->sections->rule_b, v, u, known);
	return v->node[u] != 0 && thread_edges(c, event, v->node[u]);
}

void rule_b_release(struct causality *c, uint32_t event)
{
	const struct rule_b *b = c->sections->rule_b;
	uint32_t own = c->t->events[event].thread;
	const uint32_t *ends = b->ends[c->t->events[event].target];
	struct view *v = &b->views[own];
	bool told = ends != NULL;

	if (told && v->known == NULL) {
		v->known = g_new0(uint32_t, 3 * b->threads);
		v->next = v->known + b->threads;
		v->node = v->next + b->threads;
	}
	while (told) { /* one edge may bring the acquire that another one asks for */
		told = false;
		for (uint32_t u = 0; u < b->threads; u++) {
			/* A thread's own sections matter only where happens-before is
			 * composed: there its plane of the order does not hold its own past. */
			if (clocks_strong(&c->clocks, own)[u] < ends[u] &&
			    (u != own || c->clocks.planes > 1))
				told |= edges_from(c, event, v, u, own);
		}
	}
}

/* How many of a thread's events all know who may get an edge from its sections. */
static uint32_t known_by_all(const struct sections *s, const struct clocks *clocks,
                             uint32_t thread)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t u = 0; u < s->threads; u++) {
		if (u != thread || clocks->planes > 1)
			least = MIN(least, clocks_strong(clocks, u)[thread]);
	}
	return least;
}

void rule_b_mark(const struct sections *s, struct clocks *clocks)
{
	struct rule_b *b = s->rule_b;
	uint32_t *known = g_new(uint32_t, s->threads + 1);

	for (uint32_t u = 0; u < s->threads; u++)
		known[u] = known_by_all(s, clocks, u);
	/* What all know tells nobody anything any more. */
	while (b->live < b->nodes->len) {
		const struct ending *from = &s->list[node_at(b, b->live)->serial];

		if (from->end > known[from->thread])
			break;
		b->live++;
	}
	g_free(known);
	for (guint i = b->live; i < b->nodes->len; i++)
		clocks_mark(clocks, s->rows[node_at(b, i)->serial]);
}
