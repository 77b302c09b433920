/*
 * unseen.h - results that the code does not use, and which are no outcomes then: which thread
 * is the last one of a barrier's round (PTHREAD_BARRIER_SERIAL_THREAD), and the old value that
 * an atomic addition returns.
 */
#ifndef HEDDLE_EXPLORE_UNSEEN_H
#define HEDDLE_EXPLORE_UNSEEN_H

#include "engine/trace/trace.h"

/* A cache by place of the code: g_hash_table_unref. */
GHashTable *unseen_new(void);
/* Is the code after the wait (its arrival or its end) the same for every last thread?
 * (debuginfo_result_unseen.) */
bool unseen_at(GHashTable *known, const struct trace *t, uint32_t event);
enum sum {
	SUM_NONE,
	SUM_SEEN,   /* an update that adds a number to an integer or takes one away */
	SUM_UNSEEN, /* the same, with a result that the code does not use */
};
/* By event, enum sum; `sums`: uint32_t, those that may be. None is SUM_UNSEEN of the variables
 * `finals` (char *; NULL: none). Owned by the caller; NULL: there are none. *divided: other
 * accesses of the run have parts of the memory of one whose result the code does not use, or
 * its value is not known. It would be SUM_UNSEEN in a run without these accesses, so that two
 * runs that begin alike would differ. */
uint8_t *sums_find(GHashTable *known, const struct trace *t, const GArray *sums,
                   const GPtrArray *finals, bool *divided);

#endif
