/*
 * aim.h - schedules in which one read of a recorded run sees another value. Prediction, which
 * keeps what reads saw, does not look at them.
 *
 * Of a read R and a write W to the same variable by another thread: too early R saw W: up to
 * R its thread does what it did, without W too late R came before W: W is done, with the rest
 * of its critical section, and then R Of two conflicting accesses that no analysis decided:
 * pair one of their threads stands before its own, until no other thread can go on Every read
 * before that point sees the recorded value, so that the program can be driven there along a
 * plan; from there on the program runs freely.
 */
#ifndef HEDDLE_AIM_H
#define HEDDLE_AIM_H

#include "engine/harm/harm.h"

enum aim_kind { AIM_EARLY, AIM_LATE, AIM_PAIR };
struct aim {
	enum aim_kind kind;
	uint32_t goes, waits; /* events: the read of AIM_EARLY is executed, that of AIM_LATE
	                       * waits */
};

/* GArray of struct aim, the caller's: one of each code, unless three runs had it.  `known`
 * counts these runs by code (char *, its own). */
GArray *aims_find(struct trace *t, GHashTable *known);
/* The same for undecided pairs (uint32_t, two by two): both orders of each. */
GArray *aims_of_pairs(struct trace *t, const GArray *pairs, GHashTable *known);

/* The events before the aim, as a correct reordering (uint32_t), the caller's; NULL: none
 * exists. The reading thread stands before the read, or too late before the critical section
 * that it is in; of a pair the one that waits is next, and the other has not come. */
GArray *aim_sequence(struct trace *t, const struct aim *aim);

/* Runs the program to the aim, and then on with this seed; options->ran is called with the
 * run. *reached: the aim was reached. False and `error` when the program cannot be run. */
bool aim_run(struct trace *t, const struct aim *aim, uint64_t seed,
             const struct harm_options *options, bool *reached, struct error *error);

#endif
