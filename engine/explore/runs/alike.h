/*
 * alike.h - threads that may be interchanged: those that one thread creates with the same
 * function and argument (of one kind). Gives numbers of histories that do not depend on which
 * of these threads took which part, so that known runs are known up to a permutation
 * (docs/exploration.md, "Threads that are alike"; whether they are in fact alike is seen by
 * explore_alike.c).
 *
 * A thread's number without its identity says what it does; the number by which prefixes of
 * several threads are looked up says in addition how many threads of the kind have the prefix.
 * (A prefix of a prefix is one, too; so threads of a run can be matched with given prefixes if
 * for each of these the run has as many threads with it as are given.)
 */
#ifndef HEDDLE_ALIKE_H
#define HEDDLE_ALIKE_H

#include "engine/explore/runs/history.h"

/* A thread's steps from its first join of threads of one kind on, up to the last of them (NONE:
 * not in this run). The number of those joined by then would tell them apart, and is left out.
 */
struct joining {
	uint32_t first, after; /* numbers of steps before the first, with the last */
};

/* A member of history.apart: in place of kinds, no threads are alike. */
#define ALIKE_NONE "(threads)"
/* The member for threads of this kind: they are told apart. Owned by the caller. */
char *alike_key(uint64_t kind);

/* Sets thread_history.kind and .joins, after the steps. */
void alike_find(struct history *h);
/* The number of threads of this kind in the run. */
uint32_t alike_count(const struct history *h, uint64_t kind);

/* The number of steps without joins of a part of the threads of a kind. */
uint32_t alike_before_joins(const struct history *h, uint32_t thread, uint32_t steps);
/* Sets part.alike of parts of the history: of the first with its next operation, or if
 * `further` that its thread continues. */
void alike_fill(const struct history *h, struct thread_prefix *parts, uint32_t count,
                bool further);
/* By thread: part.alike of all its steps; owned by the caller. */
uint64_t *alike_lasts(const struct history *h);
/* The number for a thread of a kind that says: so many threads, this one and those before it,
 * have its prefix of this length (`further`: and continue). */
uint64_t alike_number(const struct history *h, uint32_t thread, uint32_t steps, bool further);
/* The number of classes that differ from that of the run only by a permutation of the threads
 * of each kind, the run's included. */
uint64_t alike_classes(const struct history *h);

#endif
