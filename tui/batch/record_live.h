/*
 * record_live.h - `heddle record --live`: the happens-before races of the recording so far, on
 * standard error while the program runs.
 */
#ifndef HEDDLE_RECORD_LIVE_H
#define HEDDLE_RECORD_LIVE_H

#include "engine/record/session.h"

struct record_live;

/* `suppressions`: text of --suppressions, or NULL; borrowed. */
struct record_live *record_live_new(const char *suppressions);
/* For session_options. */
struct session_watch record_live_watch(struct record_live *live);
/* The program has ended, and its trace is there: how many races there were. */
void record_live_end(struct record_live *live, const char *trace);
void record_live_free(struct record_live *live); /* NULL is allowed */

#endif
