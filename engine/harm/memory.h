/*
 * memory.h - the memory that a run leaves: named global variables, and the heap blocks that can
 * be reached from them, as far as the recording has values.
 *
 * Parts of a block are named by the way to them, "queue.head->next->job": a block has other
 * addresses in another run.  The names of members are those of the block's type in the debug
 * information (docs/names.md).
 */
#ifndef HEDDLE_MEMORY_H
#define HEDDLE_MEMORY_H

#include "engine/trace/index.h"

/* Bound on the parts of heap blocks that are compared. */
enum { MEMORY_MOST = 20000 };

struct memory_value {
	int64_t value; /* of a pointer: 0 or 1 */
	bool pointer;  /* to a block of the heap, or 0 */
	char *place;   /* owned: where it was written last */
};
struct memory {                     /* zero to init; memory_release */
	GHashTable *globals, *heap; /* owned: name (char *) to struct memory_value * */
	bool cut;                   /* the heap has more */
};
void memory_take(struct memory *m, struct trace *t);
void memory_release(struct memory *m);

/* The alphabetically first name that both have with different values; or NULL. */
const char *memory_difference(GHashTable *a, GHashTable *b);
/* "takings is 42, not 60" (42 in `a`), "list is NULL, not a pointer"; owned by the caller. */
char *memory_words(GHashTable *a, GHashTable *b, const char *name);

#endif
