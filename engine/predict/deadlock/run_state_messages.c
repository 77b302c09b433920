/*
 * run_state_messages.c - messages in a state: bytes in channels of the process, and
 * once-functions.
 */
#include "engine/predict/deadlock/run_state_private.h"

/* A message that must be sent before the receive, and was not; or NONE. */
static uint32_t unsent(const struct run_state *s, uint32_t receive)
{
	struct must_sources sources = must_sources(s->t, receive);
	struct must_edge edge;

	while (must_sources_next(&sources, &edge)) {
		if (edge.rule == MUST_MESSAGE && !run_state_has(s, edge.before))
			return edge.before;
	}
	return NONE;
}

enum next state_next_receive(const struct run_state *s, uint32_t e)
{
	const struct event *x = state_event(s, e);
	const struct channel_message *m = &s->channels.messages[x->target];
	uint32_t begins = s->begins[x->target], order;
	bool empty;

	if (!state_waits_for_message(s, e))
		return NEXT_RUNS;
	if (begins != NONE)
		return state_next_by(
		        state_once(run_state_has(s, begins), unsent(s, e) == NONE));
	empty = s->sent[m->channel] == s->received[m->channel];
	if (m->what == CHANNEL_CLOSED) /* a thread that reads its end has read all before */
		return !empty ? NEXT_DIFFERS : unsent(s, e) != NONE ? NEXT_WAITS : NEXT_RUNS;
	order = s->order[x->target];
	if (order == 0)
		return empty && s->closed[m->channel] == 0 ? NEXT_WAITS : NEXT_DIFFERS;
	return unsent(s, e) == NONE && order == s->received[m->channel] + 1 ? NEXT_RUNS
	                                                                    : NEXT_DIFFERS;
}

enum next state_next_send(const struct run_state *s, uint32_t e)
{
	uint32_t target = state_event(s, e)->target;
	const struct channel_message *m = &s->channels.messages[target];

	if (m->what != CHANNEL_DATA || m->room == 0 || s->foreign_channel[m->channel] ||
	    s->order[target] != 0)
		return NEXT_RUNS;
	return s->bytes[m->channel] + m->bytes > m->room ? NEXT_WAITS : NEXT_RUNS;
}

void state_step_message(struct run_state *s, uint32_t e)
{
	const struct event *x = state_event(s, e);
	const struct channel_message *m = &s->channels.messages[x->target];
	uint32_t c = m->channel, order = s->order[x->target], reads = s->reads[x->target];

	if (m->what == CHANNEL_CLOSED && x->op == OP_SND)
		state_set(s, &s->closed[c], s->closed[c] + 1);
	if (m->what != CHANNEL_DATA)
		return;
	if (x->op == OP_SND && order == 0) {
		state_set(s, &s->sent[c], s->sent[c] + 1);
		state_set(s, &s->order[x->target], s->sent[c]);
		state_set(s, &s->bytes[c], s->bytes[c] + m->bytes);
	} else if (channel_receives(&s->channels, x)) {
		state_set(s, &s->reads[x->target], reads + 1);
		if (order != 0 && reads == 0)
			state_set(s, &s->bytes[c], s->bytes[c] - m->bytes);
		if (order != 0 && reads + 1 == m->reads)
			state_set(s, &s->received[c], s->received[c] + 1);
	}
}

uint32_t run_state_channel(const struct run_state *s, uint32_t e)
{
	const struct event *x = state_event(s, e);
	const struct channel_message *m = &s->channels.messages[x->target];

	if (event_inert(x) || (x->op != OP_SND && x->op != OP_RCV))
		return NONE;
	if (x->op == OP_SND ? m->what != CHANNEL_NONE : channel_receives(&s->channels, x))
		return m->channel;
	/* the function's begin is sent as a message of another name */
	uint32_t ends = x->op == OP_SND ? s->ends[x->target] : x->target;
	return ends != NONE && s->begins[ends] != NONE ? s->channels.count + ends : NONE;
}
