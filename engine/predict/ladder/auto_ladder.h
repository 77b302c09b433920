/*
 * auto_ladder.h - the ladder of verdicts: every candidate pair of a trace settled, the cheapest
 * way first.
 *
 * The entry is ladder_climb, with the sound analyses (rungs) whose races it takes over; auto.c
 * calls it with SHB, SyncP and M2, smt_races.c with none.  The pairs that the rungs leave are
 * settled one by one: by causal pasts (one access is needed for the other), a lock that both
 * hold, a proof for an earlier point of the same two regions without synchronisation
 * (ladder_proofs.h), M2's closure, and at last the solver within its budget.  decide.c does the
 * same for one given pair. behind.h looks at races that a proof hides because it rests on a
 * racy read.
 *
 * One may rely on each candidate getting exactly one verdict, by its sites or with --pairs
 * events by itself; on `complete` being true only when none is unknown; and on the result for a
 * trace of ordinary shape not depending on the machine's speed.
 */
#ifndef HEDDLE_AUTO_LADDER_H
#define HEDDLE_AUTO_LADDER_H

#include "engine/predict/predict_private.h"
#include "engine/predict/race.h"

struct rung { /* a sound analysis whose races are taken over */
	race_run *run;
	const char *by;
};

/* A report named `name`; its `complete` is true when no candidate is left unknown.  NULL and
 * `error` when cancelled or when a rung fails. */
struct report *ladder_climb(struct trace *t, const struct race_options *options,
                            const char *name, const struct rung *rungs, size_t count,
                            const struct progress *progress, struct error *error);

#endif
