/*
 * held.h - the locks that a thread holds, updated along a pass over the trace.
 */
#ifndef HEDDLE_ATOMIC_HELD_H
#define HEDDLE_ATOMIC_HELD_H

#include "engine/trace/trace.h"

struct held_lock {
	uint32_t acquire, object; /* the event and its lock */
};

/* Update `held` (struct held_lock) by event `event`, an acquire or release `e`. */
static inline void held_note(GArray *held, uint32_t event, const struct event *e)
{
	if (op_acquires(e->op)) {
		struct held_lock h = { event, e->target };
		g_array_append_val(held, h);
		return;
	}
	for (guint i = held->len; i-- > 0;)
		if (g_array_index(held, struct held_lock, i).object == e->target) {
			g_array_remove_index(held, i);
			return;
		}
}

#endif
