/*
 * persistent.h - partial-order reduction for the search over states (stuck_search.c): which
 * threads' next events suffice in a state so that no state without a successor is lost
 * (persistent sets; Godefroid, LNCS 1032, chapter 4).
 *
 * Two events are dependent when, in some state, one of them decides whether or how the other
 * comes.  The tables say until which position a thread still has a dependent event.
 */
#ifndef HEDDLE_PERSISTENT_H
#define HEDDLE_PERSISTENT_H

#include "engine/predict/deadlock/run_state.h"

struct persistent;
struct persistent *persistent_new(const struct run_state *s);
void persistent_free(struct persistent *p); /* may be NULL */

/* The set: threads to continue with, each of which can run; none when no thread can.
 * `threads` has room for all; the number is returned, and the work is added to *cost. */
uint32_t persistent_set(struct persistent *p, uint32_t *threads, uint64_t *cost);
/* The work of all sets so far. */
uint64_t persistent_work(const struct persistent *p);

/* Does the thread's next event end an object, or a block, that other threads have yet to use?
 * If so, a thread that waits for it in a schedule before that event would wait for a
 * destroyed object after it. */
bool persistent_ends_use(struct persistent *p, uint32_t thread);

#endif
