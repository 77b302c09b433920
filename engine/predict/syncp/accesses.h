/*
 * accesses.h - the accesses not protected by a single common lock, by variable, grouped into
 * classes. Input of SyncP (syncp_collect.c); independent of orders.
 */
#ifndef HEDDLE_ACCESSES_H
#define HEDDLE_ACCESSES_H

#include "engine/predict/pairs/candidates.h"

/* The needed fields of an access, since events are scattered in memory. */
struct access {
	uint32_t event, lockset, site;
	uint32_t clock; /* SyncP: index of its vector clock (clocks.h) */
	uint32_t thread : 20;
	bool writes : 1, atomic : 1;
};
/* Variables with some of their accesses. */
struct accesses {
	uint32_t count; /* of these variables */
	uint32_t *variables;
	uint64_t *start; /* first item by index of variables, with an end */
	struct access *items;
};

void accesses_free(struct accesses *a);

/* -- classes of a variable: thread, kind, locks held, site --------------------------------- */

struct access_class {
	uint32_t lockset, site; /* site: 0 if not distinguished */
	uint32_t thread;
	bool writes, atomic;
	const struct access **members; /* ascending */
	uint32_t count;
};
struct access_classes {
	struct access_class *of; /* by first member */
	uint32_t count;
	uint32_t *number; /* class by access of the variable */
	struct class_work *work;
};
void access_classes_init(struct access_classes *c, struct locksets *locksets);
void access_classes_release(struct access_classes *c);
/* Compute the classes of one variable, replacing the previous ones. */
void access_classes_of(struct access_classes *c, const struct accesses *all, uint32_t index,
                       bool by_site);
/* Different threads, a write, not both atomic, no common lock. */
bool access_classes_may_race(struct access_classes *c, const struct access_class *a,
                             const struct access_class *b);

#endif
