/*
 * column.h - an array that grows to the length of a recording: appending is one store, and
 * beyond a size it lies in a nameless file instead of in memory, so that the system can write
 * out what is not in use.  For what has one element for each event.
 */
#ifndef HEDDLE_COLUMN_H
#define HEDDLE_COLUMN_H

#include "engine/base/base.h"

struct column {
	char *data; /* count elements; moves as it grows */
	uint64_t count, room;
	uint32_t element;   /* bytes */
	int file;           /* -1: in memory */
	int failure;        /* errno */
	uint64_t limit;     /* bytes: larger ones lie in a file */
	const char *folder; /* where; borrowed; NULL: never in a file */
};

/* In memory up to `limit` bytes, then in a file of `folder` (NULL: always in memory). */
void column_init(struct column *c, uint32_t element, const char *folder, uint64_t limit);
void column_free(struct column *c);
/* Room for one more.  False when the disk is full: `failure` is set, and the column stays as
 * it is. */
bool column_grow(struct column *c);

static inline void *column_at(const struct column *c, uint64_t index)
{
	return c->data + index * c->element;
}

/* The new last element, to be filled in; NULL as column_grow says. */
static inline void *column_push(struct column *c)
{
	if (G_UNLIKELY(c->count == c->room) && !column_grow(c))
		return NULL;
	return c->data + c->count++ * c->element;
}

#endif
