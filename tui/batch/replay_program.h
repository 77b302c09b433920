/*
 * replay_program.h - before a replay: is this the program, and are these the surroundings, that
 * were recorded?
 */
#ifndef HEDDLE_REPLAY_PROGRAM_H
#define HEDDLE_REPLAY_PROGRAM_H

#include "engine/trace/trace.h"

/* Differences from the recording are printed before the run, since they explain a divergence;
 * what it inherits becomes what was inherited then.  True when `program` is another build. */
bool replay_compare_program(const struct trace *t, const char *program);

#endif
