/*
 * channel_steps.h - operations on channels of the kernel (pipes, pairs of sockets, eventfds) as
 * steps of an exploration: what each of them finds, and leaves, in any order.
 *
 * A run has them as accesses of a variable of the channel (record/layout.h): a call asks, of
 * one channel or, a poll, of several, and later acts; what has the effect, and the outcome, is
 * the act.  A state of a channel (its bytes not read yet, as the writes that they are of; its
 * open ends; an eventfd's count) is a number, 0 where it was not made yet; a state of all is an
 * array of them, by channel.  The outcome of an act is all that the program sees of it, as a
 * number that is equal in all runs: of a read which bytes it takes, of a poll which descriptors
 * are ready.
 *
 * Room is not modelled: a channel whose bytes may be too many for it is told
 * (channel_steps_full).
 */
#ifndef HEDDLE_CHANNEL_STEPS_H
#define HEDDLE_CHANNEL_STEPS_H

#include "engine/trace/index.h"

struct history;
struct channel_steps;

/* Of the history's run; NULL: it has none. Owned by the caller. */
struct channel_steps *channel_steps_new(const struct history *h);
void channel_steps_free(struct channel_steps *c);
/* The number of channels; `c` may be NULL here, and in the next three. */
uint32_t channel_steps_count(const struct channel_steps *c);
/* Does the access only ask, so that its value depends on its thread alone? */
bool channel_steps_only_asks(const struct trace *t, uint32_t event);
/* Is it the variable of a channel? */
bool channel_steps_variable(const struct trace *t, uint32_t variable);
/* Is the event an operation on a channel, also one that only asks? */
bool channel_steps_has(const struct channel_steps *c, uint32_t event);
/* Is it one that acts, so that it has an outcome, or an effect? */
bool channel_steps_acts(const struct channel_steps *c, uint32_t event);

struct channel_outcome {
	uint64_t number;
	int32_t result; /* bytes, or -errno; of a poll the number of ready channels */
	bool waits;     /* it cannot come yet */
};
/* The outcome of an act in a state, */
struct channel_outcome channel_steps_outcome(struct channel_steps *c, const uint32_t *state,
                                             uint32_t event);
/* whether it stands there for the end of its limit in time, */
bool channel_steps_waits_in_time(struct channel_steps *c, const uint32_t *state,
                                 uint32_t event);
/* and the state after it. */
void channel_steps_take(struct channel_steps *c, uint32_t *state, uint32_t event);
/* What the act that comes after the last event of the thread would find, if that asks and the
 * act is not there; false: it has not asked. */
bool channel_steps_awaits(struct channel_steps *c, const uint32_t *state, uint32_t thread,
                          struct channel_outcome *outcome);
/* Says in words what an act finds, in a state, or found in the run; owned by the caller. */
char *channel_steps_text(struct channel_steps *c, const uint32_t *state, uint32_t event);
char *channel_steps_text_in_run(const struct channel_steps *c, uint32_t event);

/* Does the act's result in the run differ from this outcome? */
bool channel_steps_differs(const struct channel_steps *c, uint32_t event,
                           struct channel_outcome outcome);
/* Had a channel more in it, in some state so far, than is sure to have room? */
bool channel_steps_full(const struct channel_steps *c);
/* Did the act find nothing, so that it would find something after an earlier write, or could
 * another thread's read have left it something else? Then what it depends on need not happen
 * before it. */
bool channel_steps_is_loose(const struct channel_steps *c, uint32_t event);

#endif
