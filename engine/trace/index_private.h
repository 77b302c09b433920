/*
 * index_private.h - builders of the index's parts. Arrays are allocated with g_malloc and freed
 * with the index.
 */
#ifndef HEDDLE_INDEX_PRIVATE_H
#define HEDDLE_INDEX_PRIVATE_H

#include "engine/trace/index.h"

/* INDEX_MUST.  False when cancelled. */
bool index_build_must(struct trace *t, struct trace_index *ix, const struct progress *progress);

/* cache.c: the index of a binary trace in a cache file. Load takes existing parts (none is no
 * error); store writes all, and ignores failures. */
void cache_load(struct trace *t, struct trace_index *ix);
void cache_store(const struct trace *t, const struct trace_index *ix);

void index_free(struct trace_index *ix);

#endif
