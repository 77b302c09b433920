/*
 * runs.h - the real program from the screen: a schedule again, both orders of a pair, a build
 * and a new recording. Output is shown by output.h.
 */
#ifndef HEDDLE_RUNS_H
#define HEDDLE_RUNS_H

#include "tui/explorer/app.h"

/* Run what the open view shows: both orders of the selected race, the schedule of another
 * finding's witness, a run of the exploration, or the recorded order. False and `error`. */
bool runs_again(struct app *app, struct error *error);

#endif
