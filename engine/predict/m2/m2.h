/*
 * m2.h - does a pair of accesses race?  M2's answer: the pair's cone, its closure, its
 * linearisation (semantics.md, "M2"; Pavlogiannis, POPL 2020).
 *
 * The entry is m2_pair, after m2_new for the trace; races_m2 (m2_races.c) asks it about all
 * candidates.  A pair goes through four stages, the cheapest first: its cone (cone.h: what both
 * need before them), whether the recorded order already is a witness, the closure of the orders
 * that the cone forces (m2_closure.c, on a window of the trace that m2_window.c collects), and
 * a linearisation of it (m2_linear.c).
 *
 * One may rely on M2_RACE being accepted by the independent checker before it is reported here,
 * and on M2_IMPOSSIBLE being a proof.  M2_REJECTED claims nothing, and M2_GAVE_UP says which
 * budget was over (m2_budget.c).  An m2 is asked about one pair at a time.
 */
#ifndef HEDDLE_M2_H
#define HEDDLE_M2_H

#include "engine/predict/pairs/candidates.h"
#include "engine/witness/check.h"

enum m2_verdict {
	M2_RACE,
	M2_IMPOSSIBLE, /* there is a proof */
	M2_REJECTED,   /* M2 finds none, and does not claim that there is none */
	M2_GAVE_UP,    /* a budget ran out, or it is too large for the closure */
};

struct m2;
/* The checker is borrowed; NULL: M2 has one of its own.  NULL when cancelled. */
struct m2 *m2_new(struct trace *t, struct checker *checker, const struct progress *progress);
void m2_free(struct m2 *m);
/*
 * Bound what comes to nothing, in seconds of this thread's processor time: `pair` for one
 * pair, `all` for the pairs that need long (more than a million steps), and as much for the
 * others, of which the first second or so is free.  A race that the recording's own order shows
 * counts for nothing: it costs what its witness costs.  Once the long ones have used theirs up,
 * further ones are given up early; once the others have, nothing is tried any more (m2_over).
 */
void m2_bound(struct m2 *m, double pair, double all);
/* From now on nothing is spent yet. */
void m2_refill(struct m2 *m);
bool m2_over(const struct m2 *m);
/* The budget that the last M2_GAVE_UP is due to: "pair" or "total". */
const char *m2_budget(const struct m2 *m);
/*
 * Decide (e1, e2), two accesses that conflict, e1 <tr e2.  A race's witness, the pair last,
 * replaces the contents of `witness` (GArray of uint32_t); when that is NULL the witness
 * is checked and not kept, which is much cheaper for pairs far into a long trace.  `proof`
 * (may be NULL) receives the proof of an impossibility, owned by the caller.
 */
enum m2_verdict m2_pair(struct m2 *m, uint32_t e1, uint32_t e2, GArray *witness,
                        struct proof **proof);
/*
 * Does what e2 needs before it hold e1, by program order, must-order and observation
 * alone?  Then the pair is impossible, and so is every earlier e1 and every later e2 of
 * their threads.  Cheap.
 */
bool m2_needs(const struct m2 *m, uint32_t e1, uint32_t e2);
/* Is that so for this trace?  Not where what a failed try needs is only approximated. */
bool m2_needs_is_proof(const struct m2 *m);
/* How many witnesses the checker has refused so far: each one is a fault of ours. */
uint32_t m2_refused(const struct m2 *m);

#endif
