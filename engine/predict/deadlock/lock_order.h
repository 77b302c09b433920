/*
 * lock_order.h - the locks on cycles of the lock order.
 *
 * A deadlock's requests want and hold locks of one strongly connected component of the graph
 * "held -> wanted". Most programs have none with two locks, and then the search ends here.
 * Independent of events.
 */
#ifndef HEDDLE_LOCK_ORDER_H
#define HEDDLE_LOCK_ORDER_H

#include "engine/base/base.h"

struct lock_edge {
	uint32_t held, wanted; /* locks */
};

/* Component number by lock, owned by the caller (g_free). Linear (Tarjan, SIAM J. Computing 1,
 * 1972). */
uint32_t *lock_order_components(uint32_t locks, const struct lock_edge *edges, size_t count);

#endif
