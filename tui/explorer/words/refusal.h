/*
 * refusal.h - why a thread may not go on in a schedule, in the program's terms: the step that
 * has to come first, and the thread that does it.
 *
 * The checker (engine/witness/check.h) decides; these words explain its decision from the
 * index.
 */
#ifndef HEDDLE_REFUSAL_H
#define HEDDLE_REFUSAL_H

#include "tui/explorer/schedule.h"

/* Append a sentence or two on why `event`, the next of its thread, cannot come after the events
 * of the stage. Empty when the index shows no reason. Needs INDEX_ALL. */
void refusal_append(const struct stage *stage, uint32_t event, GString *out);

#endif
