/*
 * index_private.h - builders of the index's parts. Arrays are allocated with g_malloc and freed
 * with the index.
 */
#ifndef HEDDLE_INDEX_PRIVATE_H
#define HEDDLE_INDEX_PRIVATE_H

#include "engine/trace/index.h"

/* INDEX_MUST.  False when cancelled. */
bool index_build_must(struct trace *t, struct trace_index *ix, const struct progress *progress);

/* cache.c: parts of the index of a binary trace in a cache file. Load takes those that it has
 * (none is no error); store writes those in INDEX_KEPT, unless they were among `had`, and
 * ignores failures. */
enum { INDEX_KEPT = INDEX_MUST | INDEX_OBJECTS | INDEX_VARIABLES };
void cache_load(struct trace *t, struct trace_index *ix);
void cache_store(const struct trace *t, const struct trace_index *ix, unsigned had);

void index_free(struct trace_index *ix);

#endif
