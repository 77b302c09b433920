/*
 * weak_order.h - a data race that only C11's rules show, in words: in every schedule one access
 * comes after the other, as an atomic was read in between, but relaxed atomics publish nothing,
 * so the later access need not see the earlier one.
 */
#ifndef HEDDLE_WEAK_ORDER_H
#define HEDDLE_WEAK_ORDER_H

#include "tui/explorer/session.h"

/* Is the finding such a race? */
bool is_weak_order(const struct finding *f);

struct weak_order {
	uint32_t store, load; /* the atomic store after the first access and the load that reads
	                       * it before the second; NONE: other threads' come between */
	bool store_publishes; /* the store has release order: the load lacks acquire */
	uint32_t stale; /* the value that a read may see in place of the recorded one (index
	                 * of trace.values; 0: not known, or there is no such read) */
};

/* "T2 may read the old message (0): T1's store of ready (publish.c:19) is relaxed and does not
 * publish it.  Use release there and acquire at publish.c:25." */
void describe_weak_order(const struct session *s, const struct finding *f, GString *out);

#endif
