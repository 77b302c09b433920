/*
 * sync_point.h - the sources of edges that synchronisation keeps: events with their threads.
 */
#ifndef HEDDLE_SYNC_POINT_H
#define HEDDLE_SYNC_POINT_H

#include "engine/base/base.h"

/* An event, its thread, and a clock that the user of the point keeps with it. */
struct sync_point {
	uint32_t event, thread, clock; /* event NONE: none */
};
#define NO_SYNC_POINT ((struct sync_point){ .event = NONE })

/* All points of a list happen before the next event, so the last point of each thread
 * suffices. A list that is NULL is created. */
static inline void sync_points_add(GArray **points, struct sync_point point)
{
	if (*points == NULL)
		*points = g_array_new(FALSE, FALSE, sizeof(struct sync_point));
	for (guint i = 0; i < (*points)->len; i++) {
		struct sync_point *p = &g_array_index(*points, struct sync_point, i);

		if (p->thread == point.thread) {
			if (p->event < point.event)
				*p = point;
			return;
		}
	}
	g_array_append_val(*points, point);
}

/* Points that several events come after. */
struct sync_set {
	GArray *points;          /* struct sync_point; or NULL */
	struct sync_point first; /* the first event that came after all of them, or none */
	uint32_t own;            /* the index of the point of its thread; NONE: there is none */
	uint32_t clock;          /* for the user of the set, as in sync_point; 0 at first */
};
#define NO_SYNC_SET ((struct sync_set){ .first = NO_SYNC_POINT, .own = NONE })

static inline void sync_points_free(GArray *points)
{
	if (points != NULL)
		g_array_free(points, TRUE);
}

#endif
