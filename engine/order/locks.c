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

struct locks *locks_new(const struct trace *t)
{
	struct locks *l = g_new0(struct locks, 1);

	l->count = t->objects_count;
	l->of = g_new0(struct lock, l->count + 1);
	for (uint64_t i = 0; i < l->count; i++)
		l->of[i].points.release = NO_SYNC_POINT;
	return l;
}

void locks_free(struct locks *l)
{
	if (l == NULL)
		return;
	for (uint64_t i = 0; i < l->count; i++) {
		sync_points_free(l->of[i].points.readers);
		sync_points_free(l->of[i].others);
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
	struct sync_point *release = &c->locks->of[object].points.release;
	uint32_t event = epoch_event(last[RELEASE]);

	if (last[ACQUIRE] == c->locks->shared || release->event == event)
		return;
	*release = (struct sync_point){
		event, epoch_thread(last[RELEASE]),
		causality_past_point(c, event, epoch_thread(last[RELEASE])).clock
	};
}

void locks_acquire_new(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	epoch *last = &c->locks->last[EACH * (size_t)x->target], release = last[RELEASE];
	const struct lock_points *l = &c->locks->of[x->target].points;
	struct sync_region *of;
	uint32_t clock = l->release.clock;

	if (l->release.event != epoch_event(release)) {
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

struct acquire {
	struct causality *c;
	uint32_t event, lock;
};

static void join(void *context, const struct sync_point *from)
{
	const struct acquire *a = context;

	causality_edge(a->c, a->event, from->thread,
	               (struct edge_source){ from->event, from->clock }, STEP_LOCK, a->lock,
	               false);
}

void locks_acquire(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	const struct lock *l = &c->locks->of[x->target];
	struct acquire acquire = { c, event, x->target };

	sync_points_join(l->others, join, &acquire);
	lock_acquire(&l->points, x->op == OP_RACQ, join, &acquire);
}

/* Drop the releases that a thread's clock covers. */
static void drop_covered(const struct causality *c, GArray *releases, uint32_t thread)
{
	for (guint i = releases == NULL ? 0 : releases->len; i-- > 0;) {
		const struct sync_point *r = &g_array_index(releases, struct sync_point, i);

		if (r->thread == thread ||
		    clocks_now_time(&c->clocks, thread, r->thread) > r->event)
			g_array_remove_index_fast(releases, i);
	}
}

/* The acquire before this exclusive release may have been hidden, and joined nothing: earlier
 * releases go unless this one is ordered after them. */
static void release_scoped(const struct causality *c, struct lock *l, struct sync_point at)
{
	if (l->others == NULL)
		l->others = g_array_new(FALSE, FALSE, sizeof(struct sync_point));
	if (l->points.release.event != NONE)
		g_array_append_val(l->others, l->points.release);
	drop_covered(c, l->others, at.thread);
	drop_covered(c, l->points.readers, at.thread);
	l->points.release = at;
}

void locks_release(struct causality *c, uint32_t event)
{
	const struct event *x = &c->t->events[event];
	struct lock *l = &c->locks->of[x->target];
	struct sync_point at = { event, x->thread, causality_point(c, event).clock };

	if (x->op == OP_REL && c->scoped)
		release_scoped(c, l, at);
	else
		lock_release(&l->points, x->op == OP_RREL, at);
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
		clocks_mark(clocks, g_array_index(releases, struct sync_point, i).clock);
}

void locks_mark(struct causality *c)
{
	for (uint64_t i = 0; c->locks->last != NULL && i < c->locks->count; i++)
		locks_settle(c, (uint32_t)i);
	if (c->locks->last != NULL && c->observations == NULL)
		forget_past(c);
	for (uint64_t i = 0; i < c->locks->count; i++) {
		const struct lock *l = &c->locks->of[i];

		clocks_mark(&c->clocks, l->points.release.clock);
		mark_all(&c->clocks, l->points.readers);
		mark_all(&c->clocks, l->others);
	}
}
