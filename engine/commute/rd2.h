/*
 * rd2.h - commutativity races (RD2; Dimitrov et al., PLDI 2014): two invocations on one object
 * that are unordered by happens-before and do not commute.
 *
 * Algorithm 1 over access points: each invocation looks up a constant number of points. Methods
 * that are not ECL are compared with every earlier invocation of the object. A point keeps
 * epochs, not vector clocks: for each thread its last touch and the local time.
 */
#ifndef HEDDLE_COMMUTE_RD2_H
#define HEDDLE_COMMUTE_RD2_H

#include "engine/commute/model.h"

struct rd2_options {
	bool pairs_events; /* every pair of events: a point keeps all its touches */
	bool direct;       /* compare each invocation with every earlier one: baseline for
	                      measurements (the paper, section 5.1) */
};
/* The report (owned by the caller), or NULL with `error`. */
struct report *rd2_find(struct model *m, const struct rd2_options *options,
                        const struct progress *progress, struct error *error);

/*
 * Visit every pair of invocations of two threads that do not commute, ordered or not: sorted by
 * the later invocation; for each, the earlier ones of one thread and location, latest first.
 * When `visit` returns false, the `older` ones left in that group are skipped. False and
 * `error` on overflow or when cancelled.
 */
typedef bool pair_visitor(void *context, const struct call *earlier, const struct call *later,
                          uint32_t older);
bool commute_pairs(struct model *m, pair_visitor *visit, void *context,
                   const struct progress *progress, struct error *error);

/* Fill in methods, condition and points of a finding on two invocations. */
void commute_describe(struct model *m, struct finding *f, const struct call *a,
                      const struct call *b);

#endif
