/*
 * guards.c - rule (a) of WCP, DC and WDC: the release of a critical section is ordered before a
 * later access in another section on the lock that conflicts with an access of the first.
 *
 * A guard stands for one variable under one lock and mode: the last section that wrote it and
 * the sections that read it since. An access takes edges from there, once in a section for each
 * variable and kind, and adds its own section at once: a section that this one excludes cannot
 * look before this one has ended.
 */
#include "engine/order/rules.h"

#include "engine/base/hash.h"
#include "engine/base/scattered.h"

#include <string.h>

/* Touches that do not fit into a guard. */
struct spill {
	uint32_t *touches;
	uint32_t count, capacity;
};

/* Most variables are accessed under one lock, so the first guard of each is in an array
 * (s->first), which callers can prefetch; the others are hashed. */
struct rule_a {
	uint64_t variables;
	struct guard_line *more; /* open addressing; `size` is a power of two or 0 */
	uint32_t size, count;
	GArray *spills;        /* index 0 is not used */
	GArray *unused;        /* uint32_t: free spills */
	uint32_t *seen, round; /* scratch of touches_thin, by thread * 2 + writes */
};

void rule_a_new(struct sections *s, const struct trace *t)
{
	struct rule_a *a = s->rule_a = g_new0(struct rule_a, 1);
	struct spill none = { 0 };

	a->variables = t->variables_count;
	s->first = scattered_lines((a->variables + 1) * sizeof(struct guard_line));
	memset(s->first, 0, (a->variables + 1) * sizeof(struct guard_line));
	a->spills = g_array_new(FALSE, FALSE, sizeof(struct spill));
	g_array_append_val(a->spills, none);
	a->unused = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	a->seen = g_new0(uint32_t, 2 * t->threads_count + 2);
}

void rule_a_free(struct sections *s)
{
	struct rule_a *a = s->rule_a;

	for (guint i = 0; i < a->spills->len; i++)
		g_free(g_array_index(a->spills, struct spill, i).touches);
	g_array_free(a->spills, TRUE);
	g_array_free(a->unused, TRUE);
	g_free(s->first);
	g_free(a->more);
	g_free(a->seen);
	g_free(a);
}

/* -- finding a guard --------------------------------------------------------------------- */

static uint32_t guard_place(const struct rule_a *a, uint32_t variable, uint32_t key)
{
	uint64_t hash = hash_pair(variable, key);

	return hash_top(hash) & (a->size - 1);
}

/* The guard, or the unused place for it. Requires size > 0. */
static struct guard *more_at(const struct rule_a *a, uint32_t variable, uint32_t key)
{
	uint32_t at = guard_place(a, variable, key);

	while (a->more[at].guard.key != 0 &&
	       (a->more[at].guard.key != key || a->more[at].guard.variable != variable))
		at = (at + 1) & (a->size - 1);
	return &a->more[at].guard;
}

static void more_grow(struct rule_a *a)
{
	struct guard_line *old = a->more;
	uint32_t size = a->size;

	a->size = MAX(1024, 2 * size);
	a->more = scattered_lines(a->size * sizeof(struct guard_line));
	memset(a->more, 0, a->size * sizeof(struct guard_line));
	for (uint32_t i = 0; i < size; i++) {
		const struct guard *guard = &old[i].guard;

		if (guard->key != 0)
			*more_at(a, guard->variable, guard->key) = *guard;
	}
	g_free(old);
}

/* NULL when the variable has no such guard. */
static struct guard *guard_find(const struct sections *s, uint32_t variable, uint32_t key)
{
	if (s->first[variable].guard.key == key)
		return &s->first[variable].guard;
	if (s->rule_a->size == 0)
		return NULL;
	struct guard *found = more_at(s->rule_a, variable, key);
	return found->key == 0 ? NULL : found;
}

static struct guard *guard_make(struct sections *s, uint32_t variable, uint32_t key)
{
	struct guard *found = &s->first[variable].guard;
	struct rule_a *a = s->rule_a;

	if (found->key == key)
		return found;
	if (found->key != 0) {
		if (4 * (uint64_t)a->count >= 3 * (uint64_t)a->size)
			more_grow(a);
		found = more_at(a, variable, key);
		if (found->key != 0)
			return found;
		a->count++;
	}
	found->key = key;
	found->variable = variable;
	return found;
}

/* -- touches ------------------------------------------------------------------------------ */

struct touches {
	uint32_t *of, count;
};

static inline struct touches touches_of(const struct rule_a *a, struct guard *guard)
{
	const struct spill *spill;

	if (guard->count != SPILLED)
		return (struct touches){ guard->near, guard->count };
	spill = &g_array_index(a->spills, struct spill, guard->near[0]);
	return (struct touches){ spill->touches, spill->count };
}

/* Keep the last touch of each thread and kind; returns their number. */
static uint32_t touches_thin(const struct sections *s, uint32_t *touches, uint32_t count)
{
	struct rule_a *a = s->rule_a;
	uint32_t to = count;

	a->round++;
	for (uint32_t i = count; i-- > 0;) {
		uint32_t thread = s->list[touches[i] >> 1].thread;
		uint32_t *last = &a->seen[TOUCH(thread, touches[i] & 1)];

		if (*last == a->round)
			continue;
		*last = a->round;
		touches[--to] = touches[i];
	}
	memmove(touches, touches + to, (count - to) * sizeof(uint32_t));
	return count - to;
}

static void spill_begin(struct rule_a *a, struct guard *guard)
{
	struct spill fresh = { 0 }, *spill;
	uint32_t i = a->spills->len;

	if (a->unused->len > 0) {
		i = g_array_index(a->unused, uint32_t, a->unused->len - 1);
		g_array_set_size(a->unused, a->unused->len - 1);
	} else {
		fresh.capacity = 4 * NEAR;
		fresh.touches = g_new(uint32_t, fresh.capacity);
		g_array_append_val(a->spills, fresh);
	}
	spill = &g_array_index(a->spills, struct spill, i);
	memcpy(spill->touches, guard->near, sizeof(guard->near));
	spill->count = NEAR;
	guard->near[0] = i;
	guard->count = SPILLED;
}

static void touch_add(const struct sections *s, struct guard *guard, uint32_t touch)
{
	struct spill *spill;

	if (guard->count == NEAR)
		guard->count = touches_thin(s, guard->near, NEAR);
	if (guard->count < NEAR) {
		guard->near[guard->count++] = touch;
		return;
	}
	if (guard->count != SPILLED)
		spill_begin(s->rule_a, guard);
	spill = &g_array_index(s->rule_a->spills, struct spill, guard->near[0]);
	if (spill->count == spill->capacity)
		spill->count = touches_thin(s, spill->touches, spill->count);
	if (2 * spill->count > spill->capacity) {
		spill->capacity *= 2;
		spill->touches = g_renew(uint32_t, spill->touches, spill->capacity);
	}
	spill->touches[spill->count++] = touch;
}

static void touches_clear(struct rule_a *a, struct guard *guard)
{
	if (guard->count == SPILLED)
		g_array_append_val(a->unused, guard->near[0]);
	guard->count = 0;
}

static void touch_exclusive(const struct sections *s, struct guard *guard, uint32_t serial,
                            bool writes)
{
	if (!writes) {
		touch_add(s, guard, TOUCH(serial, 0));
		return;
	}
	touches_clear(s->rule_a, guard);
	guard->write = serial;
	guard->write_end = s->list[serial].end;
	guard->write_thread = s->list[serial].thread;
}

static void touch_late(GArray *touched, uint32_t variable, bool writes)
{
	struct late_access late = { variable, writes };
	const struct late_access *last =
	        &g_array_index(touched, const struct late_access, touched->len - 1);

	if (touched->len == 0 || last->variable != variable || last->writes < writes)
		g_array_append_val(touched, late);
}

void rule_a_late(struct sections *s, const struct held_section *h)
{
	for (guint i = 0; i < h->late->len; i++) {
		struct late_access late = g_array_index(h->late, struct late_access, i);
		struct guard *guard = guard_make(s, late.variable, h->key);

		if ((h->key - 1) & 1)
			touch_add(s, guard, TOUCH(h->serial, late.writes));
		else if (guard->write != h->serial)
			touch_exclusive(s, guard, h->serial, late.writes);
	}
}

/* -- edges ------------------------------------------------------------------------------- */

/* One access while its edges are computed. */
struct guarded_access {
	struct causality *c;
	struct sections *s;
	uint32_t event, thread;
	bool writes;
};

static void section_edge(const struct guarded_access *a, uint32_t key, uint32_t serial,
                         struct section_end from)
{
	if (from.thread != a->thread &&
	    clocks_strong_time(&a->c->clocks, a->c->clocks.now[a->thread], from.thread) <
	            from.end)
		causality_edge(a->c, a->event, from.thread,
		               (struct edge_source){ from.end - 1, a->s->clocks[serial] },
		               STEP_CONFLICT_SECTION, (key - 1) / 2, true);
}

/* Edges from the sections of one guard whose accesses conflict with this one. */
static void guard_edges(const struct guarded_access *a, struct guard *guard)
{
	if (guard->write != 0)
		section_edge(a, guard->key, guard->write,
		             (struct section_end){ guard->write_end, guard->write_thread });
	/* All but the last writer are readers, in exclusive mode. */
	if (!a->writes && ((guard->key - 1) & 1) == 0)
		return;
	struct touches touches = touches_of(a->s->rule_a, guard);
	for (uint32_t i = 0; i < touches.count; i++) {
		if (a->writes || (touches.of[i] & 1))
			section_edge(a, guard->key, touches.of[i] >> 1,
			             a->s->list[touches.of[i] >> 1]);
	}
}

static void other_mode(const struct guarded_access *a, uint32_t variable,
                       const struct held_section *h)
{
	struct guard *other = guard_find(a->s, variable, ((h->key - 1) ^ 1) + 1);

	if (other != NULL)
		guard_edges(a, other);
}

static void access_shared(const struct guarded_access *a, struct guard *guard,
                          uint32_t variable, const struct held_section *h)
{
	struct touches touches = touches_of(a->s->rule_a, guard);

	for (uint32_t i = 0; i < touches.count; i++) {
		if (touches.of[i] >> 1 == h->serial && (touches.of[i] & 1) >= a->writes)
			return;
	}
	other_mode(a, variable, h);
	if (h->late != NULL)
		touch_late(h->late, variable, a->writes);
	else
		touch_add(a->s, guard, TOUCH(h->serial, a->writes));
}

static void access_exclusive(const struct guarded_access *a, struct guard *guard,
                             uint32_t variable, const struct held_section *h)
{
	uint32_t touch = TOUCH(h->serial, 0);
	struct touches touches;

	if (guard->write == h->serial)
		return;
	if (!a->writes) {
		/* no other thread has read the variable since this section began */
		touches = touches_of(a->s->rule_a, guard);
		if (touches.count > 0 && touches.of[touches.count - 1] == touch)
			return;
	}
	guard_edges(a, guard);
	if (h->mixed)
		other_mode(a, variable, h);
	if (h->late != NULL)
		touch_late(h->late, variable, a->writes);
	else
		touch_exclusive(a->s, guard, h->serial, a->writes);
}

static void access_under(const struct guarded_access *a, uint32_t variable,
                         const struct held_section *h)
{
	struct guard *guard = guard_make(a->s, variable, h->key);

	if ((h->key - 1) & 1)
		access_shared(a, guard, variable, h);
	else
		access_exclusive(a, guard, variable, h);
}

/* Under several locks all guards but one are hashed: those of the thread's next accesses are
 * prefetched. */
static void fetch_ahead(const struct sections *s, const struct held_sections *holding,
                        const struct event *x)
{
	if (x->op > OP_WRITE || (x->flags & EVENT_WIDE) || s->rule_a->size == 0)
		return;
	for (uint32_t i = 0; i < holding->count; i++) {
		uint32_t key = holding->held[i].key;

		if (s->first[x->target].guard.key != key)
			__builtin_prefetch(
			        &s->rule_a->more[guard_place(s->rule_a, x->target, key)], 1);
	}
}

enum { AHEAD = 8 };

/* Prefetch from the `from`th next event on; those before it have been prefetched. */
static void fetch_burst(const struct sections *s, const struct event *x, uint32_t from)
{
	const struct held_sections *holding = &s->holding[x->thread];
	const struct event *last = s->t->events + s->t->events_count - 1;

	for (uint32_t i = from; i <= AHEAD && x + i <= last; i++) {
		if (x[i].thread == x->thread)
			fetch_ahead(s, holding, &x[i]);
	}
}

void rule_a_fetch(const struct sections *s, const struct event *x)
{
	fetch_burst(s, x, 1);
}

bool sections_quiet_nested(struct sections *s, const struct clocks *clocks,
                           const struct event *x)
{
	const struct held_sections *holding = &s->holding[x->thread];
	struct clock_view known = clocks_view(clocks, clocks->now[x->thread]);

	/* Where the thread resumes after another one, the whole burst is prefetched. */
	fetch_burst(s, x, x > s->t->events && x[-1].thread == x->thread ? AHEAD : 1);
	/* The innermost lock most likely is the variable's own, so it gets the guard that is
	 * not hashed. */
	for (uint32_t i = holding->count; i-- > 0;) {
		const struct held_section *h = &holding->held[i];
		struct guard *guard = guard_make(s, x->target, h->key);

		if (guard->count > NEAR ||
		    !guard_quiet(s, guard, (struct open_section){ h->key, h->serial, h->end },
		                 known, x))
			return false; /* looking at the quiet locks again does no harm */
	}
	return true;
}

void sections_access(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct sections *s = c->sections;
	const struct held_sections *holding = &s->holding[x->thread];
	struct guarded_access a = { c, s, event, x->thread, op_writes(x->op) };
	struct wide run = event_variables(c->t, x);

	if (holding->count > 1) { /* as in sections_quiet_nested */
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			guard_make(s, v, holding->held[holding->count - 1].key);
	}
	for (uint32_t i = 0; i < holding->count; i++) {
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			access_under(&a, v, &holding->held[i]);
	}
}

/* -- sweeping ---------------------------------------------------------------------------- */

static void guard_mark(const struct sections *s, struct guard *guard, struct clocks *clocks)
{
	if (guard->key == 0)
		return;
	struct touches touches = touches_of(s->rule_a, guard);
	clocks_mark(clocks, s->clocks[guard->write]);
	for (uint32_t i = 0; i < touches.count; i++)
		clocks_mark(clocks, s->clocks[touches.of[i] >> 1]);
}

void rule_a_mark(const struct sections *s, struct clocks *clocks)
{
	for (uint64_t v = 0; v < s->rule_a->variables; v++)
		guard_mark(s, &s->first[v].guard, clocks);
	for (uint32_t i = 0; i < s->rule_a->size; i++)
		guard_mark(s, &s->rule_a->more[i].guard, clocks);
}
