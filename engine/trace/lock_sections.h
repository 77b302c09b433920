/*
 * lock_sections.h - the critical sections of a trace, by lock and thread: for M2's cones and
 * the search over an exploration's states. (Analyses that read a trace once, event by event,
 * keep the sections that are open, and need no list.)
 *
 * Positions are indices in a thread's list of events; re-entrant acquires make no section.
 */
#ifndef HEDDLE_LOCK_SECTIONS_H
#define HEDDLE_LOCK_SECTIONS_H

#include "engine/trace/index.h"

struct lock_section {
	uint32_t acquire, release; /* events; release NONE: never released */
	uint32_t p, q;             /* positions of acquire and release; q may be NONE */
	uint32_t thread;
	bool exclusive;
};

/* A thread's critical sections of a lock, in program order. */
struct lock_user {
	uint32_t thread;
	uint32_t first, count; /* a range of lock_sections.items */
};

struct lock_sections {
	struct lock_section *items; /* by lock, thread, position */
	uint32_t count;
	struct lock_user *uses;
	uint32_t *use_start; /* by object: its first of `uses`; one more at the end */
};

/* Needs INDEX_THREADS, INDEX_MATCH and INDEX_OBJECTS. */
void lock_sections_init(struct lock_sections *l, const struct trace *t);
void lock_sections_release(struct lock_sections *l);

/* The threads that use a lock. */
static inline const struct lock_user *lock_uses(const struct lock_sections *l, uint32_t object,
                                                uint32_t *count)
{
	*count = l->use_start[object + 1] - l->use_start[object];
	return l->uses + l->use_start[object];
}

#endif
