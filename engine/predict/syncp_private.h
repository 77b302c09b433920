/*
 * syncp_private.h - what SyncP looks up: the locks of each thread at each moment.
 */
#ifndef HEDDLE_SYNCP_PRIVATE_H
#define HEDDLE_SYNCP_PRIVATE_H

#include "engine/order/causality.h"
#include "engine/predict/accesses.h"

struct acquires { /* of one lock by one thread */
	uint32_t thread;
	GArray *all, *exclusive; /* uint32_t, ascending */
};
struct held { /* the locks held from one lock operation to the next: a list, shared tails */
	uint32_t acquire, outer; /* outer: index of the next one out, NONE */
};
struct change {               /* after this event the thread holds ... */
	uint32_t event, held; /* index, NONE for nothing */
	uint32_t lockset;     /* the same as a set */
};
struct lock_table {
	GArray **acquires; /* by object: struct acquires; or NULL */
	GArray **changes;  /* by thread: struct change */
	GArray *held;      /* struct held */
	uint64_t objects, threads;
};
void lock_table_init(struct lock_table *l, const struct trace *t);
void lock_table_release(struct lock_table *l);
/* A lock operation, one after the other: the set that its thread holds from then on. */
uint32_t lock_table_event(struct lock_table *l, struct locksets *locksets,
                          const struct trace *t, uint32_t event);
/* What a thread holds where its prefix ends: index of l->held, or NONE. */
uint32_t lock_table_held(const struct lock_table *l, uint32_t thread, uint32_t limit);

#endif
