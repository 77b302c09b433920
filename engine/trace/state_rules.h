/*
 * state_rules.h - the outcome of a synchronisation operation in a state of another schedule
 * (semantics.md, W1 and W2), as a function of the facts of the state that it depends on.
 *
 * The two searches over states share these rules and nothing else, as they keep the facts in
 * ways of their own: predict/deadlock/run_state.c walks depth first and undoes steps, so that
 * each fact is a cell that a step changes; explore/reversals/reach_sync.c stores up to a
 * million states, so that a state is the events done by each thread, and the facts are derived
 * from these. The checker has rules of its own (witness/check_stuck.c).
 */
#ifndef HEDDLE_STATE_RULES_H
#define HEDDLE_STATE_RULES_H

#include "engine/trace/index.h"

enum answer {
	ANSWER_SAME,  /* as in the run */
	ANSWER_OTHER, /* another outcome */
	ANSWER_LEFT,  /* explorations: an outcome, the run's or another, that no schedule
	               * needs (explore/awaits/awaits.h, pasts.h) */
	ANSWER_WAITS, /* blocked */
};

/* Does the state decide in place of the recording's pairing? `whole`: the trace has all
 * operations on the object; `awaited`: the state also decides which message is received. */
static inline bool state_decides(const struct trace *t, const struct must_edge *edge,
                                 bool whole, bool awaited)
{
	switch (edge->rule) {
	case MUST_SEMAPHORE:
	case MUST_WAKER:
		return whole;
	case MUST_BARRIER:
		return whole && t->objects[t->events[edge->after].target].count > 0;
	case MUST_MESSAGE:
		return awaited;
	default:
		return edge->condition != NONE;
	}
}

/* An acquire of a lock that is free or held; a take from a semaphore that has some count or
 * none.
 */
static inline enum answer state_acquire(const struct event *x, bool free)
{
	return free ? ANSWER_SAME : x->flags & EVENT_TRY ? ANSWER_OTHER : ANSWER_WAITS;
}

/* The end of a wait: `late`: recorded as timed out; `timed`: the wait has a limit in time. */
static inline enum answer state_wake(bool late, bool timed, bool woken)
{
	return late != woken ? ANSWER_SAME : late || timed ? ANSWER_OTHER : ANSWER_WAITS;
}

/* A departure from a barrier; `serial`, `was_serial`: it is, and was, the round's last arrival.
 */
static inline enum answer state_depart(bool round_is_open, bool serial, bool was_serial)
{
	return round_is_open ? ANSWER_WAITS : serial == was_serial ? ANSWER_SAME : ANSWER_OTHER;
}

/* A call of a once-function that another thread ran: if that has not begun, the caller would
 * run it. */
static inline enum answer state_once(bool begun, bool ended)
{
	return !begun ? ANSWER_OTHER : ended ? ANSWER_SAME : ANSWER_WAITS;
}

/* Would the signal wake the thread whose last wait or arrival is `wait` (NONE: none)? */
static inline bool state_may_wake(const struct trace *t, uint32_t signal, uint32_t wait,
                                  bool woken)
{
	return wait != NONE && t->events[wait].op == OP_WAIT &&
	       t->events[wait].target == t->events[signal].target && !woken;
}

#endif
