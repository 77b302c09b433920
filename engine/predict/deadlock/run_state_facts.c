/*
 * run_state_facts.c - the facts of a recording by which its states go (struct run_state): which
 * threads' ends it shows, which objects it lacks operations of, what was left in channels.
 * Found by a walk over the recording, by the rules of states.
 */
#include "engine/predict/deadlock/run_state_private.h"

#include "engine/predict/deadlock/stuck.h"

#include "engine/trace/once.h"

#include <string.h>

static bool is_recording(const struct trace *t)
{
	return trace_note(t, "recording-command") != NULL;
}

/*
 * Rule W3: which threads' ends the trace shows. A recording leaves the functions of every
 * thread at its own end, so only earlier exits show that the thread itself returned.
 */
static void find_ends(struct run_state *s)
{
	const struct trace *t = s->t;
	bool recording = is_recording(t);
	uint32_t tail = (uint32_t)t->events_count;

	while (tail > 0 &&
	       (t->events[tail - 1].op == OP_LEAVE || op_wants(t->events[tail - 1].op)))
		tail--;
	for (uint32_t u = 0; u < s->threads; u++) {
		struct event_list mine = trace_thread_events(t, u);
		uint32_t last = mine.count > 0 ? mine.items[mine.count - 1] : NONE;
		uint32_t first = mine.count > 0 ? mine.items[0] : NONE;

		s->shows_end[u] = (!recording && t->complete) ||
		                  (last != NONE && t->events[last].op == OP_END);
		if (recording && last != NONE && last < tail && t->events[last].op == OP_LEAVE)
			s->shows_end[u] |= t->index->partner[last] == first;
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (t->events[e].op == OP_JOIN)
			s->shows_end[t->events[e].target] = true;
	}
	s->main = NONE;
	for (uint32_t u = 0; recording && u < s->threads; u++) {
		if (strcmp(trace_thread_name(t, u), "main") == 0)
			s->main = u;
	}
}

static void find_event_facts(struct run_state *s)
{
	const struct trace *t = s->t;

	for (uint64_t i = 0; i < t->index->must_count; i++) {
		const struct must_edge *edge = &t->index->must[i];

		s->facts[edge->after] |=
		        FACT_MUST | (edge->rule == MUST_WAKER ? FACT_WAKER : 0);
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (!op_is_access(x->op) || event_inert(x) || !op_reads(x->op))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			s->read[v] = true;
	}
	memset(s->stack_of, 0xff, sizeof(uint32_t) * (t->blocks_count + 1));
	for (uint32_t u = 0; u < s->threads; u++) {
		if (t->threads[u].stack != NONE)
			s->stack_of[t->threads[u].stack] = u;
	}
}

/* The waiter whose wake was recorded first. */
static uint32_t woken_first(const struct run_state *s, uint32_t signal)
{
	uint32_t best = NONE, first = NONE;

	for (uint32_t u = 0; u < s->threads; u++) {
		uint32_t wake = run_state_may_wake(s, signal, u)
		                        ? s->t->index->partner[s->waiting[u] - 1]
		                        : NONE;

		if (wake != NONE && wake < first && s->facts[wake] & FACT_WAKER) {
			first = wake;
			best = u;
		}
	}
	return best;
}

static void walk_message(struct run_state *s, uint32_t e)
{
	const struct event *x = state_event(s, e);
	bool follows = true;

	if (x->op == OP_RCV)
		follows = state_next_receive(s, e) == NEXT_RUNS;
	else if (x->op == OP_SND)
		follows = state_next_send(s, e) == NEXT_RUNS &&
		          s->channels.messages[x->target].what != CHANNEL_SHARED;
	if (!follows && s->channels.messages[x->target].what != CHANNEL_NONE)
		s->foreign_channel[s->channels.messages[x->target].channel] = true;
}

/* Walks the recording by the rules of states: where it breaks them, the trace lacks
 * operations on the object, and the recorded pairing counts. */
static void walk_recording(struct run_state *s)
{
	const struct trace *t = s->t;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t size;

		if (!event_inert(x)) {
			if ((x->op == OP_TAKE && s->count[x->target] == 0) ||
			    (x->op == OP_WAKE && state_next_wake(s, e) != NEXT_RUNS))
				s->foreign[x->target] = true;
			size = x->op == OP_ARRIVE ? (uint32_t)t->objects[x->target].count : 0;
			if (size > 0 && (s->count[x->target] + 1) % size == 0)
				s->facts[e] |= FACT_SERIAL;
			if (x->op == OP_DEPART && state_next_depart(s, e) != NEXT_RUNS)
				s->foreign[x->target] = true;
			walk_message(s, e);
			if (op_is_access(x->op) && op_reads(x->op) && s->initial != NULL) {
				struct wide run = event_variables(t, x);

				if (run.count == 1 && s->last[run.first] == 0 &&
				    s->initial[run.first] == 0)
					s->initial[run.first] = state_value_read(s, x);
			}
		}
		run_state_step(s, x->thread, x->op == OP_SIGNAL ? woken_first(s, e) : NONE);
	}
	for (uint32_t o = 0; o < t->objects_count; o++)
		s->exclusive[o] = s->owner[o] == 0 && s->readers[o] > 0;
	for (uint32_t c = 0; c < s->channels.count; c++)
		s->left_over[c] = s->bytes[c];
	run_state_undo(s, 0);
}

static void find_once(struct run_state *s)
{
	const struct trace *t = s->t;

	s->begins = once_begins(t);
	s->ends = g_new(uint32_t, t->messages_count + 1);
	memset(s->ends, 0xff, sizeof(uint32_t) * (t->messages_count + 1));
	for (uint32_t m = 0; m < t->messages_count; m++) {
		if (s->begins[m] != NONE)
			s->ends[m] = s->ends[state_event(s, s->begins[m])->target] = m;
	}
}

static void make_cells(struct run_state *s)
{
	const struct trace *t = s->t;
	size_t messages = s->channels.count > 0 ? t->messages_count : 0;
	size_t room = (size_t)s->threads * 5 + t->variables_count + 5 * t->objects_count +
	              2 * messages + 4 * s->channels.count + 1;
	uint32_t *next = s->cells = g_new0(uint32_t, room);

	s->done = next;
	s->woken = s->done + s->threads;
	s->arrival = s->woken + s->threads;
	s->halted = s->arrival + s->threads;
	s->waiting = s->halted + s->threads;
	s->last = s->waiting + s->threads;
	s->owner = s->last + t->variables_count;
	s->readers = s->owner + t->objects_count;
	s->count = s->readers + t->objects_count;
	s->destroyed = s->count + t->objects_count;
	s->misused = s->destroyed + t->objects_count;
	s->order = s->misused + t->objects_count;
	s->reads = s->order + messages;
	s->sent = s->reads + messages;
	s->received = s->sent + s->channels.count;
	s->bytes = s->received + s->channels.count;
	s->closed = s->bytes + s->channels.count;
	s->log = g_array_new(FALSE, FALSE, sizeof(struct state_change));
	for (uint32_t o = 0; o < t->objects_count; o++) {
		if (s->use[o] == WAIT_SEMAPHORE)
			s->count[o] = (uint32_t)MAX(t->objects[o].count, 0);
	}
}

struct run_state *run_state_new(struct trace *t, bool use_values,
                                const struct progress *progress)
{
	unsigned parts = INDEX_THREADS | INDEX_MATCH | INDEX_OBJECTS | INDEX_VARIABLES |
	                 INDEX_WRITERS | INDEX_MUST;

	if (!trace_need(t, parts, progress))
		return NULL;
	struct run_state *s = g_new0(struct run_state, 1);
	s->t = t;
	s->use_values = use_values;
	s->threads = (uint32_t)t->threads_count;
	s->shows_end = g_new0(bool, s->threads + 1);
	s->facts = g_new0(uint8_t, t->events_count + 1);
	s->foreign = g_new0(bool, t->objects_count + 1);
	s->read = g_new0(bool, t->variables_count + 1);
	s->initial = use_values ? g_new0(uint32_t, t->variables_count + 1) : NULL;
	s->stack_of = g_new(uint32_t, t->blocks_count + 1);
	s->use = g_new0(enum wait_for, t->objects_count + 1);
	s->exclusive = g_new0(bool, t->objects_count + 1);
	channels_init(&s->channels, t);
	s->foreign_channel = g_new0(bool, s->channels.count + 1);
	s->left_over = g_new0(uint32_t, s->channels.count + 1);
	find_once(s);
	find_ends(s);
	wait_uses(s->t, s->use);
	find_event_facts(s);
	make_cells(s);
	walk_recording(s);
	return s;
}

void run_state_free(struct run_state *s)
{
	if (s == NULL)
		return;
	g_array_free(s->log, TRUE);
	g_free(s->cells);
	g_free(s->shows_end);
	g_free(s->facts);
	g_free(s->foreign);
	g_free(s->read);
	g_free(s->initial);
	g_free(s->stack_of);
	g_free(s->use);
	g_free(s->exclusive);
	channels_release(&s->channels);
	g_free(s->foreign_channel);
	g_free(s->left_over);
	g_free(s->begins);
	g_free(s->ends);
	g_free(s);
}
