/*
 * reach_ends.c - reversals of how a run ends: threads that continue after their last recorded
 * step, other final values, and states in which no thread can continue, or none but by looks
 * that may be without effect (semantics.md, "Waits that never end").
 */
#include "engine/explore/awaits/awaits.h"
#include "engine/explore/reversals/reach_private.h"
#include "engine/explore/runs/final.h"
#include "engine/memory/rounds.h"

void ends_add(struct reach *r, uint32_t state, uint32_t thread, uint32_t other,
              enum reversal_kind kind, uint64_t key)
{
	reach_add_candidate(r, (struct candidate){ .event = NONE,
	                                           .thread = thread,
	                                           .state = state,
	                                           .other = other,
	                                           .key = key,
	                                           .kind = kind,
	                                           .op = OP_COUNT });
}

/* A signal or broadcast that may have woken the thread. */
static uint32_t waker_of(const struct reach *r, const uint32_t *state, uint32_t wait)
{
	struct event_list list =
	        event_list_at(&r->t->index->object_events, r->t->events[wait].target);
	uint32_t waker = NONE;
	for (uint64_t i = 0; i < list.count; i++) {
		enum op op = r->t->events[list.items[i]].op;
		if (op_wakes(op) && is_done(r, state, list.items[i]))
			waker = list.items[i];
	}
	return waker;
}

/* Was the thread, whose last step is this wait, cut off before it released the mutex? */
static bool keeps_mutex(const struct reach *r, const uint32_t *state, uint32_t u, uint32_t wait)
{
	struct event_list mine = trace_thread_events(r->t, u);
	uint32_t i = state[u];
	while (mine.items[--i] != wait)
		if (r->t->events[mine.items[i]].op == OP_REL)
			return false;
	return r->t->events[wait].op == OP_WAIT;
}

enum answer ends_look_at_going(struct reach *r, uint32_t state_id, uint32_t u)
{
	const uint32_t *state = reach_state(r, state_id);
	uint32_t wait = sync_waits(r, state, u), tail = r->x->limits->tail;
	bool stuck = r->x->limits->stuck;
	struct channel_outcome found;
	if (channel_steps_awaits(r->x->h->channels, state + r->channels, u, &found)) {
		if (!found.waits)
			ends_add(r, state_id, u, NONE, REVERSAL_GOES_ON, found.number);
		return found.waits ? ANSWER_WAITS : ANSWER_OTHER;
	}
	if (wait != NONE && r->t->events[wait].op == OP_ARRIVE) {
		if (!bit_of(r, state, BIT_RELEASED, u))
			return ANSWER_WAITS;
		ends_add(r, state_id, u, NONE, REVERSAL_GOES_ON, 0);
		return ANSWER_OTHER;
	}
	if (wait != NONE && bit_of(r, state, BIT_WOKEN, u)) {
		ends_add(r, state_id, u, waker_of(r, state, wait), REVERSAL_WOKEN, 0);
		return ANSWER_OTHER;
	}
	if (wait != NONE && !(r->t->events[wait].flags & EVENT_TRY) &&
	    !keeps_mutex(r, state, u, wait)) {
		reach_look_at_wait(r, state_id, wait, NONE);
		return ANSWER_WAITS;
	}
	if (!stuck && (tail == NONE || !is_done(r, state, tail)))
		ends_add(r, state_id, u, tail, REVERSAL_GOES_ON, 1);
	for (guint i = 0; i < r->keepers->len; i++) {
		uint32_t e = g_array_index(r->keepers, uint32_t, i);
		if (r->t->events[e].thread != u && !is_done(r, state, e))
			ends_add(r, state_id, u, e, REVERSAL_GOES_ON, 2 + (uint64_t)e);
	}
	return ANSWER_WAITS; /* its wait is unknown */
}

uint64_t ends_values(const struct reach *r, const uint32_t *state)
{
	const GPtrArray *names = r->x->limits->finals;
	uint64_t number = 0;
	for (guint i = 0; i < names->len; i++) {
		struct wide range = final_range(r->t, names->pdata[i]);
		if (range.count == 0)
			continue;
		for (uint32_t k = 0; k < range.count; k++) {
			uint32_t v = range.first + k;
			bool shared = state != NULL && r->slot_of[v] != NONE;
			r->writers[k] =
			        shared ? reach_last_write(r, state, v) : final_write(r->t, v);
		}
		number += history_final(r->x->h, range, r->writers).prefix;
	}
	return number;
}

uint64_t ends_class(const struct reach *r, const uint32_t *state)
{
	const struct history *h = r->x->h;
	uint64_t class_ = 0;
	for (uint32_t u = 0; u < r->threads; u++) {
		struct event_list mine = trace_thread_events(r->t, u);
		uint32_t steps = 0, fork = r->t->threads[u].fork;
		for (uint64_t i = state[u]; i-- > 0 && steps == 0;) {
			uint32_t step = g_array_index(h->step_of, uint32_t, mine.items[i]);
			steps = step == NONE ? 0 : step + 1;
		}
		if (fork == NONE || is_done(r, state, fork))
			class_ += history_class_part(h, u, steps);
	}
	return class_;
}

void ends_look_at_values(struct reach *r, uint32_t state_id)
{
	const uint32_t *state = reach_state(r, state_id);
	for (uint32_t u = 0; u < r->threads; u++)
		if (state[u] < trace_thread_events(r->t, u).count)
			return;
	if (ends_values(r, state) != r->end)
		ends_add(r, state_id, 0, NONE, REVERSAL_FINAL, ends_values(r, state));
}

/* May the event be a look without effect? If it is, and no other thread can continue, the
 * threads wait for ever. */
static bool may_be_in_vain(const struct reach *r, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	bool reads = op_is_access(x->op) && op_reads(x->op);
	bool tries = (op_acquires(x->op) && event_is_try(x)) || x->op == OP_TAKE;
	return r->x->limits->states[e] != 0 && (reads || tries);
}

static bool is_of_several(const struct reach *r, const struct event *x)
{
	struct wide run = event_variables(r->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		if (r->slot_of[v] != NONE)
			return true;
	return false;
}

/* The number of the thread's history with the outcome that its next event, a look, has in the
 * state; 0: not known. */
static uint64_t prefix_after_look(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t other;
	if (reach_turned_end(r, state, e) != NONE || view_call_of(r->x->h->view, e) != NULL)
		return 0;
	if (op_is_access(r->t->events[e].op))
		return history_after(r->x->h, e, reach_sees(r, state, e, &other));
	struct outcome o = sync_outcome(r, state, e);
	return o.answer == ANSWER_OTHER ? history_after_as(r->x->h, e, o.op, o.seen) : 0;
}

/* may_be_in_vain for an acquire that may begin a round in vain: would one of the thread's
 * reads and tries, up to its next change of memory, have another outcome than in the run?
 * *prefix: the number of the thread's history with the first of them; 0: not known. */
static bool may_begin_in_vain(const struct reach *r, const uint32_t *state, uint32_t e,
                              uint64_t *prefix)
{
	enum { MOST_AHEAD = 64 };
	struct event_list mine = trace_thread_events(r->t, r->t->events[e].thread);
	uint64_t from = r->t->index->position[e];
	*prefix = 0;
	if (!awaits_begins(r->x->limits->awaits, r->x->limits->states, r->x->h, e))
		return false;
	for (uint64_t i = from + 1; i < mine.count && i < from + MOST_AHEAD; i++) {
		const struct event *x = &r->t->events[mine.items[i]];
		bool tries = op_fails(x->op) || (op_acquires(x->op) && event_is_try(x));
		if (tries && !event_inert(x) &&
		    sync_outcome(r, state, mine.items[i]).answer == ANSWER_OTHER) {
			*prefix = prefix_after_look(r, state, mine.items[i]);
			return true;
		}
		if (event_inert(x) || !op_is_access(x->op))
			continue;
		if (op_reads(x->op) && !reach_sees_the_same(r, state, mine.items[i])) {
			*prefix = prefix_after_look(r, state, mine.items[i]);
			return true;
		}
		if (x->op != OP_RMW && op_writes(x->op) && is_of_several(r, x))
			return false;
	}
	return from + MOST_AHEAD <= mine.count;
}

bool ends_is_before_look(const struct reach *r, uint32_t s, uint32_t thread, enum answer answer,
                         uint64_t *prefix)
{
	const uint32_t *state = reach_state(r, s);
	uint32_t e = reach_next(r, state, thread);
	*prefix = 0;
	if (e == NONE)
		return false;
	if (answer == ANSWER_SAME)
		return reach_has_begun(r, state, e) && may_begin_in_vain(r, state, e, prefix);
	if (answer != ANSWER_OTHER || !may_be_in_vain(r, e))
		return false;
	*prefix = prefix_after_look(r, state, e);
	return true;
}

uint64_t ends_idle_key(const struct reach *r, uint32_t s, const struct thread_prefix *looks,
                       uint32_t count)
{
	uint64_t key = ends_class(r, reach_state(r, s));
	for (uint32_t i = 0; i < count; i++)
		key += history_summand(looks[i].prefix);
	return key;
}
