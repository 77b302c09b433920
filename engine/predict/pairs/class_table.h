/*
 * class_table.h - numbers classes of accesses (same thread, site, kind and lock set), for one
 * variable after the other: from 0, in the order of their first accesses.
 */
#ifndef HEDDLE_CLASS_TABLE_H
#define HEDDLE_CLASS_TABLE_H

#include "engine/base/base.h"

struct class_key {
	uint32_t site, lockset;
	uint32_t thread : 20;
	bool writes : 1, atomic : 1;
};

struct class_table {
	struct class_key *keys; /* by number */
	uint32_t count, room;
	uint32_t last; /* the last number returned: most accesses have the class of the one
	                * before */
	/* Numbers by hash, open-addressed, below the round, so that those of other variables
	 * are invalid. */
	uint64_t *slots;
	uint32_t slots_count; /* a power of two */
	uint32_t round;
};

void class_table_init(struct class_table *t);
void class_table_release(struct class_table *t);
/* Begin the next variable. */
void class_table_clear(struct class_table *t);
/* The number of the class; t->count before the call when it is new. */
uint32_t class_table_number(struct class_table *t, struct class_key key);

#endif
