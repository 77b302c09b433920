/*
 * effects.h - the likely effect of a turned pair: of two events that a run made in one order,
 * which read sees which write when they come in the other, and whether it sees another value.
 *
 * Both are predicted from the run's order of the variable's events alone: its threads may do
 * something else before they come there.
 */
#ifndef HEDDLE_EFFECTS_H
#define HEDDLE_EFFECTS_H

#include "engine/trace/index.h"

struct effect {
	unsigned count; /* of reads that see another write; 0 for events that are no accesses */
	struct effect_source {
		uint32_t read, write; /* NONE: the end of the program; the initial value */
	} source[2];
	bool same; /* each sees the value that it saw in the run */
};
/* Of the events `first` and `second`, indexes of a variable's (or an object's) list, when the
 * second comes before the first. */
struct effect effect_of_turn(const struct trace *t, struct event_list list, uint64_t first,
                             uint64_t second);

/* A number for the event's place in the program, and one for those of a read and its write, by
 * which events of different runs are compared. */
uint64_t effect_place(const struct trace *t, uint32_t event);
uint64_t effect_places(const struct trace *t, struct effect_source source);

/* Where the event's thread takes the first of the locks `common` (bits of their numbers modulo
 * 64) under which it makes the event; without one the event itself. (Needs INDEX_THREADS.) */
uint32_t effect_section(const struct trace *t, uint32_t event, uint64_t common);

#endif
