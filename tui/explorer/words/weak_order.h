/*
 * weak_order.h - describes C11 data races: in every schedule the accesses are ordered by an
 * atomic read, but relaxed atomics publish nothing, so the later access may not see the
 * earlier.
 */
#ifndef HEDDLE_WEAK_ORDER_H
#define HEDDLE_WEAK_ORDER_H

#include "tui/explorer/session.h"

/* Is the finding a C11 race? */
bool is_weak_order(const struct finding *f);

struct weak_order {
	uint32_t store, load; /* the atomic store after the first access and the load of it
	                       * before the second; NONE: not that simple */
	bool store_publishes; /* the store has release order: the load lacks acquire */
	uint32_t stale;       /* value that a read may see instead of the recorded one (index
	                       * of trace.values; 0: unknown or no such read) */
};

/* "T2 may read the old message (0): T1's store of ready (publish.c:19) is relaxed and does not
 * publish it.  Use release there and acquire at publish.c:25." */
void describe_weak_order(const struct session *s, const struct finding *f, GString *out);

#endif
