/*
 * online_turns.h - pairs of events that EDC leaves unordered, of a program that is running. One
 * under no common lock is reported at once; one under common locks when the second has left
 * their critical sections, if they clash in nothing else (the thesis's deferred check).
 */
#ifndef HEDDLE_ONLINE_TURNS_H
#define HEDDLE_ONLINE_TURNS_H

#include "engine/order/edc_sections.h"
#include "engine/predict/pairs/online.h"

/* A pair of events, in the order of their ends in the trace, with the sections that each is
 * in there (borrowed; NULL: none). For an access of a block, or its free, `object` is the
 * variable. */
struct online_turn {
	struct online_call calls[2];
	struct edc_held *held[2];
	uint32_t block; /* NONE: these are calls */
};

struct online_turns;
/* Both borrowed. */
struct online_turns *online_turns_new(const struct online_sink *sink,
                                      const struct edc_rules *rules);
void online_turns_free(struct online_turns *s); /* NULL is allowed */
void online_turns_add(struct online_turns *s, const struct online_turn *turn);
/* The thread has left a section. */
void online_turns_left(struct online_turns *s, uint32_t thread);
/* The end: no open section will be left. */
void online_turns_end(struct online_turns *s);

#endif
