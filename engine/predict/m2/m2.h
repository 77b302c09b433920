/*
 * m2.h - does a pair of accesses race?  M2's answer: the pair's cone, its closure, its
 * linearisation (semantics.md, "M2"; Pavlogiannis, POPL 2020).
 *
 * The entry is m2_pair, after m2_new for the trace; races_m2 (m2_races.c) asks it about all
 * candidates.  A pair goes through four stages, the cheapest first: its cone (cone.h: the
 * events that both need before them), whether the recorded order already is a witness, the
 * closure of the orders that the cone forces (m2_closure.c, on a window of the trace that
 * m2_window.c collects), and a linearisation of it (m2_linear.c).
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
	M2_IMPOSSIBLE, /* with a proof */
	M2_REJECTED,   /* no witness and no proof */
	M2_GAVE_UP,    /* budget spent, or too large for the closure */
};

struct m2;
/* `checker` is borrowed; NULL: none is lent until the first pair, for which M2 then makes its
 * own. NULL when cancelled. */
struct m2 *m2_new(struct trace *t, struct checker *checker, const struct progress *progress);
void m2_lend_checker(struct m2 *m, struct checker *checker);
void m2_free(struct m2 *m);
/* The causal pasts that its cones begin with: with the observations of failed tries. */
const struct past *m2_past(const struct m2 *m);
/*
 * Bounds the work for pairs that end undecided, in processor seconds of this thread: `pair`
 * for one pair, `all` for long pairs (over a million steps) and as much for short ones, of
 * which the first second or so is free. Races shown by the recorded order are not counted.
 * When `all` is spent by long pairs, further ones are given up early; when by short ones, no
 * pair is tried any more (m2_over).
 */
void m2_bound(struct m2 *m, double pair, double all);
/* Reset the spent time. */
void m2_refill(struct m2 *m);
bool m2_over(const struct m2 *m);
/* The budget that caused the last M2_GAVE_UP: OPEN_PAIR or OPEN_TOTAL. */
enum open_reason m2_budget(const struct m2 *m);
/*
 * Decide (e1, e2), two conflicting accesses, e1 <tr e2. A race's witness, the pair last,
 * replaces the contents of `witness` (GArray of uint32_t); NULL: it is checked but not kept,
 * which is much cheaper late in long traces. `proof` (may be NULL) receives the proof of an
 * impossibility, owned by the caller.
 */
enum m2_verdict m2_pair(struct m2 *m, uint32_t e1, uint32_t e2, GArray *witness,
                        struct proof **proof);
/* Let later witnesses begin with a prefix of the recording longer than `least` (0: none
 * does), and leave these events out: m2_recorded of them, 0 if the witness is complete. Such
 * witnesses share the prefix that the checker has already run through. */
void m2_tails(struct m2 *m, uint32_t least);
uint32_t m2_recorded(const struct m2 *m);
/* Is e1 in the causal past of e2 by program order, must-order and observation? Then this pair
 * and all with an earlier e1 or later e2 in their threads are impossible. Cheap. */
bool m2_needs(const struct m2 *m, uint32_t e1, uint32_t e2);
/* Is m2_needs a proof in this trace? Not when requirements of failed tries are approximated. */
bool m2_needs_is_proof(const struct m2 *m);
/* Number of witnesses refused by the checker: each is a defect of ours. */
uint32_t m2_refused(const struct m2 *m);

#endif
