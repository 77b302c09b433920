/*
 * sections.c - critical sections: who holds what, and rule (b) of WCP and DC.
 *
 * (b) Critical sections contain their acquire and their release, so "they hold ordered
 * events" is "the first's acquire is before the second's release".  Of what a thread knows
 * of another one, all is said by the last event that it knows: a section that began before
 * that event and has ended before it is known with its release.  So rule (b) can add
 * something only where that last event lies inside of a section on the lock, and as the
 * last event known always is one that an edge began at, only those events are noted, with
 * the sections that are open there: where locks do not nest there are none.  What a thread
 * knows only grows, so it reads another's notes with a pointer that only moves forward.
 *
 * Rule (a) is in guards.c.
 */
#include "engine/order/sections.h"

#include <string.h>

struct node { /* a section that edges begin in */
	uint32_t key, serial;
	uint32_t outer; /* the next section out, if it has not ended: node; 0 none */
};
struct origin { /* an event inside of sections that edges begin at */
	uint32_t event, node;
};
struct seen {             /* of one thread by another */
	uint32_t known;   /* one more than the last event known */
	uint32_t next;    /* the first origin not below that */
	uint32_t node;    /* what is open at the last event known */
};
struct sections {
	bool ordered;            /* rule (b) too */
	struct guards *guards;
	struct holding *holding; /* by thread */
	bool *is_shared;         /* by object: has a shared section begun on it? */
	GArray *sections;        /* struct section; 0 is not used */
	GArray *nodes;           /* struct node; 0 is not used */
	GArray **origins;        /* by thread: struct origin */
	struct seen **seen;      /* by thread, by thread seen; NULL before its first release */
	uint64_t threads;
};

struct sections *sections_new(struct causality *c, bool ordered)
{
	struct sections *s = g_new0(struct sections, 1);
	struct section none = { { NONE, 0 }, 0 };
	struct node no_node = { 0 };

	c->depth = g_new0(uint32_t, c->t->threads_count + 1);
	s->ordered = ordered;
	s->threads = c->t->threads_count;
	s->guards = guards_new(c);
	s->holding = g_new0(struct holding, s->threads + 1);
	s->is_shared = g_new0(bool, c->t->objects_count + 1);
	s->sections = g_array_new(FALSE, FALSE, sizeof(struct section));
	g_array_append_val(s->sections, none);
	s->nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
	g_array_append_val(s->nodes, no_node);
	s->origins = g_new0(GArray *, s->threads + 1);
	s->seen = g_new0(struct seen *, s->threads + 1);
	return s;
}

void sections_free(struct sections *s)
{
	if (s == NULL)
		return;
	guards_free(s->guards);
	for (uint64_t i = 0; i < s->threads; i++) {
		g_free(s->holding[i].held);
		if (s->origins[i] != NULL)
			g_array_free(s->origins[i], TRUE);
		g_free(s->seen[i]);
	}
	g_array_free(s->sections, TRUE);
	g_array_free(s->nodes, TRUE);
	g_free(s->holding);
	g_free(s->is_shared);
	g_free(s->origins);
	g_free(s->seen);
	g_free(s);
}

static struct section *section_at(const struct sections *s, uint32_t serial)
{
	return &g_array_index(s->sections, struct section, serial);
}

static struct node *node_at(const struct sections *s, uint32_t node)
{
	return &g_array_index(s->nodes, struct node, node);
}

void sections_access(struct causality *c, uint32_t event)
{
	struct sections *s = c->sections;
	const struct holding *holding = &s->holding[c->t->events[event].thread];

	if (holding->count > 0)
		guards_access(c, s->guards, (const struct section *)s->sections->data, holding,
		              event);
}

/* -- rule (b) ------------------------------------------------------------------------- */

/* The node of the innermost section that a thread is in. */
static uint32_t innermost(struct sections *s, struct holding *holding)
{
	uint32_t outer = 0;

	for (uint32_t i = 0; i < holding->count; i++) {
		struct held *h = &holding->held[i];
		struct node node = { h->key, h->serial, outer };

		if (h->node == 0) {
			h->node = s->nodes->len;
			g_array_append_val(s->nodes, node);
		}
		outer = h->node;
	}
	return outer;
}

void sections_origin(struct causality *c, uint32_t event)
{
	struct sections *s = c->sections;
	uint32_t thread = c->t->events[event].thread;
	GArray **origins = &s->origins[thread];
	struct origin origin = { event, 0 };

	if (!s->ordered)
		return;
	if (*origins == NULL)
		*origins = g_array_new(FALSE, FALSE, sizeof(struct origin));
	if ((*origins)->len > 0 &&
	    g_array_index(*origins, struct origin, (*origins)->len - 1).event == event)
		return;
	origin.node = innermost(s, &s->holding[thread]);
	g_array_append_val(*origins, origin);
}

/* What is open at the last event of a thread that is known. */
static uint32_t look(const GArray *origins, struct seen *seen, uint32_t known)
{
	seen->known = known;
	seen->node = 0;
	if (origins == NULL)
		return 0;
	while (seen->next < origins->len &&
	       g_array_index(origins, struct origin, seen->next).event < known)
		seen->next++;
	if (seen->next > 0) {
		const struct origin *last =
		        &g_array_index(origins, struct origin, seen->next - 1);

		seen->node = last->event + 1 == known ? last->node : 0;
	}
	return seen->node;
}

/* The edges from one thread's sections that hold its last known event into a release; true
 * when they told something. */
static bool thread_edges(struct causality *c, uint32_t event, uint32_t node, bool shared)
{
	const struct sections *s = c->sections;
	uint32_t lock = c->t->events[event].target, own = c->t->events[event].thread;
	bool told = false;

	for (; node != 0; node = node_at(s, node)->outer) {
		const struct node *n = node_at(s, node);
		const struct section *from = section_at(s, n->serial);

		if (n->key / 2 != lock || (shared && (n->key & 1)) ||
		    from->release.event == NONE ||
		    clocks_strong(&c->clocks, own)[from->thread] > from->release.event)
			continue;
		causality_edge(c, event, from->thread, from->release, STEP_ORDERED_SECTION,
		               lock, true);
		told = true;
	}
	return told;
}

static void ordered_sections(struct causality *c, uint32_t event, bool shared)
{
	struct sections *s = c->sections;
	uint32_t own = c->t->events[event].thread;
	struct seen *seen = s->seen[own];
	bool told = true;

	if (seen == NULL)
		seen = s->seen[own] = g_new0(struct seen, s->threads);
	while (told) { /* one edge may bring the acquire that another one asks for */
		told = false;
		for (uint32_t u = 0; u < s->threads; u++) {
			uint32_t known = clocks_strong(&c->clocks, own)[u], node;

			node = seen[u].node;
			if (seen[u].known != known)
				node = look(s->origins[u], &seen[u], known);
			/* A thread's own sections matter only where happens-before is
			 * composed: there its plane of the order does not hold its own past. */
			if (node != 0 && (u != own || c->clocks.planes > 1))
				told |= thread_edges(c, event, node, shared);
		}
	}
}

/* -- acquires and releases -------------------------------------------------------------- */

void sections_acquire(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct sections *s = c->sections;
	struct holding *holding = &s->holding[x->thread];
	struct section section = { { NONE, 0 }, x->thread };

	if (holding->count == holding->capacity) {
		holding->capacity = MAX(4, 2 * holding->capacity);
		holding->held = g_renew(struct held, holding->held, holding->capacity);
	}
	s->is_shared[x->target] |= x->op == OP_RACQ;
	holding->held[holding->count++] = (struct held){
		.key = x->target * 2 + (x->op == OP_RACQ),
		.serial = s->sections->len,
		.ends = c->t->index->partner[event] != NONE,
		.mixed = s->is_shared[x->target],
	};
	c->depth[x->thread]++;
	g_array_append_val(s->sections, section);
}

/* The innermost open section that this release ends; NONE when there is none. */
static uint32_t held_index(const struct holding *holding, uint32_t key)
{
	for (uint32_t i = holding->count; i-- > 0;) {
		if (holding->held[i].key == key)
			return i;
	}
	return NONE;
}

void sections_release(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct sections *s = c->sections;
	struct holding *holding = &s->holding[x->thread];
	bool shared = x->op == OP_RREL;
	uint32_t i = held_index(holding, x->target * 2 + shared), serial;

	if (i == NONE)
		return;
	if (s->ordered)
		ordered_sections(c, event, shared);
	serial = holding->held[i].serial;
	holding->count--;
	c->depth[x->thread]--;
	memmove(&holding->held[i], &holding->held[i + 1],
	        (holding->count - i) * sizeof(struct held));
	section_at(s, serial)->release = causality_point(c, event);
}

void sections_mark(struct causality *c)
{
	const struct sections *s = c->sections;

	guards_mark(s->guards, &c->clocks, (const struct section *)s->sections->data);
	for (guint i = 1; i < s->nodes->len; i++)
		clocks_mark(&c->clocks, section_at(s, node_at(s, i)->serial)->release.row);
}
