/*
 * rd2.h - commutativity races (Dimitrov et al., PLDI 2014): two invocations on one object
 * that happens-before leaves unordered and whose condition is false.
 *
 * Algorithm 1 over access points: each invocation looks up a constant number of points,
 * whatever the length of the trace; what is not ECL is compared with every earlier
 * invocation of its object.  Epochs instead of whole clocks: of a point is kept who touched
 * it last in each thread, at which local time.
 */
#ifndef HEDDLE_COMMUTE_RD2_H
#define HEDDLE_COMMUTE_RD2_H

#include "engine/commute/model.h"

struct rd2_options {
	bool pairs_events; /* every pair: each point keeps all who touched it */
	bool direct;       /* the direct way, each invocation with every earlier one: for
	                    * measuring beside (the paper, section 5.1) */
};
/* The report (owned by the caller), or NULL with `error`. */
struct report *rd2_find(struct model *m, const struct rd2_options *options,
                        const struct progress *progress, struct error *error);

/*
 * Every pair of invocations by two threads that do not commute, whatever orders them, in
 * the order of the later one; for it those of one thread and source location from the
 * latest on.  The visitor returns false when it need not see the `older` ones that are left
 * of these.  False and `error` on an overflow or when cancelled.
 */
typedef bool pair_visitor(void *context, const struct call *earlier, const struct call *later,
                          uint32_t older);
bool commute_pairs(struct model *m, pair_visitor *visit, void *context,
                   const struct progress *progress, struct error *error);

/* Fill in methods, condition and points of a finding about two invocations. */
void commute_describe(struct model *m, struct finding *f, const struct call *a,
                      const struct call *b);

#endif
