/*
 * histories.h - the runs made so far, by the prefixes of their threads (history.h): which class
 * a run is of, and which runs begin with given prefixes.
 *
 * Runs have numbers in the order in which they are added.
 */
#ifndef HEDDLE_HISTORIES_H
#define HEDDLE_HISTORIES_H

#include "engine/explore/runs/history.h"

struct histories; /* owned by the caller */
struct histories *histories_new(void);
void histories_free(struct histories *all);
struct initials *histories_initials(struct histories *all);
/* How much is known. */
struct histories_size {
	uint32_t runs, classes;
	uint64_t initials;
};
struct histories_size histories_size(const struct histories *all);
/* Writes the entries beyond `from`, or adds those that are read. */
void histories_archive(struct histories *all, struct histories_size from,
                       struct archive *archive);
/* New histories without their first `runs` ones, to which later ones are added. */
struct histories *histories_beyond(uint32_t runs);
/* Moves runs of `other` with map[run] NONE to `all`, and sets map[run] to their numbers here;
 * takes over the other's initial values. */
void histories_adopt(struct histories *all, struct histories *other, uint32_t *map);
uint32_t histories_count(const struct histories *all);
uint64_t histories_class(const struct histories *all, uint32_t run);
/* False when the run's class was known. */
bool histories_add(struct histories *all, const struct history *h);
/* A further number of the class of a known run. */
void histories_add_class(struct histories *all, uint64_t class_);
/* By run: did the end of the program cut off threads that in another run continue, where the
 * same thread ends the program after the same steps, and all threads have these and more? The
 * other run covers such a run, and which of them are made depends on the order of the
 * exploration. Owned by the caller. */
bool *histories_within_others(const struct histories *all);
/* The number of the last added run. */
uint32_t histories_last(const struct histories *all);
/* Number of steps of a thread of `h` shared with a run. */
uint32_t histories_common(const struct histories *all, const struct history *h, uint32_t thread,
                          uint32_t run);
/* Does a run have all these prefixes? parts[0] is looked up first. */
bool histories_have(const struct histories *all, const struct thread_prefix *parts,
                    uint32_t count);
/* Mark the runs with a prefix. */
void histories_mark(const struct histories *all, uint64_t prefix, bool *runs);
/* As histories_have, and the next step of parts[0]'s thread is a step of a specified object
 * whose preceding non-commuting steps are within the parts? */
bool histories_have_call(const struct histories *all, const struct thread_prefix *parts,
                         uint32_t count);
/* Is the class known? */
bool histories_have_class(const struct histories *all, uint64_t class_);
/* As histories_have, and parts[0]'s thread continues? */
bool histories_have_further(const struct histories *all, const struct thread_prefix *parts,
                            uint32_t count);
/* Does the run have more than `steps` steps in this thread of `h`? */
bool histories_goes_on(const struct histories *all, const struct history *h, uint32_t thread,
                       uint32_t steps, uint32_t run);

#endif
