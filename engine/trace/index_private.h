/*
 * index_private.h - the makers of the index's parts; each needs the parts named with it.
 * Arrays are allocated with g_malloc and freed with the index.
 */
#ifndef HEDDLE_INDEX_PRIVATE_H
#define HEDDLE_INDEX_PRIVATE_H

#include "engine/trace/index.h"

/* INDEX_MUST; needs THREADS, MATCH, OBJECTS.  False when cancelled. */
bool index_build_must(struct trace *t, struct trace_index *ix, const struct progress *progress);

void index_free(struct trace_index *ix);

#endif
