/*
 * index_private.h - builders of the index's parts. Arrays are allocated with g_malloc and freed
 * with the index.
 */
#ifndef HEDDLE_INDEX_PRIVATE_H
#define HEDDLE_INDEX_PRIVATE_H

#include "engine/trace/index.h"

/* INDEX_MUST, of the events in order, in as many parts as one likes; in the end for the index,
 * or, with NULL, for nothing. */
struct must_maker;
struct must_maker *must_maker_new(const struct trace *t);
void must_maker_events(struct must_maker *m, uint64_t from, uint64_t to);
void must_maker_end(struct must_maker *m, struct trace_index *ix);
/* Of a trace without an index, which it gets if `good`: of events that were checked. */
void index_take_must(struct trace *t, struct must_maker *made, bool good);
/* INDEX_MUST of all events.  False when cancelled. */
bool index_build_must(struct trace *t, struct trace_index *ix, const struct progress *progress);

/* cache.c: parts of the index of a binary trace in a cache file. Load takes those that it has
 * (none is no error); store writes those in INDEX_KEPT, unless they were among `had`, and
 * ignores failures. */
enum { INDEX_KEPT = INDEX_MUST | INDEX_OBJECTS | INDEX_VARIABLES };
void cache_load(struct trace *t, struct trace_index *ix);
void cache_store(const struct trace *t, const struct trace_index *ix, unsigned had);

void index_free(struct trace_index *ix);

#endif
