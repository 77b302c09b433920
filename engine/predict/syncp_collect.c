/*
 * syncp_collect.c - the accesses that may be in a sync-preserving race, after the walk.  See
 * syncp_private.h.
 *
 * One more pass over the events.  Of an open variable all accesses are collected.  Of a guarded
 * one those that are left unordered, by what the walk knows, with one of its strays: two
 * accesses that are in a race do not know each other, and one of the two is a stray.
 */
#include "engine/predict/syncp_private.h"

#include "engine/base/scattered.h"

#include <string.h>

struct chosen { /* a variable; the open ones come first, then those with strays */
	uint32_t first, count; /* strays of its; open: none */
	uint64_t next;         /* open: where its next access goes */
};
struct moment {                     /* where a thread is */
	uint32_t stretches, changes; /* so many have begun, are past */
};
struct found { /* an access of a variable with strays */
	struct access access;
	uint32_t index;
};
struct collecting {
	struct syncp *s;
	uint32_t *index; /* by variable: of `chosen`, or NONE */
	struct chosen *chosen;
	uint32_t open;        /* how many of them are */
	struct stray *strays; /* by variable */
	struct moment *moments;
	GArray *found;
};

/* -- which variables ------------------------------------------------------------------------ */

static bool is_open(const struct variable_use *use)
{
	return (use->flags & VARIABLE_OPEN) && (use->flags & VARIABLE_PLAIN);
}

static bool has_strays(const struct variable_use *use)
{
	return use->strays > 0 && (use->flags & VARIABLE_WRITTEN) &&
	       (use->flags & VARIABLE_PLAIN) && !(use->flags & (VARIABLE_OPEN | VARIABLE_BARE));
}

/* Numbers the variables for which `wanted` holds. */
static void choose(struct collecting *c, const struct variable_use *uses,
                   bool (*wanted)(const struct variable_use *use))
{
	struct accesses *a = &c->s->accesses;

	for (uint32_t v = 0; v < c->s->t->variables_count; v++) {
		if (!wanted(&uses[v]))
			continue;
		c->index[v] = a->count;
		a->variables[a->count++] = v;
	}
}

static void sort_strays(struct collecting *c, const GArray *strays)
{
	struct chosen *chosen = c->chosen;
	uint32_t sum = 0, count = c->s->accesses.count;

	c->strays = g_new(struct stray, strays->len + 1);
	for (guint i = 0; i < strays->len; i++) {
		uint32_t at = c->index[g_array_index(strays, struct stray, i).variable];

		if (at != NONE && at >= c->open)
			chosen[at].count++;
	}
	for (uint32_t i = c->open; i < count; i++) {
		chosen[i].first = sum;
		sum += chosen[i].count;
		chosen[i].count = 0;
	}
	for (guint i = 0; i < strays->len; i++) {
		struct stray s = g_array_index(strays, struct stray, i);
		uint32_t at = c->index[s.variable];

		if (at != NONE && at >= c->open)
			c->strays[chosen[at].first + chosen[at].count++] = s;
	}
}

static void lay_out(struct collecting *c, const struct variable_use *uses, const GArray *strays)
{
	size_t variables = c->s->t->variables_count + 1;
	struct accesses *a = &c->s->accesses;
	uint64_t items = 0;

	c->index = g_new(uint32_t, variables);
	memset(c->index, 255, variables * sizeof(uint32_t));
	a->variables = g_new(uint32_t, variables);
	choose(c, uses, is_open);
	c->open = a->count;
	choose(c, uses, has_strays);
	c->chosen = g_new0(struct chosen, a->count + 1);
	a->start = g_new0(uint64_t, a->count + 1);
	for (uint32_t i = 0; i < c->open; i++) {
		a->start[i] = c->chosen[i].next = items;
		items += uses[a->variables[i]].count;
	}
	a->start[c->open] = items;
	a->items = scattered_new(struct access, items + 1);
	sort_strays(c, strays);
}

/* -- the accesses --------------------------------------------------------------------------- */

static uint32_t row_of(struct collecting *c, uint32_t event, uint32_t thread)
{
	const GArray *list = c->s->observed->stretches[thread];
	struct moment *m = &c->moments[thread];

	while (m->stretches < list->len &&
	       g_array_index(list, struct stretch, m->stretches).start <= event)
		m->stretches++;
	return stretch_past(m->stretches == 0 ? NULL
	                                      : &g_array_index(list, struct stretch,
	                                                       m->stretches - 1),
	                    event);
}

static uint32_t lockset_of(struct collecting *c, uint32_t event, uint32_t thread)
{
	const struct changes *changes = &c->s->locks.changes[thread];
	struct moment *m = &c->moments[thread];

	while (m->changes < changes->count && changes->items[m->changes].event < event)
		m->changes++;
	return m->changes == 0 ? 0
	                       : lock_table_lockset(&c->s->locks,
	                                            changes->items[m->changes - 1].held);
}

static struct access access_of(struct collecting *c, uint32_t event, uint32_t row)
{
	const struct event *x = &c->s->t->events[event];

	return (struct access){ .event = event,
		                .lockset = lockset_of(c, event, x->thread),
		                .site = c->s->t->locations[x->location].site,
		                .row = row,
		                .thread = x->thread,
		                .writes = op_writes(x->op),
		                .atomic = op_is_atomic(x->op) };
}

/* Does one of the strays not know the access, nor is known by it?  Or is the access one? */
static bool near_stray(const struct collecting *c, const struct chosen *chosen, uint32_t event,
                       uint32_t thread, uint32_t row)
{
	const struct clocks *clocks = &c->s->observed->clocks;
	const uint32_t *known = clocks_row(clocks, row);
	const struct stray *s = c->strays + chosen->first;

	for (uint32_t i = 0; i < chosen->count; i++) {
		if (s[i].thread == thread ? s[i].event == event
		    : s[i].event < event  ? known[s[i].thread] <= s[i].event
		                          : clocks_row(clocks, s[i].row)[thread] <= event)
			return true;
	}
	return false;
}

static void collect_access(struct collecting *c, uint32_t event, uint32_t index)
{
	struct chosen *chosen = &c->chosen[index];
	uint32_t thread = c->s->t->events[event].thread;
	uint32_t row = row_of(c, event, thread);
	struct found found;

	if (index < c->open) {
		c->s->accesses.items[chosen->next++] = access_of(c, event, row);
	} else if (near_stray(c, chosen, event, thread, row)) {
		found = (struct found){ access_of(c, event, row), index };
		g_array_append_val(c->found, found);
	}
}

/* What is no plain access of one variable. */
static __attribute__((noinline)) void collect_other(struct collecting *c, uint32_t e)
{
	const struct event *x = &c->s->t->events[e];
	struct wide run;

	if (event_inert(x) || !op_is_access(x->op))
		return;
	run = event_variables(c->s->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (c->index[v] != NONE)
			collect_access(c, e, c->index[v]);
	}
}

/* False when cancelled. */
static bool collect(struct collecting *c, const struct progress *progress)
{
	enum { TICK = 1 << 20 };
	const struct trace *t = c->s->t;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (e % TICK == 0 &&
		    !progress_tick(progress, (double)e / t->events_count, "accesses"))
			return false;
		if (G_UNLIKELY(!event_simple(x)))
			collect_other(c, e);
		else if (c->index[x->target] != NONE)
			collect_access(c, e, c->index[x->target]);
	}
	return true;
}

/* What was found of variables with strays goes behind the rest, by variable. */
static void place_found(struct collecting *c)
{
	struct accesses *a = &c->s->accesses;
	uint64_t at = a->start[c->open];

	a->items = g_renew(struct access, a->items, at + c->found->len + 1);
	for (guint i = 0; i < c->found->len; i++)
		a->start[g_array_index(c->found, struct found, i).index + 1]++;
	for (uint32_t i = c->open; i < a->count; i++) {
		uint64_t own = a->start[i + 1];

		a->start[i] = c->chosen[i].next = at;
		at += own;
	}
	a->start[a->count] = at;
	for (guint i = 0; i < c->found->len; i++) {
		const struct found *f = &g_array_index(c->found, struct found, i);

		a->items[c->chosen[f->index].next++] = f->access;
	}
}

bool syncp_collect(struct syncp *s, const struct progress *progress)
{
	struct collecting c = { s };
	struct variable_use *uses = NULL;
	GArray *strays = NULL;
	bool done = syncp_walk(s, &uses, &strays, progress);

	if (done) {
		lay_out(&c, uses, strays);
		c.moments = g_new0(struct moment, s->threads + 1);
		c.found = g_array_new(FALSE, FALSE, sizeof(struct found));
	}
	g_free(uses);
	if (strays != NULL)
		g_array_free(strays, TRUE);
	if (!done)
		return false;
	if (s->accesses.count > 0)
		done = collect(&c, progress);
	place_found(&c);
	g_array_free(c.found, TRUE);
	g_free(c.moments);
	g_free(c.strays);
	g_free(c.chosen);
	g_free(c.index);
	return done;
}
