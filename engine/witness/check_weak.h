/*
 * check_weak.h - the independent checker of witnesses under a memory model: shares nothing with
 * the runtime that makes such runs, nor with the search for them.
 */
#ifndef HEDDLE_CHECK_WEAK_H
#define HEDDLE_CHECK_WEAK_H

#include "engine/trace/weak.h"

/*
 * Is the sequence (events of the trace, FLUSH where stores arrive) a run of the model, in
 * which every event is as it was recorded? `said` (struct weak_source): the store that a read
 * sees, and a store's place in modification order, where it is not the last store of the
 * sequence; events outside of the sequence are ignored. `pair`: and do its two conflicting
 * accesses race, so that happens-before orders neither (CLAIM_C11_RACE)? NULL: it claims no
 * race. The rule that is broken, and where, is appended to `reason` when not.
 *
 * Stricter than the model: the thread library's operations on one object come in the order of
 * the trace; RC11 and races: at most 4000 events.
 */
bool witness_check_weak(const struct trace *t, struct event_list sequence, const GArray *said,
                        enum weak_model model, const uint32_t *pair, GString *reason);

#endif
