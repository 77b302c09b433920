/*
 * commute_linear.h - `heddle commute --linearizable`: the recorded history of each object.
 */
#ifndef HEDDLE_COMMUTE_LINEAR_H
#define HEDDLE_COMMUTE_LINEAR_H

#include "engine/commute/model.h"
#include "tui/batch/command.h"

/* Prints the result; returns the exit status. `notes`: char *. */
int commute_linear(struct model *m, const GPtrArray *notes, enum output_format format);

#endif
