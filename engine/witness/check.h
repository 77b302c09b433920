/*
 * check.h - the independent checker: is a sequence of events a witness for a pair?
 *
 * Applies semantics.md to the trace and the sequence. Shares no code with the predictors except
 * the event model (trace.h, not index.h or order/).
 */
#ifndef HEDDLE_CHECK_H
#define HEDDLE_CHECK_H

#include "engine/trace/trace.h"

enum claim {
	CLAIM_RACE,     /* the last two events are the pair: each is next in its thread
	                 * before them */
	CLAIM_C11_RACE, /* the sequence has both events, unordered by its own happens-before */
	CLAIM_COV,      /* contains e2 and ends with e1, which is earlier in the trace, does not
	                   commute with e2, and is not declared to come after it */
	CLAIM_ATOMIC,   /* its units' conflicts have a cycle (engine/atomic/check.c) */
	CLAIM_DEADLOCK, /* each request of `pair` (one or more) is next at the end, and blocked
	                 */
	CLAIM_STUCK,    /* each request of `pair` is next at the end, and waits for ever */
	CLAIM_PREFIX,   /* is a correct reordering */
	CLAIM_REACH,    /* its last event is that of `pair`, and next at the end; the condition:
	                   check_reach.h */
	CLAIM_COUNT,
};

/* What a sequence is to show: the claim, and the events that it is of (the two of a pair; of a
 * wait each request, one or more; of CLAIM_REACH one; of the others none). */
struct claimed {
	enum claim claim;
	struct event_list of;
};
static inline struct claimed claimed_of(enum claim claim, const uint32_t *events, size_t count)
{
	return (struct claimed){ claim, { events, count } };
}

/* Rule 5 by the evaluator of specifications. NULL functions: the rule's fallback without
 * effects. */
struct semantics {
	void *context;
	/* Do two events of one object commute? Invocations (ACT or CALL), or events of the
	 * built-in objects: operations of a condition, accesses and the free of a block. */
	bool (*commutes)(void *context, uint32_t a, uint32_t b);
	/* Is `a` before `b` the declared good order (1), the wrong one (-1), or is none
	 * declared (0)? May be NULL: none. */
	int (*good_order)(void *context, uint32_t a, uint32_t b);
	/* Apply an invocation to the abstract state of `instance`, which the first call makes
	 * (*state NULL). 1: it returns the trace's value; 0: another one; -1: no
	 * effects are specified. */
	int (*step)(void *context, void **state, uint32_t instance, uint32_t event);
	void (*state_free)(void *context, void *state);
	/* Does the instance have a specification? */
	bool (*specified)(void *context, uint32_t instance);
};

struct check_options {
	bool use_values;
	bool use_missing;
	const struct semantics *semantics; /* or NULL */
};

/* True when accepted. Otherwise the violated rule and its event are appended to `reason`, as in
 * "rule 2 (observation): event 12 r(x) reads from 7, in the trace from 3". */
bool witness_check(const struct trace *t, struct event_list sequence, struct claimed claimed,
                   const struct check_options *options, GString *reason);

/* Stepwise use, for the explorer's scheduler: which threads may continue, and why the others
 * may not. */
struct checker;
struct checker *checker_new(const struct trace *t, const struct check_options *options);
void checker_free(struct checker *c);
/* witness_check for one of many sequences of one trace. */
bool checker_claim(struct checker *c, struct event_list sequence, struct claimed claimed,
                   GString *reason);
/* CLAIM_RACE for the recorded events 0 .. prefix-1 in recorded order, followed by `tail` (which
 * ends with the pair). With growing prefixes a call costs the tail and the growth. Not with
 * semantics. */
bool checker_race_after(struct checker *c, uint32_t prefix, const uint32_t *tail, size_t length,
                        const uint32_t *pair, GString *reason);
/* May `event`, next in its thread, come now? Otherwise `reason`. */
bool checker_enabled(struct checker *c, uint32_t event, GString *reason);
/* Apply the event; false and `reason` when it is not allowed. */
bool checker_step(struct checker *c, uint32_t event, GString *reason);

#endif
