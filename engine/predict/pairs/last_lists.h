/*
 * last_lists.h - short sorted lists of last accesses in one array, for variables accessed by
 * few of many threads: memory is per access, not per thread.
 *
 * A list is identified by its index, a multiple of LIST_ALIGNED below LIST_PLACES. Entries are
 * sorted by key, without duplicates.
 */
#ifndef HEDDLE_LAST_LISTS_H
#define HEDDLE_LAST_LISTS_H

#include "engine/base/base.h"

enum { LIST_ALIGNED = 8, LIST_SIZES = 28 };
#define LIST_PLACES (UINT32_C(1) << 31)

struct last_entry {
	uint32_t key, time;
};
/* The head of a list, before its entries. */
struct last_list {
	uint32_t count;
	uint16_t size; /* allocated: LIST_ALIGNED << size numbers */
	uint16_t uses; /* number of lists_put, up to UINT16_MAX */
	struct last_entry of[];
};
struct last_lists {
	uint32_t *numbers;
	uint64_t count, capacity;
	GArray *unused[LIST_SIZES]; /* uint32_t: free lists; NULL: none */
};

/* A new, empty list. */
uint32_t lists_new(struct last_lists *l);
/* Frees one list, whose index is then given to another. */
void lists_drop(struct last_lists *l, uint32_t place);
/* Frees all. */
void lists_free(struct last_lists *l);
/* Set the time of a key, which may be new. Returns the list's index, which may have changed. */
uint32_t lists_put(struct last_lists *l, uint32_t place, uint32_t key, uint32_t time);

/* Valid until the next lists_new or lists_put. */
static inline struct last_list *lists_at(const struct last_lists *l, uint32_t place)
{
	return (struct last_list *)(void *)(l->numbers + place);
}
/* Size in 32-bit numbers. */
static inline uint32_t list_numbers(const struct last_list *list)
{
	return (uint32_t)LIST_ALIGNED << list->size;
}

#endif
