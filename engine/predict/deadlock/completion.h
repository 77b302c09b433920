/*
 * completion.h - can a state of a recording's schedules (run_state.h) still come to the
 * recording's end, with all events of all threads?
 */
#ifndef HEDDLE_COMPLETION_H
#define HEDDLE_COMPLETION_H

#include "engine/predict/deadlock/persistent.h"

enum completion { COMPLETION_NONE, COMPLETION_FOUND, COMPLETION_UNKNOWN };
/* What the end must be like, besides.  May be NULL. */
typedef bool completion_wanted(void *context, const struct run_state *s);
/* The state is as before afterwards.  At most so many states are visited, with as much work as
 * a thousand steps each (persistent_work).  *next (may be NULL): the first event of a way that
 * was found, NONE where all had come. */
enum completion run_state_completes(struct run_state *s, struct persistent *reduction,
                                    uint64_t most, completion_wanted *wanted, void *context,
                                    uint32_t *next);

#endif
