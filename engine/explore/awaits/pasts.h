/*
 * pasts.h - pasts of a thread that have the same continuations as a shorter one.
 *
 *     r = x;
 *     while (!compare_exchange(&x, &r, r + 1))
 *             ;
 *
 * A thread that reads a, fails and then reads b is where it would be if it had read b at
 * once: the registers, the stack, the operands and the place are equal. Two pasts of a thread
 * are compared from its last change of memory on. The shorter one begins as the longer one
 * does; its last look comes when the longer one makes a later look, of the same place with
 * the same value, and it has none of the others from there on. Where the thread's states are
 * equal after both, each schedule with the longer past has one with the shorter past in its
 * place, with the same values everywhere else. Each replacement takes steps away, so each
 * outcome has a schedule without longer pasts, and the exploration does not go on after one.
 *
 * A detour is a longer past that changes memory meanwhile, and puts it back: additions whose
 * sum is 0 (a failed try of a lock that is a counter). One replaces it where no other thread
 * has looked at this memory from the first of them to the last. So it depends on the schedule.
 *
 * Events that are left out must be atomic reads, or updates that write the value read, of live
 * memory: a plain read may be half of a data race. States hold addresses; those of two runs are
 * compared as long as the runs have the same blocks at the same addresses.
 */
#ifndef HEDDLE_PASTS_H
#define HEDDLE_PASTS_H

#include "engine/explore/awaits/awaits.h"
#include "engine/explore/runs/histories.h"

struct pasts;
struct pasts *pasts_new(void);
void pasts_free(struct pasts *p);
/* Learn the pasts of a run, whose history is without rounds in vain. `scopes`: of specified
 * objects, which are skipped; or NULL. */
void pasts_learn(struct pasts *p, const struct await_rounds *rounds, const struct history *h,
                 const struct scopes *scopes);
/* Does a shorter past have the continuations of the one with this number? */
bool pasts_is_longer(const struct pasts *p, uint64_t prefix);
/* Does a known longer past begin with this one, with no more than looks after it? */
bool pasts_lead_to_longer(const struct pasts *p, uint64_t prefix);
/* pasts_is_longer for a thread's prefix in a schedule. */
bool pasts_have_longer(const struct pasts *p, const struct thread_prefix *parts,
                       uint32_t count);
/* The same of a run. */
bool pasts_longer_in(const struct pasts *p, const struct history *h);
/* Of a detour: the numbers of its thread's history with the first and with the last addition
 * that is left out. */
struct detour {
	uint64_t first, last;
};
/* The detours that a past with this number makes: struct detour; NULL: none. */
const GArray *pasts_detours(const struct pasts *p, uint64_t prefix);
/* Those that begin with a past of this number. */
const GArray *pasts_detours_from(const struct pasts *p, uint64_t prefix);
bool pasts_know_detours(const struct pasts *p);
/* Does a thread of the run make a detour at whose memory no other thread looks meanwhile? */
bool pasts_detour_in(const struct pasts *p, const struct history *h);
/* Remembers for pasts_runs at which memory of a known run no other thread looks. */
void pasts_see_run(struct pasts *p, const struct history *h, uint32_t run);
/* By event of the run: is it an access by another thread that looks at memory of the detour,
 * which the events `first` to `last` of one thread make? */
bool pasts_looks_at(const struct history *h, uint32_t first, uint32_t last, uint32_t event);
/* By run, does a known run have a longer past, or a detour that nobody has seen? Owned by the
 * caller. */
bool *pasts_runs(const struct pasts *p, const struct histories *all);

/* How much is known. */
struct pasts_size {
	uint32_t all, longer, before, made, unseen, addresses;
};
struct pasts_size pasts_size(const struct pasts *p);
/* Writes what is known beyond `from`, or adds what is read. `runs`: the number of known runs.
 * States have addresses: a process that goes on runs the program in the same environment. */
void pasts_archive(struct pasts *p, struct pasts_size from, uint32_t runs,
                   struct archive *archive);
/* Adds what the other knows. `runs`: by its known run, the number of that run here, or NONE.
 * Where its runs have other blocks at some address, its pasts are not compared with those
 * here. */
void pasts_adopt(struct pasts *p, const struct pasts *other, const uint32_t *runs);

#endif
