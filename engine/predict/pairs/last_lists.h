/*
 * last_lists.h - short sorted lists of last accesses, all in one array: for a variable that few
 * of many threads access, whose memory is that of the accesses and not of the threads.
 *
 * A list is named by its place, a multiple of LIST_ALIGNED below LIST_PLACES.  Its entries are
 * in the order of their keys, and no key is there twice.
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
	uint16_t size; /* LIST_ALIGNED << size numbers are its own */
	uint16_t uses; /* lists_put since it began, up to UINT16_MAX */
	struct last_entry of[];
};
struct last_lists {
	uint32_t *numbers;
	uint64_t count, capacity;
	GArray *unused[LIST_SIZES]; /* uint32_t: places; NULL: none */
};

/* One that is empty. */
uint32_t lists_new(struct last_lists *l);
void lists_drop(struct last_lists *l, uint32_t place);
void lists_free(struct last_lists *l);
/* The time of a key, which may be new.  Returns the list's place from now on. */
uint32_t lists_put(struct last_lists *l, uint32_t place, uint32_t key, uint32_t time);

/* Until the next lists_new or lists_put. */
static inline struct last_list *lists_at(const struct last_lists *l, uint32_t place)
{
	return (struct last_list *)(void *)(l->numbers + place);
}
/* Numbers of 32 bits. */
static inline uint32_t list_numbers(const struct last_list *list)
{
	return (uint32_t)LIST_ALIGNED << list->size;
}

#endif
