/*
 * c11_order.h - C11's happens-before of a sequence of events, written from the standard and
 * semantics.md: the reference for races that are visible only as C11 races.
 */
#ifndef HEDDLE_C11_ORDER_H
#define HEDDLE_C11_ORDER_H

#include "engine/trace/trace.h"

enum { C11_ORDER_MOST = 32 }; /* events of a sequence */

struct c11_order {
	uint32_t length;
	/* By places of the sequence, i < j: happens-before leaves the two unordered. A plain
	 * observation orders later events, but not the two events themselves: that is the
	 * race. */
	bool apart[C11_ORDER_MOST][C11_ORDER_MOST];
};
/* `must`: by event, a bit for each event that has to come before it (oracle_must). */
void c11_order_of(const struct trace *t, const uint32_t *must, const uint32_t *sequence,
                  uint32_t length, struct c11_order *order);

#endif
