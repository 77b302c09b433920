/*
 * guards.c - rule (a) of WCP, DC and WDC: the release of a critical section before a later
 * access inside another one on the lock that conflicts with an access inside the first.
 *
 * For each variable and each lock (and mode) that it was accessed under, the last section
 * that wrote it and those that have read it since.  An access looks there for edges into
 * itself, once a section for each variable and kind, and puts its own section there: nobody
 * whom that section excludes can look before it has ended.
 */
#include "engine/order/sections.h"

#include <string.h>

/* A section that accessed a variable: serial * 2 + wrote. */
#define TOUCH(serial, wrote) ((serial) << 1 | (wrote))
enum { NEAR = 4, SPILLED = UINT16_MAX };

/*
 * One variable under one lock in one mode.  Exclusive sections that write it are ordered
 * one after the other by rule (a) itself, so the last one stands for all before it, and
 * the readers since then are in `near`.  Shared sections do not exclude each other: there
 * all are in `near`, the last of each thread and kind.
 */
struct guard {
	uint32_t key; /* object * 2 + shared, + 1; 0 unused */
	uint32_t variable;
	uint32_t write; /* serial; 0 none */
	uint16_t write_thread;
	uint16_t count;      /* of near; SPILLED: near[0] is an index of spills */
	uint32_t near[NEAR]; /* touches, the oldest first */
};
_Static_assert(sizeof(struct guard) == GUARD_SIZE, "two a cache line");

struct spill { /* more touches than fit in a guard */
	uint32_t *touches;
	uint32_t count, capacity;
};

/* Most variables have one lock, so the first guard of each lies in an array of its own, where
 * a walker can fetch it ahead of time; the others are hashed. */
struct guards {
	void *first_block;
	struct guard *first; /* by variable; in first_block, where a cache line begins */
	uint64_t variables;
	struct guard *more; /* open addressing; `size` a power of two, or 0 */
	uint32_t size, count;
	GArray *spills; /* struct spill; 0 is not used */
	GArray *unused; /* uint32_t: spills that no guard has */
	uint32_t *stamps, stamp; /* by thread * 2 + wrote: during a thinning */
};

struct guards *guards_new(struct causality *c)
{
	struct guards *g = g_new0(struct guards, 1);
	struct spill none = { 0 };

	g->variables = c->t->variables_count;
	g->first_block = g_new0(struct guard, g->variables + 3);
	g->first = (struct guard *)(((uintptr_t)g->first_block + 63) / 64 * 64);
	g->spills = g_array_new(FALSE, FALSE, sizeof(struct spill));
	g_array_append_val(g->spills, none);
	g->unused = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g->stamps = g_new0(uint32_t, 2 * c->t->threads_count + 2);
	c->guards = (const char *)g->first;
	return g;
}

void guards_free(struct guards *g)
{
	for (guint i = 0; i < g->spills->len; i++)
		g_free(g_array_index(g->spills, struct spill, i).touches);
	g_array_free(g->spills, TRUE);
	g_array_free(g->unused, TRUE);
	g_free(g->first_block);
	g_free(g->more);
	g_free(g->stamps);
	g_free(g);
}

/* -- finding one ------------------------------------------------------------------------- */

static uint32_t guard_place(const struct guards *g, uint32_t variable, uint32_t key)
{
	uint64_t hash = ((uint64_t)variable << 32 | key) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(hash >> 32) & (g->size - 1);
}

/* The guard, or the unused one that it would be put in.  There must be a table. */
static struct guard *more_at(const struct guards *g, uint32_t variable, uint32_t key)
{
	uint32_t at = guard_place(g, variable, key);

	while (g->more[at].key != 0 &&
	       (g->more[at].key != key || g->more[at].variable != variable))
		at = (at + 1) & (g->size - 1);
	return &g->more[at];
}

static void more_grow(struct guards *g)
{
	struct guard *old = g->more;
	uint32_t size = g->size;

	g->size = MAX(1024, 2 * size);
	g->more = g_new0(struct guard, g->size);
	for (uint32_t i = 0; i < size; i++) {
		if (old[i].key != 0)
			*more_at(g, old[i].variable, old[i].key) = old[i];
	}
	g_free(old);
}

/* NULL where there is none. */
static struct guard *guard_find(const struct guards *g, uint32_t variable, uint32_t key)
{
	struct guard *found;

	if (g->first[variable].key == key + 1)
		return &g->first[variable];
	if (g->size == 0)
		return NULL;
	found = more_at(g, variable, key + 1);
	return found->key == 0 ? NULL : found;
}

static __attribute__((noinline)) struct guard *guard_make(struct guards *g, uint32_t variable,
                                                          uint32_t key)
{
	struct guard *found = &g->first[variable];

	if (found->key != 0) {
		if (4 * (uint64_t)g->count >= 3 * (uint64_t)g->size)
			more_grow(g);
		found = more_at(g, variable, key + 1);
		if (found->key != 0)
			return found;
		g->count++;
	}
	found->key = key + 1;
	found->variable = variable;
	return found;
}

/* -- the touches of one ------------------------------------------------------------------ */

struct touches {
	uint32_t *of, count;
};

static inline struct touches touches_of(const struct guards *g, struct guard *guard)
{
	const struct spill *spill;

	if (G_LIKELY(guard->count != SPILLED))
		return (struct touches){ guard->near, guard->count };
	spill = &g_array_index(g->spills, struct spill, guard->near[0]);
	return (struct touches){ spill->touches, spill->count };
}

/* Keep the last touch of each thread and kind; how many there are. */
static uint32_t thin(struct guards *g, const struct section *sections, uint32_t *touches,
                     uint32_t count)
{
	uint32_t to = count;

	g->stamp++;
	for (uint32_t i = count; i-- > 0;) {
		uint32_t thread = sections[touches[i] >> 1].thread;
		uint32_t *last = &g->stamps[TOUCH(thread, touches[i] & 1)];

		if (*last == g->stamp)
			continue;
		*last = g->stamp;
		touches[--to] = touches[i];
	}
	memmove(touches, touches + to, (count - to) * sizeof(uint32_t));
	return count - to;
}

static void spill_begin(struct guards *g, struct guard *guard)
{
	struct spill fresh = { 0 }, *spill;
	uint32_t i = g->spills->len;

	if (g->unused->len > 0) {
		i = g_array_index(g->unused, uint32_t, g->unused->len - 1);
		g_array_set_size(g->unused, g->unused->len - 1);
	} else {
		fresh.capacity = 4 * NEAR;
		fresh.touches = g_new(uint32_t, fresh.capacity);
		g_array_append_val(g->spills, fresh);
	}
	spill = &g_array_index(g->spills, struct spill, i);
	memcpy(spill->touches, guard->near, sizeof(guard->near));
	spill->count = NEAR;
	guard->near[0] = i;
	guard->count = SPILLED;
}

static __attribute__((noinline)) void touch_spill(struct guards *g,
                                                  const struct section *sections,
                                                  struct guard *guard, uint32_t touch)
{
	struct spill *spill;

	if (guard->count != SPILLED) {
		guard->count = (uint16_t)thin(g, sections, guard->near, NEAR);
		if (guard->count < NEAR) {
			guard->near[guard->count++] = touch;
			return;
		}
		spill_begin(g, guard);
	}
	spill = &g_array_index(g->spills, struct spill, guard->near[0]);
	if (spill->count == spill->capacity)
		spill->count = thin(g, sections, spill->touches, spill->count);
	if (2 * spill->count > spill->capacity) {
		spill->capacity *= 2;
		spill->touches = g_renew(uint32_t, spill->touches, spill->capacity);
	}
	spill->touches[spill->count++] = touch;
}

static inline void touch_add(struct guards *g, const struct section *sections,
                             struct guard *guard, uint32_t touch)
{
	if (G_LIKELY(guard->count < NEAR))
		guard->near[guard->count++] = touch;
	else
		touch_spill(g, sections, guard, touch);
}

static inline void touches_clear(struct guards *g, struct guard *guard)
{
	if (G_UNLIKELY(guard->count == SPILLED))
		g_array_append_val(g->unused, guard->near[0]);
	guard->count = 0;
}

/* -- edges ------------------------------------------------------------------------------- */

struct accessing { /* one access and what it is looked at with */
	struct causality *c;
	struct guards *g;
	const struct section *sections;
	uint32_t event, thread;
	bool writes;
};

static inline void section_edge(const struct accessing *a, uint32_t key, uint32_t serial)
{
	const struct section *s = &a->sections[serial];

	if (s->thread != a->thread &&
	    clocks_strong(&a->c->clocks, a->thread)[s->thread] <= s->release.event)
		causality_edge(a->c, a->event, s->thread, s->release, STEP_CONFLICT_SECTION,
		               (key - 1) / 2, true);
}

/* Edges from the sections behind one guard whose accesses conflict with this one. */
static inline void guard_edges(const struct accessing *a, struct guard *guard)
{
	struct touches touches;

	if (guard->write != 0 && guard->write_thread != a->thread)
		section_edge(a, guard->key, guard->write);
	/* Behind an exclusive guard the others are readers. */
	if (!a->writes && ((guard->key - 1) & 1) == 0)
		return;
	touches = touches_of(a->g, guard);
	for (uint32_t i = 0; i < touches.count; i++) {
		if (a->writes || (touches.of[i] & 1))
			section_edge(a, guard->key, touches.of[i] >> 1);
	}
}

static void other_mode(const struct accessing *a, uint32_t variable, const struct held *h)
{
	struct guard *other = guard_find(a->g, variable, h->key ^ 1);

	if (other != NULL)
		guard_edges(a, other);
}

/* In a shared section. */
static __attribute__((noinline)) void access_shared(const struct accessing *a,
                                                    struct guard *guard, uint32_t variable,
                                                    const struct held *h)
{
	struct touches touches = touches_of(a->g, guard);

	for (uint32_t i = 0; i < touches.count; i++) {
		if (touches.of[i] >> 1 == h->serial && (touches.of[i] & 1) >= a->writes)
			return;
	}
	other_mode(a, variable, h);
	if (h->ends)
		touch_add(a->g, a->sections, guard, TOUCH(h->serial, a->writes));
}

static inline void access_exclusive(const struct accessing *a, struct guard *guard,
                                    uint32_t variable, const struct held *h)
{
	uint32_t touch = TOUCH(h->serial, 0);
	struct touches touches;

	if (guard->write == h->serial)
		return;
	if (!a->writes) {
		/* Since this section began nobody else has been here. */
		touches = touches_of(a->g, guard);
		if (touches.count > 0 && touches.of[touches.count - 1] == touch)
			return;
	}
	guard_edges(a, guard);
	if (G_UNLIKELY(h->mixed))
		other_mode(a, variable, h);
	if (G_UNLIKELY(!h->ends))
		return;
	if (a->writes) {
		touches_clear(a->g, guard);
		guard->write = h->serial;
		guard->write_thread = (uint16_t)a->thread;
	} else {
		touch_add(a->g, a->sections, guard, touch);
	}
}

static inline void access_under(const struct accessing *a, uint32_t variable,
                                const struct held *h)
{
	struct guard *guard = &a->g->first[variable];

	if (G_UNLIKELY(guard->key != h->key + 1))
		guard = guard_make(a->g, variable, h->key);
	if (G_UNLIKELY(h->key & 1))
		access_shared(a, guard, variable, h);
	else
		access_exclusive(a, guard, variable, h);
}

/* Under several locks all but one guard are hashed: what the thread accesses next is fetched
 * while this one is looked at. */
static void fetch_ahead(const struct guards *g, const struct trace *t,
                        const struct holding *holding, uint32_t event)
{
	const struct event *x = &t->events[event];

	if (x->op > OP_WRITE || x->thread != t->events[event - 1].thread || g->size == 0 ||
	    (x->flags & EVENT_WIDE))
		return;
	for (uint32_t i = 0; i < holding->count; i++) {
		if (g->first[x->target].key != holding->held[i].key + 1)
			__builtin_prefetch(&g->more[guard_place(g, x->target,
			                                        holding->held[i].key + 1)],
			                   1);
	}
}

enum { AHEAD = 4 };

void guards_access(struct causality *c, struct guards *g, const struct section *sections,
                   const struct holding *holding, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct wide run = event_variables(c->t, x);
	struct accessing a = { c, g, sections, event, x->thread, op_writes(x->op) };

	if (G_UNLIKELY(holding->count > 1) && event + AHEAD < c->t->events_count)
		fetch_ahead(g, c->t, holding, event + AHEAD);
	for (uint32_t i = 0; i < holding->count; i++) {
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			access_under(&a, v, &holding->held[i]);
	}
}

/* -- sweeping ---------------------------------------------------------------------------- */

static void guard_mark(const struct guards *g, struct guard *guard, struct clocks *clocks,
                       const struct section *sections)
{
	struct touches touches = touches_of(g, guard);

	clocks_mark(clocks, sections[guard->write].release.row);
	for (uint32_t i = 0; i < touches.count; i++)
		clocks_mark(clocks, sections[touches.of[i] >> 1].release.row);
}

void guards_mark(const struct guards *g, struct clocks *clocks,
                 const struct section *sections)
{
	for (uint64_t v = 0; v < g->variables; v++) {
		if (g->first[v].key != 0)
			guard_mark(g, &g->first[v], clocks, sections);
	}
	for (uint32_t i = 0; i < g->size; i++) {
		if (g->more[i].key != 0)
			guard_mark(g, &g->more[i], clocks, sections);
	}
}
