/*
 * replay_program.h - compares program and environment with the recording before a replay.
 */
#ifndef HEDDLE_REPLAY_PROGRAM_H
#define HEDDLE_REPLAY_PROGRAM_H

#include "engine/trace/trace.h"

/* Print differences, since they explain a divergence, and restore the inherited state. True
 * when `program` is another build. */
bool replay_compare_program(const struct trace *t, const char *program);

#endif
