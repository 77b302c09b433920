/*
 * check.h - the independent checker: is a sequence of events a witness for a pair?
 *
 * Applies the rules of semantics.md to the trace and the sequence alone, and shares no
 * code with the predictors but the event model (trace.h: not index.h, not order/).
 */
#ifndef HEDDLE_CHECK_H
#define HEDDLE_CHECK_H

#include "engine/trace/trace.h"

enum claim {
	CLAIM_RACE,     /* the sequence's last two events are the pair, both next at its end */
	CLAIM_C11_RACE, /* both in it, unordered by the reordering's happens-before */
	CLAIM_COV,      /* contains e2 and ends with e1, which does not commute with it, came
	                 * before it in the trace, and is not meant to come after it */
	CLAIM_ATOMIC,   /* the units' conflicts form a cycle in it (checked by atomic/) */
	CLAIM_DEADLOCK, /* every request of the pair (or more) is next at its end */
	CLAIM_PREFIX,   /* only that it is a correct reordering */
};

/* Rule 5 through the specifications' evaluator; NULL functions: the fall-back order. */
struct semantics {
	void *context;
	/* Do two events of one object commute: invocations (ACT or CALL), or what the built-in
	 * objects are made of (operations of a condition, accesses and the free of a block)? */
	bool (*commutes)(void *context, uint32_t a, uint32_t b);
	/* Is `a` before `b` the good order by the specification (1), the wrong one (-1), or is
	 * none named (0)?  NULL: none is. */
	int (*good_order)(void *context, uint32_t a, uint32_t b);
	/* Run one invocation on the abstract state of `instance`; `state` is opaque and made by
	 * the first call (*state NULL).  1: returns what it returned in the trace; 0: something
	 * else; -1: the specification has no effects for it. */
	int (*step)(void *context, void **state, uint32_t instance, uint32_t event);
	void (*state_free)(void *context, void *state);
	/* Has this instance a specification? */
	bool (*specified)(void *context, uint32_t instance);
};

struct check_options {
	bool use_values;
	bool use_missing;
	const struct semantics *semantics; /* or NULL */
};

/*
 * True when accepted.  Otherwise `reason` (appended) names the rule that is broken and the
 * event where, as in "rule 2 (observation): event 12 r(x) reads from 7, in the trace from 3".
 * `pair` has `pair_count` events (2, or more for CLAIM_DEADLOCK).
 */
bool witness_check(const struct trace *t, const uint32_t *sequence, size_t length,
                   enum claim claim, const uint32_t *pair, size_t pair_count,
                   const struct check_options *options, GString *reason);

/*
 * Step by step, for "be the scheduler": which threads may go on, and why others may not.
 */
struct checker;
struct checker *checker_new(const struct trace *t, const struct check_options *options);
void checker_free(struct checker *c);
/* The same question as witness_check, for many sequences of one trace. */
bool checker_claim(struct checker *c, const uint32_t *sequence, size_t length, enum claim claim,
                   const uint32_t *pair, size_t pair_count, GString *reason);
/*
 * CLAIM_RACE for the recorded events 0 .. prefix-1 in their recorded order, followed by
 * `tail` (the pair last).  Calls with a growing prefix cost the tail and what the prefix
 * has grown by.  Not with semantics.
 */
bool checker_race_after(struct checker *c, uint32_t prefix, const uint32_t *tail, size_t length,
                        const uint32_t *pair, GString *reason);
/* May `event` (the next of its thread) come now?  Otherwise `reason`. */
bool checker_enabled(struct checker *c, uint32_t event, GString *reason);
/* Take it; false and `reason` when it may not. */
bool checker_step(struct checker *c, uint32_t event, GString *reason);

#endif
