/*
 * column.h - an array that grows to the length of a recording. Beyond a size it is mapped from
 * a nameless file, so that the system can page out parts that are not in use. For data with an
 * element for each event.
 */
#ifndef HEDDLE_COLUMN_H
#define HEDDLE_COLUMN_H

#include "engine/base/base.h"

struct column {
	char *data; /* `count` elements; moves when it grows */
	uint64_t count, room;
	uint32_t element;   /* bytes */
	int file;           /* -1: in memory */
	int failure;        /* errno */
	uint64_t limit;     /* bytes beyond which it is mapped from a file */
	const char *folder; /* folder of that file, borrowed; NULL: always in memory */
};

/* In memory up to `limit` bytes, then in a file in `folder` (NULL: always in memory). */
void column_init(struct column *c, uint32_t element, const char *folder, uint64_t limit);
void column_free(struct column *c); /* one of zeroes has nothing to be freed */
/* Make room for another element. False when the disk is full: `failure` is set and the column
 * is unchanged. */
bool column_grow(struct column *c);

static inline void *column_at(const struct column *c, uint64_t index)
{
	return c->data + index * c->element;
}

/* The new last element, uninitialised; NULL when column_grow fails. */
static inline void *column_push(struct column *c)
{
	if (G_UNLIKELY(c->count == c->room) && !column_grow(c))
		return NULL;
	return c->data + c->count++ * c->element;
}

#endif
