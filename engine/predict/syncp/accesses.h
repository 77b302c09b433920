/*
 * accesses.h - the accesses that no single lock keeps apart, side by side for each variable,
 * and grouped into classes that are alike.
 *
 * What SyncP looks at (syncp_collect.c).  Knows nothing of orders.
 */
#ifndef HEDDLE_ACCESSES_H
#define HEDDLE_ACCESSES_H

#include "engine/predict/pairs/candidates.h"

/* What is looked at of an access: the events themselves lie all over the trace. */
struct access {
	uint32_t event, lockset, site;
	uint32_t row; /* SyncP's: what is before it (clocks.h) */
	uint32_t thread : 20;
	bool writes : 1, atomic : 1;
};
/* Variables with some of their accesses. */
struct accesses {
	uint32_t count; /* of these variables */
	uint32_t *variables;
	uint64_t *start; /* by index of variables, one more than there are: in items */
	struct access *items;
};

void accesses_free(struct accesses *a);

/* -- of one variable: by thread, kind, locks held, and site ------------------------------- */

struct access_class {
	uint32_t lockset, site; /* site: 0 where it does not matter */
	uint32_t thread;
	bool writes, atomic;
	const struct access **members; /* ascending */
	uint32_t count;
};
struct access_classes {
	struct access_class *of; /* by their first members */
	uint32_t count;
	uint32_t *number; /* by access of the variable: its class */
	struct class_work *work;
};
void access_classes_init(struct access_classes *c, struct locksets *locksets);
void access_classes_release(struct access_classes *c);
/* The classes of one variable, in place of those before. */
void access_classes_of(struct access_classes *c, const struct accesses *all, uint32_t index,
                       bool by_site);
/* Different threads, a write, not both atomic, no common lock. */
bool access_classes_may_race(struct access_classes *c, const struct access_class *a,
                             const struct access_class *b);

#endif
