/*
 * sections.c - critical sections that conflict: rules (a) and (b) of WCP, DC and WDC.
 *
 * (a) For each variable and each lock (and mode) that it was accessed under, the last
 * releases of sections that read it, and wrote it.  An access inside a section
 * on the lock looks there for edges into itself: once a section for each variable, as
 * nobody who conflicts can release the lock meanwhile.
 *
 * (b) For each lock and thread its sections in a queue.  A release takes, from the queue of
 * each thread, the last section whose acquire is ordered before it; as both a queue and
 * what a thread knows only grow, each reader of a queue only moves forward.  Critical
 * sections contain their acquire and their release, so "they hold ordered events" is
 * "the first's acquire is before the second's release".
 */
#include "engine/order/causality.h"

#include <string.h>

enum { TOUCH_READ = 1, TOUCH_WRITE = 2 }; /* a write stands for a read too */

struct touch { /* the last release of a section of one thread that did `kind` */
	struct point at;
	uint16_t thread;
	uint8_t kind;
};
/*
 * One variable under one lock in one mode.  Exclusive sections that write it are ordered
 * one after the other by rule (a) itself, so the last one stands for all before it, and
 * the readers since then are kept by thread.  Shared sections do not exclude each other:
 * all are kept by thread and kind.
 */
struct guard {
	uint32_t key;    /* object * 2 + shared */
	uint32_t next;   /* guard of the same variable, or NONE */
	uint32_t serial; /* of the section that touched it last */
	uint8_t kind;    /* what that one did so far */
	struct touch write;
	struct touch *others;
	uint16_t count, capacity; /* of others */
};
struct held {
	uint32_t key, acquire, serial;
	GArray *touched; /* struct touched; kept for the next section at this depth */
};
struct touched {
	uint32_t guard;
	uint8_t kind;
};
struct holding { /* locks that a thread holds, outermost first */
	struct held *held;
	uint32_t count, capacity;
};
struct section {
	uint32_t acquire;
	struct point release;
};
struct queue { /* closed sections of one thread on one lock in one mode */
	uint32_t thread;
	bool shared;
	GArray *sections; /* struct section */
	GArray *next;     /* uint32_t by reading thread: first section not yet ordered */
};
struct sections {
	bool ordered;
	uint32_t *first;         /* by variable: its first guard, or NONE */
	bool *is_shared;         /* by object: has a shared section begun on it? */
	GArray *guards;          /* struct guard */
	struct holding *holding; /* by thread */
	uint64_t threads, objects;
	GArray **queues; /* by object: struct queue, or NULL */
	uint32_t serials;
};

struct sections *sections_new(struct causality *c, bool ordered)
{
	struct sections *s = g_new0(struct sections, 1);
	const struct trace *t = c->t;

	c->depth = g_new0(uint32_t, t->threads_count + 1);
	s->ordered = ordered;
	s->threads = t->threads_count;
	s->objects = t->objects_count;
	s->first = g_new(uint32_t, t->variables_count + 1);
	memset(s->first, 255, (t->variables_count + 1) * sizeof(uint32_t));
	s->guards = g_array_new(FALSE, FALSE, sizeof(struct guard));
	s->is_shared = g_new0(bool, s->objects + 1);
	s->holding = g_new0(struct holding, s->threads + 1);
	s->queues = g_new0(GArray *, s->objects + 1);
	return s;
}

static void queues_free(GArray *queues)
{
	for (guint i = 0; i < queues->len; i++) {
		g_array_free(g_array_index(queues, struct queue, i).sections, TRUE);
		g_array_free(g_array_index(queues, struct queue, i).next, TRUE);
	}
	g_array_free(queues, TRUE);
}

void sections_free(struct sections *s)
{
	if (s == NULL)
		return;
	for (guint i = 0; i < s->guards->len; i++)
		g_free(g_array_index(s->guards, struct guard, i).others);
	g_array_free(s->guards, TRUE);
	for (uint64_t i = 0; i < s->threads; i++) {
		for (uint32_t j = 0; j < s->holding[i].capacity; j++)
			g_array_free(s->holding[i].held[j].touched, TRUE);
		g_free(s->holding[i].held);
	}
	for (uint64_t i = 0; i < s->objects; i++) {
		if (s->queues[i] != NULL)
			queues_free(s->queues[i]);
	}
	g_free(s->queues);
	g_free(s->holding);
	g_free(s->is_shared);
	g_free(s->first);
	g_free(s);
}

/* -- rule (a) ------------------------------------------------------------------------- */

/* The guard of a variable, moved to the front of its list: the next access wants it too. */
static uint32_t guard_find(struct sections *s, uint32_t variable, uint32_t key)
{
	struct guard *guards = (struct guard *)s->guards->data;
	uint32_t before = NONE, i = s->first[variable];

	while (i != NONE && guards[i].key != key) {
		before = i;
		i = guards[i].next;
	}
	if (i != NONE && before != NONE) {
		guards[before].next = guards[i].next;
		guards[i].next = s->first[variable];
		s->first[variable] = i;
	}
	return i;
}

static uint32_t guard_make(struct sections *s, uint32_t variable, uint32_t key)
{
	uint32_t i = guard_find(s, variable, key);
	struct guard guard = { .key = key, .next = s->first[variable], .serial = NONE };

	if (i != NONE)
		return i;
	guard.write.at = NO_POINT;
	s->first[variable] = s->guards->len;
	g_array_append_val(s->guards, guard);
	return s->guards->len - 1;
}

static void guard_edge(struct causality *c, uint32_t event, const uint32_t *known,
                       const struct guard *g, const struct touch *x)
{
	if (known[x->thread] <= x->at.event && x->thread != c->t->events[event].thread)
		causality_edge(c, event, x->thread, x->at, STEP_CONFLICT_SECTION, g->key / 2,
		               true);
}

/* Edges from the sections behind one guard whose accesses conflict with this one. */
static void guard_edges(struct causality *c, uint32_t event, const struct guard *g, bool writes)
{
	uint32_t thread = c->t->events[event].thread;

	if (g->write.at.event != NONE)
		guard_edge(c, event, clocks_strong(&c->clocks, thread), g, &g->write);
	for (uint32_t i = 0; i < g->count; i++) {
		if (writes || g->others[i].kind == TOUCH_WRITE)
			guard_edge(c, event, clocks_strong(&c->clocks, thread), g,
			           &g->others[i]);
	}
}

static void access_under(struct causality *c, uint32_t event, uint32_t variable, struct held *h,
                         bool writes)
{
	struct sections *s = c->sections;
	uint32_t own = guard_make(s, variable, h->key), other;
	uint8_t kind = writes ? TOUCH_WRITE : TOUCH_READ;
	struct guard *g = &g_array_index(s->guards, struct guard, own);

	if (g->serial == h->serial && g->kind >= kind)
		return;
	if (g->serial != h->serial || (h->key & 1))
		g_array_append_val(h->touched, ((struct touched){ own, kind }));
	g->serial = h->serial;
	g->kind = kind;
	if ((h->key & 1) == 0) /* two shared sections do not exclude each other */
		guard_edges(c, event, g, writes);
	if (!s->is_shared[h->key / 2])
		return;
	other = guard_find(s, variable, h->key ^ 1);
	if (other != NONE)
		guard_edges(c, event, &g_array_index(s->guards, struct guard, other), writes);
}

void sections_access(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct holding *holding = &c->sections->holding[x->thread];
	struct wide run = event_variables(c->t, x);

	for (uint32_t i = 0; i < holding->count; i++) {
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			access_under(c, event, v, &holding->held[i], op_writes(x->op));
	}
}

static void guard_add(struct guard *g, struct touch touch)
{
	for (uint32_t i = 0; i < g->count; i++) {
		if (g->others[i].thread == touch.thread && g->others[i].kind == touch.kind) {
			g->others[i] = touch;
			return;
		}
	}
	if (g->count == g->capacity) {
		g->capacity = g->capacity == 0 ? 2 : g->capacity * 2;
		g->others = g_renew(struct touch, g->others, g->capacity);
	}
	g->others[g->count++] = touch;
}

static void touched_release(struct sections *s, struct held *h, uint32_t thread,
                            struct point release)
{
	for (guint i = 0; i < h->touched->len; i++) {
		struct touched touched = g_array_index(h->touched, struct touched, i);
		struct guard *g = &g_array_index(s->guards, struct guard, touched.guard);
		struct touch touch = { release, (uint16_t)thread, touched.kind };

		/* A shared section may have been overtaken by another as the last one. */
		if ((h->key & 1) == 0)
			touch.kind = g->kind;
		if (touch.kind == TOUCH_WRITE && (h->key & 1) == 0) {
			g->write = touch;
			g->count = 0;
		} else {
			guard_add(g, touch);
		}
		g->serial = NONE;
	}
}

/* -- rule (b) ------------------------------------------------------------------------- */

static struct queue *queue_at(struct sections *s, uint32_t object, uint32_t thread, bool shared)
{
	GArray **queues = &s->queues[object];
	struct queue queue = { .thread = thread, .shared = shared };

	if (*queues == NULL)
		*queues = g_array_new(FALSE, FALSE, sizeof(struct queue));
	for (guint i = 0; i < (*queues)->len; i++) {
		struct queue *q = &g_array_index(*queues, struct queue, i);

		if (q->thread == thread && q->shared == shared)
			return q;
	}
	queue.sections = g_array_new(FALSE, FALSE, sizeof(struct section));
	queue.next = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	g_array_append_val(*queues, queue);
	return &g_array_index(*queues, struct queue, (*queues)->len - 1);
}

/* The edge from one queue into a release; true when it told the thread something. */
static bool queue_edge(struct causality *c, uint32_t event, struct queue *q)
{
	uint32_t thread = c->t->events[event].thread;
	uint32_t known = clocks_strong(&c->clocks, thread)[q->thread];
	uint32_t row = c->clocks.now[thread], begin, *next;

	if (q->next->len <= thread)
		g_array_set_size(q->next, thread + 1);
	next = &g_array_index(q->next, uint32_t, thread);
	for (begin = *next; *next < q->sections->len; (*next)++) {
		if (g_array_index(q->sections, struct section, *next).acquire >= known)
			break;
	}
	if (*next == begin)
		return false;
	causality_edge(c, event, q->thread,
	               g_array_index(q->sections, struct section, *next - 1).release,
	               STEP_ORDERED_SECTION, c->t->events[event].target, true);
	return c->clocks.now[thread] != row || c->clocks.made_at[thread] == event;
}

static void ordered_sections(struct causality *c, uint32_t event, bool shared)
{
	GArray *queues = c->sections->queues[c->t->events[event].target];
	bool learned = queues != NULL;

	while (learned) { /* one edge may bring the acquire that another one asks for */
		learned = false;
		for (guint i = 0; i < queues->len; i++) {
			struct queue *q = &g_array_index(queues, struct queue, i);

			if (shared && q->shared)
				continue;
			/* A thread's own sections matter only where happens-before is
			 * composed: there its plane of the order does not hold its own past. */
			if (q->thread == c->t->events[event].thread && c->clocks.planes == 1)
				continue;
			learned |= queue_edge(c, event, q);
		}
	}
}

/* -- acquires and releases -------------------------------------------------------------- */

void sections_acquire(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct holding *holding = &c->sections->holding[x->thread];
	struct held *h;

	if (holding->count == holding->capacity) {
		holding->capacity++;
		holding->held = g_renew(struct held, holding->held, holding->capacity);
		holding->held[holding->count].touched =
		        g_array_new(FALSE, FALSE, sizeof(struct touched));
	}
	h = &holding->held[holding->count++];
	c->depth[x->thread]++;
	h->key = x->target * 2 + (x->op == OP_RACQ);
	h->acquire = event;
	c->sections->is_shared[x->target] |= x->op == OP_RACQ;
	h->serial = c->sections->serials++;
	g_array_set_size(h->touched, 0);
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
	uint32_t i = held_index(holding, x->target * 2 + shared);
	struct section section;
	struct held ended;

	if (i == NONE)
		return;
	if (s->ordered)
		ordered_sections(c, event, shared);
	ended = holding->held[i];
	section = (struct section){ ended.acquire, causality_point(c, event) };
	touched_release(s, &ended, x->thread, section.release);
	memmove(&holding->held[i], &holding->held[i + 1],
	        (holding->count - i - 1) * sizeof(struct held));
	c->depth[x->thread]--;
	holding->held[--holding->count] = ended; /* its array is used again */
	if (s->ordered)
		g_array_append_val(queue_at(s, x->target, x->thread, shared)->sections,
		                   section);
}

void sections_mark(struct causality *c)
{
	const struct sections *s = c->sections;

	for (guint i = 0; i < s->guards->len; i++) {
		const struct guard *g = &g_array_index(s->guards, struct guard, i);

		clocks_mark(&c->clocks, g->write.at.row);
		for (uint32_t j = 0; j < g->count; j++)
			clocks_mark(&c->clocks, g->others[j].at.row);
	}
	for (uint64_t o = 0; o < s->objects; o++) {
		for (guint i = 0; s->queues[o] != NULL && i < s->queues[o]->len; i++) {
			const struct queue *q = &g_array_index(s->queues[o], struct queue, i);

			for (guint j = 0; j < q->sections->len; j++)
				clocks_mark(&c->clocks,
				            g_array_index(q->sections, struct section, j)
				                    .release.row);
		}
	}
}
