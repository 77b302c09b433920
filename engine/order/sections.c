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
enum { NEAR = 3 };

struct others { /* releases kept by thread, more than fit beside the guard */
	struct touch *touches;
	uint32_t count, capacity;
};
/*
 * One variable under one lock in one mode.  Exclusive sections that write it are ordered
 * one after the other by rule (a) itself, so the last one stands for all before it, and
 * the readers since then are kept by thread.  Shared sections do not exclude each other:
 * all are kept by thread and kind.
 *
 * Most variables have one lock, so the first guard of each lies in an array of its own,
 * where a walker can fetch it ahead of time; the others are hashed.
 */
struct guard {
	uint32_t key; /* object * 2 + shared, + 1; 0 unused */
	uint32_t variable;
	struct point write; /* event + 1 in it; 0 none */
	uint32_t serial;    /* + 1, of the section that touched it last */
	uint32_t others;    /* index + 1; 0 none */
	uint16_t write_thread;
	uint8_t kind;  /* what the section that touched it last did so far */
	uint8_t count; /* of near in use; only when all are are there others */
	struct touch near[NEAR];
};
_Static_assert(sizeof(struct guard) == GUARD_SIZE, "one a cache line");

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
	struct guard *first;         /* by variable */
	GArray *more;                /* struct guard */
	uint32_t *slots, slots_size; /* hash table of `more`; NONE is empty */
	GArray *others;              /* struct others */
	uint64_t variables;
	bool *is_shared;         /* by object: has a shared section begun on it? */
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
	s->variables = t->variables_count;
	s->first = g_aligned_alloc0(s->variables + 1, sizeof(struct guard), GUARD_SIZE);
	c->guards = (const char *)s->first;
	s->more = g_array_new(FALSE, FALSE, sizeof(struct guard));
	s->others = g_array_new(FALSE, FALSE, sizeof(struct others));
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
	for (guint i = 0; i < s->others->len; i++)
		g_free(g_array_index(s->others, struct others, i).touches);
	g_array_free(s->others, TRUE);
	g_array_free(s->more, TRUE);
	g_aligned_free(s->first);
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
	g_free(s->slots);
	g_free(s);
}

/* -- rule (a) ------------------------------------------------------------------------- */

static struct guard *guard_at(const struct sections *s, uint32_t i)
{
	return i < s->variables ? &s->first[i]
	                        : &g_array_index(s->more, struct guard, i - s->variables);
}

static uint32_t guard_hash(uint32_t variable, uint32_t key)
{
	uint64_t hash = ((uint64_t)variable << 32 | key) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(hash >> 32);
}

/* The slot that a guard is in, or that it would be put in. */
static uint32_t *guard_slot(const struct sections *s, uint32_t variable, uint32_t key)
{
	const struct guard *guards = (const struct guard *)s->more->data;
	uint32_t at = guard_hash(variable, key) & (s->slots_size - 1);

	while (s->slots[at] != NONE &&
	       (guards[s->slots[at]].key != key || guards[s->slots[at]].variable != variable))
		at = (at + 1) & (s->slots_size - 1);
	return &s->slots[at];
}

static void slots_grow(struct sections *s)
{
	g_free(s->slots);
	s->slots_size = MAX(1024, 2 * s->slots_size);
	s->slots = g_new(uint32_t, s->slots_size);
	memset(s->slots, 255, s->slots_size * sizeof(uint32_t));
	for (guint i = 0; i < s->more->len; i++) {
		const struct guard *g = &g_array_index(s->more, struct guard, i);

		*guard_slot(s, g->variable, g->key) = i;
	}
}

/* The index of a guard, or NONE. */
static uint32_t guard_find(const struct sections *s, uint32_t variable, uint32_t key)
{
	uint32_t found;

	if (s->first[variable].key == key + 1)
		return variable;
	if (s->slots_size == 0)
		return NONE;
	found = *guard_slot(s, variable, key + 1);
	return found == NONE ? NONE : (uint32_t)s->variables + found;
}

static uint32_t guard_make(struct sections *s, uint32_t variable, uint32_t key)
{
	struct guard guard = { .key = key + 1, .variable = variable };
	uint32_t *slot;

	if (s->first[variable].key == key + 1)
		return variable;
	if (s->first[variable].key == 0) {
		s->first[variable] = guard;
		return variable;
	}
	if (2 * s->more->len >= s->slots_size)
		slots_grow(s);
	slot = guard_slot(s, variable, key + 1);
	if (*slot == NONE) {
		*slot = s->more->len;
		g_array_append_val(s->more, guard);
	}
	return (uint32_t)s->variables + *slot;
}

static void guard_edge(struct causality *c, uint32_t event, uint32_t lock, uint32_t thread,
                       struct point from)
{
	uint32_t own = c->t->events[event].thread;

	if (thread != own && clocks_strong(&c->clocks, own)[thread] <= from.event)
		causality_edge(c, event, thread, from, STEP_CONFLICT_SECTION, lock, true);
}

static void touch_edges(struct causality *c, uint32_t event, uint32_t lock, bool writes,
                        const struct touch *touches, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (writes || touches[i].kind == TOUCH_WRITE)
			guard_edge(c, event, lock, touches[i].thread, touches[i].at);
	}
}

/* Edges from the sections behind one guard whose accesses conflict with this one. */
static void guard_edges(struct causality *c, uint32_t event, const struct guard *g, bool writes)
{
	uint32_t lock = (g->key - 1) / 2;

	if (g->write.event != 0)
		guard_edge(c, event, lock, g->write_thread,
		           (struct point){ g->write.event - 1, g->write.row });
	/* Behind an exclusive guard the others are readers. */
	if (!writes && ((g->key - 1) & 1) == 0)
		return;
	touch_edges(c, event, lock, writes, g->near, g->count);
	if (g->others != 0) {
		const struct others *others =
		        &g_array_index(c->sections->others, struct others, g->others - 1);

		touch_edges(c, event, lock, writes, others->touches, others->count);
	}
}

static void access_under(struct causality *c, uint32_t event, uint32_t variable, struct held *h,
                         bool writes)
{
	struct sections *s = c->sections;
	uint32_t own = guard_make(s, variable, h->key), other;
	uint8_t kind = writes ? TOUCH_WRITE : TOUCH_READ;
	struct guard *g = guard_at(s, own);

	if (g->serial == h->serial + 1 && g->kind >= kind)
		return;
	if (g->serial != h->serial + 1 || (h->key & 1))
		g_array_append_val(h->touched, ((struct touched){ own, kind }));
	g->serial = h->serial + 1;
	g->kind = kind;
	if ((h->key & 1) == 0) /* two shared sections do not exclude each other */
		guard_edges(c, event, g, writes);
	if (!s->is_shared[h->key / 2])
		return;
	other = guard_find(s, variable, h->key ^ 1);
	if (other != NONE)
		guard_edges(c, event, guard_at(s, other), writes);
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

static struct others *others_of(struct sections *s, struct guard *g)
{
	if (g->others == 0) {
		struct others fresh = { 0 };

		g_array_append_val(s->others, fresh);
		g->others = s->others->len;
	}
	return &g_array_index(s->others, struct others, g->others - 1);
}

static bool replace(struct touch *touches, uint32_t count, struct touch touch)
{
	for (uint32_t i = 0; i < count; i++) {
		if (touches[i].thread == touch.thread && touches[i].kind == touch.kind) {
			touches[i] = touch;
			return true;
		}
	}
	return false;
}

static void touch_add(struct sections *s, struct guard *g, struct touch touch)
{
	struct others *o;

	if (replace(g->near, g->count, touch))
		return;
	if (g->count < NEAR) {
		g->near[g->count++] = touch;
		return;
	}
	o = others_of(s, g);
	if (replace(o->touches, o->count, touch))
		return;
	if (o->count == o->capacity) {
		o->capacity = o->capacity == 0 ? 4 : o->capacity * 2;
		o->touches = g_renew(struct touch, o->touches, o->capacity);
	}
	o->touches[o->count++] = touch;
}

static void touched_release(struct sections *s, struct held *h, uint32_t thread,
                            struct point release)
{
	bool shared = h->key & 1;

	for (guint i = 0; i < h->touched->len; i++) {
		struct touched touched = g_array_index(h->touched, struct touched, i);
		struct guard *g = guard_at(s, touched.guard);
		/* A shared section may have been overtaken by another as the last one. */
		uint8_t kind = shared ? touched.kind : g->kind;

		g->serial = 0;
		if (shared || kind == TOUCH_READ) {
			touch_add(s, g, (struct touch){ release, (uint16_t)thread, kind });
			continue;
		}
		g->write = (struct point){ release.event + 1, release.row };
		g->write_thread = (uint16_t)thread;
		g->count = 0;
		if (g->others != 0)
			others_of(s, g)->count = 0;
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

	for (uint64_t i = 0; i < s->variables + s->more->len; i++) {
		const struct guard *g = guard_at(s, (uint32_t)i);

		if (g->key == 0)
			continue;
		clocks_mark(&c->clocks, g->write.row);
		for (uint32_t j = 0; j < g->count; j++)
			clocks_mark(&c->clocks, g->near[j].at.row);
	}
	for (guint i = 0; i < s->others->len; i++) {
		const struct others *others = &g_array_index(s->others, struct others, i);

		for (uint32_t j = 0; j < others->count; j++)
			clocks_mark(&c->clocks, others->touches[j].at.row);
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
