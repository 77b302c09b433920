/*
 * run_state_private.h - shared by run_state.c (when an event can come, and what it changes),
 * run_state_cells.c, run_state_messages.c and run_state_facts.c (a trace's facts).
 */
#ifndef HEDDLE_RUN_STATE_PRIVATE_H
#define HEDDLE_RUN_STATE_PRIVATE_H

#include "engine/predict/deadlock/run_state.h"
#include "engine/trace/state_rules.h"

static inline const struct event *state_event(const struct run_state *s, uint32_t e)
{
	return &s->t->events[e];
}

/* Does the thread wait there for another thread's message, which the state decides? */
static inline bool state_waits_for_message(const struct run_state *s, uint32_t e)
{
	const struct event *x = state_event(s, e);

	if (channel_receives(&s->channels, x))
		return !s->foreign_channel[s->channels.messages[x->target].channel];
	return x->op == OP_RCV && !event_inert(x) && s->begins[x->target] != NONE;
}

static inline enum next state_next_by(enum answer answer)
{
	return answer == ANSWER_SAME    ? NEXT_RUNS
	       : answer == ANSWER_WAITS ? NEXT_WAITS
	                                : NEXT_DIFFERS;
}

static inline uint32_t state_value_read(const struct run_state *s, const struct event *x)
{
	return x->op == OP_RMW && x->aux != 0 ? trace_value(s->t, x->aux).first : x->aux;
}

/* Sets a cell of the state; run_state_undo takes it back. */
void state_set(struct run_state *s, uint32_t *cell, uint32_t value);

/* Can this event, its thread's next, come now? */
enum next state_next_wake(const struct run_state *s, uint32_t e);
enum next state_next_depart(const struct run_state *s, uint32_t e);
enum next state_next_receive(const struct run_state *s, uint32_t e);
enum next state_next_send(const struct run_state *s, uint32_t e);
void state_step_message(struct run_state *s, uint32_t e);

#endif
