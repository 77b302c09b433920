/*
 * sync_edges.h - which earlier events an acquire of a lock and an acquiring read come after in
 * happens-before: the rules of lock edges and of synchronises-with, over the points that each
 * lock, variable and thread keeps. Joining is the caller's: a walk over a whole trace (locks.c,
 * atomics.c), or a program that is running (predict/pairs/online.c).
 *
 * All is inline, so that a join costs no call.
 */
#ifndef HEDDLE_SYNC_EDGES_H
#define HEDDLE_SYNC_EDGES_H

#include "engine/trace/event.h"
#include "engine/trace/sync_point.h"

/* The current event comes after the point. */
typedef void sync_join(void *context, const struct sync_point *from);

static inline __attribute__((always_inline)) void
sync_points_join(const GArray *points, sync_join *join, void *context)
{
	for (guint i = 0; points != NULL && i < points->len; i++)
		join(context, &g_array_index(points, struct sync_point, i));
}

/* -- locks: a release before every later acquire, unless both sections are shared ----------- */

struct lock_points {
	struct sync_point release; /* end of the last exclusive section: covers all before it */
	GArray *readers;           /* struct sync_point: shared releases since; NULL: none */
};

static inline __attribute__((always_inline)) void
lock_acquire(const struct lock_points *l, bool shared, sync_join *join, void *context)
{
	if (l->release.event != NONE)
		join(context, &l->release);
	if (!shared)
		sync_points_join(l->readers, join, context);
}

static inline void lock_release(struct lock_points *l, bool shared, struct sync_point at)
{
	if (shared) {
		sync_points_add(&l->readers, at);
		return;
	}
	if (l->readers != NULL)
		g_array_set_size(l->readers, 0);
	l->release = at;
}

/* -- release sequences ----------------------------------------------------------------------
 *
 * Each variable has the heads of the release sequences that its last write belongs to
 * (C17 7.17.3 and 7.17.4). One for each thread is enough, as a thread's last head happens after
 * its earlier ones. A store ends the sequences of other threads, an RMW none, a plain write
 * all. A write after a release fence heads a sequence at the fence; a read before an acquire
 * fence passes the heads on to the fence.
 */

/* A read by `thread` of a write with these heads: joins them, or keeps them in `pending` for an
 * acquire fence. */
static inline __attribute__((always_inline)) void
heads_read(const GArray *heads, uint32_t thread, enum memory_order_kind order, GArray **pending,
           sync_join *join, void *context)
{
	bool acquires = order_acquires(order);

	for (guint i = 0; heads != NULL && i < heads->len; i++) {
		const struct sync_point *h = &g_array_index(heads, struct sync_point, i);

		if (h->thread == thread)
			continue;
		if (acquires)
			join(context, h);
		else
			sync_points_add(pending, *h);
	}
}

/* Before a store's own head: of the heads only this thread's go on (NONE: none do). */
static inline void heads_keep(GArray *heads, uint32_t thread)
{
	for (guint i = heads != NULL ? heads->len : 0; i-- > 0;) {
		if (g_array_index(heads, struct sync_point, i).thread != thread)
			g_array_remove_index_fast(heads, i);
	}
}

/* An acquire fence. */
static inline __attribute__((always_inline)) void heads_fence(GArray *pending, sync_join *join,
                                                              void *context)
{
	sync_points_join(pending, join, context);
	if (pending != NULL)
		g_array_set_size(pending, 0);
}

#endif
