/*
 * lock_order.h - which locks are on a cycle of the lock order.
 *
 * A deadlock's requests want locks of one strongly connected component of the graph "held ->
 * wanted", and each holds a lock of it.  In most programs no component has two locks, and then
 * nothing more has to be looked at.  Knows no events.
 */
#ifndef HEDDLE_LOCK_ORDER_H
#define HEDDLE_LOCK_ORDER_H

#include "engine/base/base.h"

struct lock_edge {
	uint32_t held, wanted; /* locks */
};

/* By lock: the number of its component, owned by the caller (g_free).  Linear in both (Tarjan,
 * SIAM J. Computing 1, 1972). */
uint32_t *lock_order_components(uint32_t locks, const struct lock_edge *edges, size_t count);

#endif
