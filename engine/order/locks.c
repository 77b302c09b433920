/*
 * locks.c - lock edges of happens-before: rel(l) before every later acq(l), unless both
 * sections are shared.
 *
 * The last exclusive release covers all before it; shared releases are kept for each thread
 * until an exclusive section follows.
 *
 * Most sections are exclusive and need no edge, so a fast caller stores their epochs itself
 * (locks_borrow). The vector clock of a release is then looked up in the regions when an
 * acquire needs it.
 */
#include "engine/order/causality.h"

struct lock_release {
	struct edge_source at;
	uint32_t thread;
};

struct locks *locks_new(const struct trace *t)
{
	struct locks *l = g_new0(struct locks, 1);

	l->count = t->objects_count;
	l->of = g_new0(struct lock, l->count + 1);
	return l;
}

void locks_free(struct locks *l)
{
	if (l == NULL)
		return;
	for (uint64_t i = 0; i < l->count; i++) {
		if (l->of[i].readers != NULL)
			g_array_free(l->of[i].readers, TRUE);
		if (l->of[i].others != NULL)
			g_array_free(l->of[i].others, TRUE);
	}
	g_free(l->of);
	g_free(l);
}

/* -- epochs kept by the caller ------------------------------------------------------------ */

enum { ACQUIRE, RELEASE, EACH }; /* the two epochs of a lock */

void locks_borrow(struct causality *c, epoch *last, epoch shared)
{
	struct locks *l = c->locks;

	l->last = last;
	l->shared = shared;
	/* Overlapping sections (--lenient) always need causality_step. */
	for (uint64_t i = 0; c->t->locks_taken && i < l->count; i++)
		last[EACH * i + ACQUIRE] = shared;
	c->clocks.in_place = false;
	causality_keep_regions(c);
}

void locks_settle(struct causality *c, uint32_t object)
{
	const epoch *last = &c->locks->last[EACH * (size_t)object];
	struct lock *l = &c->locks->of[object];

	if (last[ACQUIRE] == c->locks->shared)
		return;
	if (l->release != last[RELEASE]) {
		l->release = last[RELEASE];
		l->clock = causality_past_point(c, epoch_event(l->release)).clock;
	}
}

void locks_acquire_new(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	epoch *last = &c->locks->last[EACH * (size_t)x->target], release = last[RELEASE];
	const struct lock *l = &c->locks->of[x->target];
	struct sync_region *of;
	uint32_t clock = l->clock;

	if (l->release != release) {
		of = regions_find(&c->regions[epoch_thread(release)], epoch_event(release));
		clock = of == NULL ? 0 : of->clock;
	}
	clocks_join_new(&c->clocks, x->thread, event, epoch_thread(release),
	                (struct edge_source){ epoch_event(release), clock });
	clock = c->clocks.now[x->thread];
	regions_add(&c->regions[x->thread], (struct sync_region){ event, clock, clock });
	last[ACQUIRE] = epoch_of(event, x->thread);
}

void locks_note(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	epoch *last = &c->locks->last[EACH * (size_t)x->target];

	if (x->op == OP_RACQ || x->op == OP_RREL)
		last[ACQUIRE] = c->locks->shared;
	else if (last[ACQUIRE] != c->locks->shared)
		last[x->op == OP_REL ? RELEASE : ACQUIRE] = epoch_of(event, x->thread);
}

/* -- edges -------------------------------------------------------------------------------- */

static void join_all(struct causality *c, uint32_t event, const GArray *releases)
{
	for (guint i = 0; releases != NULL && i < releases->len; i++) {
		const struct lock_release *r = &g_array_index(releases, struct lock_release, i);

		causality_edge(c, event, r->thread, r->at, STEP_LOCK,
		               c->t->events[event].target, false);
	}
}

void locks_acquire(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct lock *l = &c->locks->of[x->target];

	if (l->release != 0)
		causality_edge(c, event, epoch_thread(l->release),
		               (struct edge_source){ epoch_event(l->release), l->clock },
		               STEP_LOCK, x->target, false);
	join_all(c, event, l->others);
	if (x->op == OP_ACQ)
		join_all(c, event, l->readers);
}

/* Drop the releases that a thread's clock covers. */
static void drop_covered(const struct causality *c, GArray *releases, uint32_t thread)
{
	for (guint i = releases == NULL ? 0 : releases->len; i-- > 0;) {
		const struct lock_release *r = &g_array_index(releases, struct lock_release, i);

		if (r->thread == thread ||
		    clocks_now_time(&c->clocks, thread, r->thread) > r->at.event)
			g_array_remove_index_fast(releases, i);
	}
}

/* The acquire before this release may have been hidden, and joined nothing. */
static void keep_uncovered(const struct causality *c, struct lock *l, uint32_t thread)
{
	struct lock_release last = { { epoch_event(l->release), l->clock },
		                     epoch_thread(l->release) };

	if (l->others == NULL)
		l->others = g_array_new(FALSE, FALSE, sizeof(struct lock_release));
	if (l->release != 0)
		g_array_append_val(l->others, last);
	drop_covered(c, l->others, thread);
	drop_covered(c, l->readers, thread);
}

void locks_release(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct lock *l = &c->locks->of[x->target];
	struct lock_release reader = { causality_point(c, event), x->thread };

	if (x->op == OP_REL) {
		if (c->scoped)
			keep_uncovered(c, l, x->thread);
		else if (l->readers != NULL)
			g_array_set_size(l->readers, 0);
		l->release = epoch_of(event, x->thread);
		l->clock = reader.at.clock;
		return;
	}
	if (l->readers == NULL)
		l->readers = g_array_new(FALSE, FALSE, sizeof(struct lock_release));
	for (guint i = 0; i < l->readers->len; i++) {
		struct lock_release *r = &g_array_index(l->readers, struct lock_release, i);

		if (r->thread == x->thread) {
			*r = reader;
			return;
		}
	}
	g_array_append_val(l->readers, reader);
}

/* Every lock's clock is known after locks_settle, so only the last regions are needed. */
static void forget_past(struct causality *c)
{
	for (uint32_t u = 0; u < c->clocks.threads; u++) {
		struct sync_regions *s = &c->regions[u];

		if (s->count > 1) {
			s->of[0] = s->of[s->count - 1];
			s->count = 1;
		}
	}
}

static void mark_all(struct clocks *clocks, const GArray *releases)
{
	for (guint i = 0; releases != NULL && i < releases->len; i++)
		clocks_mark(clocks, g_array_index(releases, struct lock_release, i).at.clock);
}

void locks_mark(struct causality *c)
{
	for (uint64_t i = 0; c->locks->last != NULL && i < c->locks->count; i++)
		locks_settle(c, (uint32_t)i);
	if (c->locks->last != NULL && c->observations == NULL)
		forget_past(c);
	for (uint64_t i = 0; i < c->locks->count; i++) {
		const struct lock *l = &c->locks->of[i];

		clocks_mark(&c->clocks, l->clock);
		mark_all(&c->clocks, l->readers);
		mark_all(&c->clocks, l->others);
	}
}
