/*
 * index_private.h - builders of the index's parts. Arrays are allocated with g_malloc and freed
 * with the index.
 */
#ifndef HEDDLE_INDEX_PRIVATE_H
#define HEDDLE_INDEX_PRIVATE_H

#include "engine/trace/index.h"

/* Makes INDEX_MUST from the events in order, passed in any number of batches, with the tables
 * as they are at that moment. Accesses name variables, or `places`. must_maker_end takes the
 * final tables and frees the maker; it fills the index, or nothing with NULL, and returns the
 * operations that occurred (a bit for each). */
struct must_maker;
struct must_places {        /* blocks of a recording's places; NONE: no block */
	const char *blocks; /* uint32_t, of the first 1 << shift places */
	size_t stride;      /* bytes from one group of 1 << shift places to the next */
	unsigned shift;
};
/* Those of a row of events that may make a difference, by their places in it, ascending. Each
 * of the others is an access by the thread of the event before it, of an operation that was
 * marked, to a block of which an access by the thread was marked, or to none. */
struct must_marks {
	const uint16_t *at;
	uint32_t count;
};
struct must_maker *must_maker_new(void);
void must_maker_marked(struct must_maker *m, const struct trace *t, const struct event *events,
                       uint64_t first, const struct must_marks *marks);
/* The same of a recording: the marked events alone, by their numbers, ascending. */
void must_maker_recorded(struct must_maker *m, const struct trace *t,
                         const struct must_places *places, const struct event *events,
                         const uint32_t *numbers, uint32_t count);
uint64_t must_maker_end(struct must_maker *m, const struct trace *t, struct trace_index *ix);
/* Gives a trace without an index the must-order that was made when its events were checked. */
void index_take_must(struct trace *t, struct must_maker *made);
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
