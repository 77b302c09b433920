/*
 * index_private.h - the makers of the index's parts.
 * Arrays are allocated with g_malloc and freed with the index.
 */
#ifndef HEDDLE_INDEX_PRIVATE_H
#define HEDDLE_INDEX_PRIVATE_H

#include "engine/trace/index.h"

/* INDEX_MUST.  False when cancelled. */
bool index_build_must(struct trace *t, struct trace_index *ix, const struct progress *progress);

/*
 * cache.c: the index of a binary trace in a file of the user's cache folder.
 * Load takes the parts that are there (none is no error); store writes all that there are,
 * and keeps silent when it cannot.
 */
void cache_load(struct trace *t, struct trace_index *ix);
void cache_store(const struct trace *t, const struct trace_index *ix);

void index_free(struct trace_index *ix);

#endif
