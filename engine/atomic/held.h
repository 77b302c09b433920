/*
 * held.h - the locks that a thread holds, kept up along a pass over the trace.  Knows
 * nothing of units or sets.
 */
#ifndef HEDDLE_ATOMIC_HELD_H
#define HEDDLE_ATOMIC_HELD_H

#include "engine/trace/trace.h"

struct held {
	uint32_t acquire, object; /* the event, and its lock */
};

/* `held` is a GArray of struct held; `e`, an acquire or a release, is event `event`. */
static inline void held_note(GArray *held, uint32_t event, const struct event *e)
{
	if (op_acquires(e->op)) {
		struct held h = { event, e->target };
		g_array_append_val(held, h);
		return;
	}
	for (guint i = held->len; i-- > 0;)
		if (g_array_index(held, struct held, i).object == e->target) {
			g_array_remove_index(held, i);
			return;
		}
}

#endif
