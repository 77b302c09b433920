/*
 * deadlock.h - predictable deadlocks: requests for locks, one of each thread on a cycle, that
 * can all be next at once while each thread holds a lock that another one requests.
 *
 * The entry is deadlocks_find.  It first reports the threads that wait for ever in the
 * recording itself (stuck.h), then looks for cycles among classes of requests, on the locks
 * that can be on one at all (lock_order.h), leaves out those with a guard lock, and asks the
 * solver about the cycles that causal pasts do not rule out.
 *
 * One may rely on a finding with the verdict race having a witness that the checker accepted,
 * the requests last; on a cycle of more than 16 threads not being looked for;
 * and on the report's notes naming every limit that was reached.
 */
#ifndef HEDDLE_DEADLOCK_H
#define HEDDLE_DEADLOCK_H

#include "engine/predict/predict.h"

/*
 * First deadlocks that happened in the recording (stuck.h), with a witness if one was found.
 * Then findings of kind deadlock, `requests` in cycle order from the earliest (each waits for a
 * lock held by the next one's thread; tries and timed waits are excluded); the verdict is race,
 * with a witness accepted by the checker (requests last), or with all_verdicts also impossible
 * and unknown. With pairs_events every set of requests; otherwise one finding for each cycle of
 * source locations. Uses the options pairs_events, all_verdicts, use_values, use_missing and
 * budgets. NULL with `error` when cancelled.
 */
struct report *deadlocks_find(struct trace *t, const struct race_options *options,
                              const struct progress *progress, struct error *error);
/* races_mark_missing for deadlocks. */
bool deadlocks_mark_missing(struct trace *t, const struct race_options *options,
                            struct report *report, const struct progress *progress,
                            struct error *error);

#endif
