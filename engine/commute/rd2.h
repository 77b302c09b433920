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
	bool direct;	   /* the direct way, each invocation with every earlier one: for
			    * measuring beside (the paper, section 5.1) */
};
/* The report (owned by the caller), or NULL with `error`. */
struct report *rd2_find(struct model *m, const struct rd2_options *options,
			const struct progress *progress, struct error *error);

/* Fill in methods, condition and points of a finding about two invocations. */
void commute_describe(struct model *m, struct finding *f, const struct call *a,
		      const struct call *b);

#endif
