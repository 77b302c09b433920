/*
 * syncp_table.c - two passes over a trace for SyncP: the first follows the locks and finds
 * the variables whose accesses have no lock in common, the second collects the accesses of
 * those.  See syncp_private.h.
 */
#include "engine/predict/syncp_private.h"

#include <string.h>

/* -- locks: who acquired when, and what is held where ------------------------------------- */

void lock_table_init(struct lock_table *l, const struct trace *t)
{
	l->objects = t->objects_count;
	l->threads = t->threads_count;
	l->acquires = g_new0(GArray *, l->objects + 1);
	l->changes = g_new0(GArray *, l->threads + 1);
	l->held = g_array_new(FALSE, FALSE, sizeof(struct held));
	for (uint64_t u = 0; u < l->threads; u++)
		l->changes[u] = g_array_new(FALSE, FALSE, sizeof(struct change));
}

static void acquires_free(GArray *list)
{
	for (guint i = 0; i < list->len; i++) {
		g_array_free(g_array_index(list, struct acquires, i).all, TRUE);
		g_array_free(g_array_index(list, struct acquires, i).exclusive, TRUE);
	}
	g_array_free(list, TRUE);
}

void lock_table_release(struct lock_table *l)
{
	if (l->held == NULL)
		return;
	for (uint64_t o = 0; o < l->objects; o++) {
		if (l->acquires[o] != NULL)
			acquires_free(l->acquires[o]);
	}
	for (uint64_t u = 0; u < l->threads; u++)
		g_array_free(l->changes[u], TRUE);
	g_free(l->acquires);
	g_free(l->changes);
	g_array_free(l->held, TRUE);
}

static struct acquires *acquires_of(struct lock_table *l, uint32_t object, uint32_t thread)
{
	struct acquires fresh = { .thread = thread };
	GArray **list = &l->acquires[object];

	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(struct acquires));
	for (guint i = 0; i < (*list)->len; i++) {
		if (g_array_index(*list, struct acquires, i).thread == thread)
			return &g_array_index(*list, struct acquires, i);
	}
	fresh.all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	fresh.exclusive = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(*list, fresh);
	return &g_array_index(*list, struct acquires, (*list)->len - 1);
}

/* The list without one acquire; what lies inside of it is copied. */
static uint32_t held_without(struct lock_table *l, uint32_t list, uint32_t acquire)
{
	struct held h;

	if (list == NONE)
		return NONE;
	h = g_array_index(l->held, struct held, list);
	if (h.acquire == acquire)
		return h.outer;
	h.outer = held_without(l, h.outer, acquire);
	g_array_append_val(l->held, h);
	return l->held->len - 1;
}

uint32_t lock_table_event(struct lock_table *l, struct locksets *locksets,
                          const struct trace *t, uint32_t event)
{
	const struct event *x = &t->events[event];
	GArray *changes = l->changes[x->thread];
	struct change now = { event, NONE, 0 };

	if (changes->len > 0)
		now = g_array_index(changes, struct change, changes->len - 1);
	now.event = event;
	now.lockset = lockset_moved(locksets, now.lockset, x);
	if (op_acquires(x->op)) {
		struct held h = { event, now.held };
		struct acquires *a = acquires_of(l, x->target, x->thread);

		now.held = l->held->len;
		g_array_append_val(l->held, h);
		g_array_append_val(a->all, event);
		if (x->op == OP_ACQ)
			g_array_append_val(a->exclusive, event);
	} else {
		now.held = held_without(l, now.held, t->index->partner[event]);
	}
	g_array_append_val(changes, now);
	return now.lockset;
}

uint32_t lock_table_held(const struct lock_table *l, uint32_t thread, uint32_t limit)
{
	const GArray *changes = l->changes[thread];
	uint32_t low = 0, high = changes->len;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (g_array_index(changes, struct change, middle).event < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NONE : g_array_index(changes, struct change, low - 1).held;
}

/* -- the variables that may be in a race --------------------------------------------------- */

struct use {
	uint32_t common; /* the locks that all accesses so far hold exclusively */
	uint32_t count;
	uint16_t thread; /* of the first */
	bool threads, writes;
};

static inline void note_use(struct use *use, struct locksets *locksets, const struct event *x,
                            uint32_t exclusive)
{
	if (use->count++ == 0) {
		use->thread = x->thread;
		use->common = exclusive;
	}
	use->threads |= use->thread != x->thread;
	use->writes |= op_writes(x->op);
	if (use->common != exclusive && use->common != 0)
		use->common = lockset_exclusive(locksets, use->common, exclusive);
}

enum { AHEAD = 16, TICK = 1 << 20 };

/* The first pass; NULL when cancelled. */
static struct use *find_uses(struct syncp_table *s, const struct trace *t,
                             const struct progress *progress)
{
	struct use *uses = g_new0(struct use, t->variables_count + 1);
	uint32_t *exclusive = g_new0(uint32_t, t->threads_count + 1);
	bool done = true;

	for (uint32_t e = 0; e < t->events_count && done; e++) {
		const struct event *x = &t->events[e];
		struct wide run;

		if (e % TICK == 0)
			done = progress_tick(progress, (double)e / t->events_count,
			                     "shared variables");
		/* (Of what is no access the address is wrong, which is harmless.) */
		if (e + AHEAD < t->events_count)
			__builtin_prefetch(&uses[x[AHEAD].target], 1);
		if (event_inert(x))
			continue;
		if (op_is_access(x->op)) {
			run = event_variables(t, x);
			for (uint32_t v = run.first; v < run.first + run.count; v++)
				note_use(&uses[v], s->locksets, x, exclusive[x->thread]);
		} else if (op_acquires(x->op) || op_releases(x->op)) {
			uint32_t held = lock_table_event(&s->locks, s->locksets, t, e);

			exclusive[x->thread] = lockset_exclusive(s->locksets, held, held);
		}
	}
	g_free(exclusive);
	if (done)
		return uses;
	g_free(uses);
	return NULL;
}

/* Which variables, and where their accesses go; by variable the index, or NONE. */
static uint32_t *choose(struct accesses *a, const struct trace *t, const struct use *uses)
{
	uint32_t *index = g_new(uint32_t, t->variables_count + 1);
	uint64_t items = 0;

	memset(index, 255, (t->variables_count + 1) * sizeof(uint32_t));
	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (uses[v].threads && uses[v].writes && uses[v].common == 0)
			index[v] = a->count++;
	}
	a->variables = g_new(uint32_t, a->count + 1);
	a->start = g_new(uint64_t, a->count + 1);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (index[v] == NONE)
			continue;
		a->variables[index[v]] = v;
		a->start[index[v]] = items;
		items += uses[v].count;
	}
	a->start[a->count] = items;
	a->items = g_new(struct access, items + 1);
	return index;
}

struct moment {           /* where a thread is in the second pass */
	uint32_t changes; /* lock operations so far */
	uint32_t lockset;
	uint32_t stretch; /* how many of its stretches have begun */
};

static void collect(struct syncp_table *s, const struct trace *t,
                    const struct causality *observed, const uint32_t *index)
{
	struct accesses *a = &s->accesses;
	uint64_t *next = g_memdup2(a->start, (a->count + 1) * sizeof(uint64_t));
	struct moment *moments = g_new0(struct moment, t->threads_count + 1);

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct moment *m = &moments[x->thread];
		const GArray *stretches = observed->stretches[x->thread];
		struct wide run;

		if (!op_is_access(x->op)) {
			const GArray *changes = s->locks.changes[x->thread];

			if (m->changes < changes->len &&
			    g_array_index(changes, struct change, m->changes).event == e)
				m->lockset = g_array_index(changes, struct change, m->changes++)
				                     .lockset;
			continue;
		}
		if (event_inert(x))
			continue;
		run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			if (index[v] == NONE)
				continue;
			while (m->stretch < stretches->len &&
			       g_array_index(stretches, struct stretch, m->stretch).start <= e)
				m->stretch++;
			a->items[next[index[v]]++] =
			        (struct access){ .event = e,
				                 .lockset = m->lockset,
				                 .site = t->locations[x->location].site,
				                 .stretch = m->stretch,
				                 .thread = x->thread,
				                 .writes = op_writes(x->op),
				                 .atomic = op_is_atomic(x->op) };
		}
	}
	g_free(next);
	g_free(moments);
}

bool syncp_table_init(struct syncp_table *s, const struct trace *t,
                      const struct causality *observed, const struct progress *progress)
{
	struct use *uses;
	uint32_t *index;

	s->locksets = locksets_empty();
	lock_table_init(&s->locks, t);
	uses = find_uses(s, t, progress);
	if (uses == NULL)
		return false;
	index = choose(&s->accesses, t, uses);
	g_free(uses);
	collect(s, t, observed, index);
	g_free(index);
	return true;
}

void syncp_table_release(struct syncp_table *s)
{
	locksets_free(s->locksets);
	lock_table_release(&s->locks);
	g_free(s->accesses.variables);
	g_free(s->accesses.start);
	g_free(s->accesses.items);
}
