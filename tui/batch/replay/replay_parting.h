/*
 * replay_parting.h - comparison of `heddle replay`'s runs with the recording and with each
 * other, and the traces that it keeps of them.
 */
#ifndef HEDDLE_REPLAY_PARTING_H
#define HEDDLE_REPLAY_PARTING_H

#include "engine/record/plan_run.h"

/* Print where the run and the recording part, or where two runs (both orders of a pair) do,
 * and how their ends differ. `count` 1 or 2. */
void replay_tell_parting(const struct trace *recorded, const struct plan_run *runs,
                         unsigned count);
/* Write the run's trace: PREFIX.runN.hdl. False and `error`. */
bool replay_keep(const struct plan_run *run, const char *prefix, unsigned number,
                 struct error *error);

#endif
