/*
 * completion.h - can a state of a recording's schedules (run_state.h) still come to the
 * recording's end, with all events of all threads?
 */
#ifndef HEDDLE_COMPLETION_H
#define HEDDLE_COMPLETION_H

#include "engine/predict/deadlock/persistent.h"

enum completion { COMPLETION_NONE, COMPLETION_FOUND, COMPLETION_UNKNOWN };
/* A further condition on the end state.  May be NULL. */
typedef bool completion_wanted(void *context, const struct run_state *s);
/* Leaves the state unchanged.  Visits at most `most` states, with the work of a thousand steps
 * each (persistent_work).  *next (may be NULL): the first event of the completion found; NONE
 * when all events have come. */
enum completion run_state_completes(struct run_state *s, struct persistent *reduction,
                                    uint64_t most, completion_wanted *wanted, void *context,
                                    uint32_t *next);

#endif
