/*
 * outcomes.c - reversals of operations other than accesses: tries, timed operations, the waiter
 * woken by a signal, the last thread at a barrier; and threads cut off by the end of the run.
 */
#include "engine/explore/reversals/reversals_private.h"

#include "engine/explore/runs/final.h"

#include <string.h>

static uint64_t prefix_as(const struct search *x, uint32_t event, enum op op, uint64_t seen)
{
	return history_after_as(x->h, event, op, seen);
}

/* -- tries ------------------------------------------------------------------------------- */

/* A try of a lock fails inside another thread's section. */
static void lock_fails(struct search *x, uint32_t event)
{
	const struct trace *t = x->t;
	struct event_list list =
	        event_list_at(&t->index->object_events, t->events[event].target);
	for (uint64_t i = 0; i < list.count && !x->stopped; i++) {
		uint32_t b = list.items[i];
		if (!op_acquires(t->events[b].op) ||
		    t->events[b].thread == t->events[event].thread ||
		    (t->events[b].op == OP_RACQ && t->events[event].op == OP_RACQ))
			continue;
		struct asked *a = ask_new(x, REVERSAL_FAILS, event);
		a->other = a->in[0] = b;
		a->out[0] = t->index->partner[b];
		a->stands = true;
		a->prefix = prefix_as(x, event, OP_TRYFAIL, 0);
		find_parts(x);
	}
}

/* Is no thread in a section of the lock? */
static bool judge_free(struct search *x, struct smt_query *q, const uint32_t *sequence,
                       uint32_t length)
{
	const struct trace *t = x->t;
	uint32_t object = t->events[x->ask.event].target;
	bool good = true;
	for (uint32_t i = 0; i < length; i++) {
		uint32_t b = sequence[i], r = t->index->partner[b], k = i;
		if (!op_acquires(t->events[b].op) || event_inert(&t->events[b]) ||
		    t->events[b].target != object)
			continue;
		while (r != NONE && k < length && sequence[k] != r)
			k++;
		if (r != NONE && k < length)
			continue;
		struct smt_atom atoms[] = { { ATOM_OUT, b, NONE }, { ATOM_IN, r, NONE } };
		smt_query_require(q, atoms, r == NONE ? 1 : 2);
		good = false;
	}
	return good;
}

static void lock_succeeds(struct search *x, uint32_t event)
{
	struct asked *a = ask_new(x, REVERSAL_SUCCEEDS, event);
	a->stands = true;
	a->judge = judge_free;
	a->prefix = prefix_as(x, event, OP_ACQ, 0);
	find_parts(x);
}

/* A semaphore's count after the sequence. */
static int64_t count_after(const struct search *x, const uint32_t *sequence, uint32_t length)
{
	const struct trace *t = x->t;
	uint32_t object = t->events[x->ask.event].target;
	int64_t count = t->objects[object].count;
	for (uint32_t i = 0; i < length; i++) {
		const struct event *e = &t->events[sequence[i]];
		if (e->target == object && !event_inert(e))
			count += op_count(e->op);
	}
	return count;
}

/* Another count requires other posts or takes. */
static void require_count(struct search *x, struct smt_query *q, bool more)
{
	const struct trace *t = x->t;
	struct event_list list =
	        event_list_at(&t->index->object_events, t->events[x->ask.event].target);
	struct smt_atom *atoms = g_new(struct smt_atom, list.count + 1);
	uint32_t count = 0;
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t e = list.items[i];
		bool in = within_cut(x, x->judged, e), post = t->events[e].op == OP_POST;
		if (e == x->ask.event || (!post && t->events[e].op != OP_TAKE))
			continue;
		if (!in && post == more)
			atoms[count++] = (struct smt_atom){ ATOM_IN, e, NONE };
		else if (in && post != more)
			atoms[count++] = (struct smt_atom){ ATOM_OUT, e, NONE };
	}
	smt_query_require(q, atoms, count);
	g_free(atoms);
}

static bool judge_empty(struct search *x, struct smt_query *q, const uint32_t *sequence,
                        uint32_t length)
{
	bool good = count_after(x, sequence, length) <= 0;
	if (!good)
		require_count(x, q, false);
	return good;
}

static bool judge_count(struct search *x, struct smt_query *q, const uint32_t *sequence,
                        uint32_t length)
{
	bool good = count_after(x, sequence, length) > 0;
	if (!good)
		require_count(x, q, true);
	return good;
}

static void take_differs(struct search *x, uint32_t event)
{
	bool failed = x->t->events[event].op == OP_TAKETRYFAIL;
	struct asked *a = ask_new(x, failed ? REVERSAL_SUCCEEDS : REVERSAL_FAILS, event);
	a->stands = true;
	a->judge = failed ? judge_count : judge_empty;
	a->prefix = prefix_as(x, event, failed ? OP_TAKE : OP_TAKETRYFAIL, 0);
	find_parts(x);
}

/* -- conditions -------------------------------------------------------------------------- */

/* The signal or broadcast that caused a wake, and the wake caused by a signal, by this run's
 * pairing. */
static uint32_t waker_of(const struct trace *t, uint32_t wake)
{
	struct must_run run = trace_must_into(t, wake);
	for (uint64_t i = 0; i < run.count; i++)
		if (t->index->must[run.first + i].rule == MUST_WAKER)
			return t->index->must[run.first + i].before;
	return NONE;
}

static uint32_t woken_by(const struct trace *t, uint32_t signal)
{
	struct must_run run = trace_must_from(t, signal);
	for (uint64_t i = 0; i < run.count; i++) {
		const struct must_edge *e =
		        &t->index->must[t->index->must_by_before[run.first + i]];
		if (e->rule == MUST_WAKER)
			return e->after;
	}
	return NONE;
}

/* Another signal ends the thread's wait, whose wake was `wake` (NONE: never woken). (Broadcasts
 * wake all waiters: see reversal_wait.) */
static void wake_differs(struct search *x, uint32_t wait, uint32_t wake, uint32_t waker)
{
	const struct trace *t = x->t;
	uint32_t thread = t->events[wait].thread;
	struct event_list list =
	        event_list_at(&t->index->object_events, t->events[wait].target);
	for (uint64_t i = 0; i < list.count && !x->stopped; i++) {
		uint32_t s = list.items[i];
		if (t->events[s].op != OP_SIGNAL || s == waker || t->events[s].thread == thread)
			continue;
		uint32_t woken = woken_by(t, s);
		if (woken == NONE && s > wait)
			continue; /* no other waiter exists: it would have woken this one */
		struct asked *a = ask_new(x, REVERSAL_WOKEN, wake);
		a->thread = thread;
		a->other = s;
		a->stands = true;
		a->first = wait;
		a->second = s;
		a->out[0] = woken;
		uint32_t step = wake == NONE ? steps_of(x, thread)
		                             : g_array_index(x->h->step_of, uint32_t, wake);
		a->prefix = g_array_index(x->h->threads[thread].prefixes, uint64_t, step);
		find_parts(x);
	}
}

static void reversal_wake(struct search *x, uint32_t wake)
{
	const struct trace *t = x->t;
	uint32_t wait = t->index->partner[wake], waker = waker_of(t, wake);
	if (wait == NONE)
		return;
	wake_differs(x, wait, wake, waker);
	if (!(t->events[wait].flags & EVENT_TRY) || waker == NONE)
		return;
	struct asked *a = ask_new(x, REVERSAL_TIMEOUT, wake);
	a->stands = true;
	a->out[0] = waker;
	a->prefix = prefix_as(x, wake, OP_WAKE, 1);
	find_parts(x);
}

/* -- barriers ---------------------------------------------------------------------------- */

/* The thread's first departure after its arrival, or NONE. */
static uint32_t departure(const struct search *x, uint32_t arrive)
{
	uint32_t e = arrive;
	do
		e = trace_next(x->t, e);
	while (e != NONE && x->t->events[e].op != OP_DEPART);
	return e;
}

/* Reversal: this thread arrives last, after all others of its round. */
static void reversal_arrive(struct search *x, uint32_t arrive)
{
	const struct trace *t = x->t;
	uint32_t depart = departure(x, arrive);
	if (depart == NONE || history_last_at_barrier(x->h, depart) ||
	    history_last_unseen(x->h, depart))
		return;
	struct asked *a = ask_new(x, REVERSAL_LAST, arrive);
	struct must_sources sources = must_sources(t, depart);
	struct must_edge e;
	while (must_sources_next(&sources, &e)) {
		if (e.rule == MUST_BARRIER && e.before != arrive)
			g_array_append_val(x->required, e.before);
	}
	a->stands = true;
	a->prefix = prefix_as(x, depart, OP_DEPART, 1);
	find_parts(x);
}

void reversal_outcomes(struct search *x, uint32_t event)
{
	const struct event *e = &x->t->events[event];
	switch (e->op) {
	case OP_ACQ:
	case OP_RACQ:
		if (e->flags & EVENT_TRY)
			lock_fails(x, event);
		break;
	case OP_TRYFAIL:
		lock_succeeds(x, event);
		break;
	case OP_TAKE:
		if (e->flags & EVENT_TRY)
			take_differs(x, event);
		break;
	case OP_TAKETRYFAIL:
		take_differs(x, event);
		break;
	case OP_WAKE:
		reversal_wake(x, event);
		break;
	case OP_ARRIVE:
		reversal_arrive(x, event);
		break;
	default:
		break;
	}
}

/* -- unfinished threads -------------------------------------------------------------------- */

static void goes_on(struct search *x, uint32_t thread, uint32_t without)
{
	const GArray *prefixes = x->h->threads[thread].prefixes;
	struct asked *a = ask_new(x, REVERSAL_GOES_ON, NONE);
	a->thread = thread;
	if (trace_thread_events(x->t, thread).count == 0) /* a thread without events requires
	                                                   * nothing */
		a->in[0] = x->t->threads[thread].fork;
	a->other = a->out[0] = without;
	a->prefix = g_array_index(prefixes, uint64_t, prefixes->len - 1);
	find_parts(x);
}

bool may_keep(const struct search *x, uint32_t e, uint32_t thread)
{
	const struct event *event = &x->t->events[e];
	if (event_inert(event) || event->thread == thread)
		return false;
	return (op_acquires(event->op) && x->t->index->partner[e] == NONE) ||
	       event->op == OP_TAKE ||
	       ((event->op == OP_FREE || event->op == OP_DESTROY) &&
	        lifetimes_ends_wait(x->h->lifetimes, e, thread));
}

void reversal_ends(struct search *x)
{
	const struct trace *t = x->t;
	for (uint32_t u = 0; u < x->h->threads_count && !x->stopped; u++) {
		struct event_list mine = trace_thread_events(t, u);
		if (!x->limits->goes_on[u])
			continue;
		if (!x->limits->stuck)
			goes_on(x, u, x->limits->tail);
		for (uint32_t e = 0; e < t->events_count && !x->stopped; e++)
			if (may_keep(x, e, u))
				goes_on(x, u, e);
		for (uint64_t i = mine.count; i-- > 0;) {
			const struct event *e = &t->events[mine.items[i]];
			if (e->op == OP_WAKE || (e->op == OP_WAIT && event_inert(e)))
				break;
			if (e->op == OP_WAIT) {
				wake_differs(x, mine.items[i], NONE, NONE);
				break;
			}
		}
	}
}

/* -- the end ------------------------------------------------------------------------------- */

/* The last write of a variable in a sequence, or NONE. */
static uint32_t last_write_in(const struct trace *t, uint32_t variable,
                              const uint32_t *sequence, uint32_t length)
{
	for (uint32_t k = length; k-- > 0;) {
		const struct event *e = &t->events[sequence[k]];
		struct wide run = { 0 };
		if (op_is_access(e->op) && op_writes(e->op) && !event_inert(e))
			run = event_variables(t, e);
		if (variable - run.first < run.count)
			return sequence[k];
	}
	return NONE;
}

uint64_t final_values(struct search *x, const uint32_t *sequence, uint32_t length)
{
	const GPtrArray *names = x->limits->finals;
	uint64_t number = 0;
	g_array_set_size(x->extras, 0);
	for (guint i = 0; i < names->len; i++) {
		struct wide range = final_range(x->t, names->pdata[i]);
		uint32_t *writers = g_new(uint32_t, range.count + 1);
		for (uint32_t k = 0; k < range.count; k++) {
			uint32_t v = range.first + k;
			writers[k] = last_write_in(x->t, v, sequence, length);
			if (writers[k] != final_write(x->t, v))
				x->ask.other = writers[k];
		}
		if (range.count > 0) {
			struct thread_prefix part = history_final(x->h, range, writers);
			number += part.prefix;
			g_array_append_val(x->extras, part);
		}
		g_free(writers);
	}
	return number;
}

/* The last write of a part of a final value is followed by a write of another value. */
static void require_other_write(struct search *x, GArray *atoms, uint32_t v, uint32_t last)
{
	struct event_list list = event_list_at(&x->t->index->variable_events, v);
	struct wide part = { v, 1 };
	for (uint64_t n = 0; n < list.count && last != NONE; n++) {
		uint32_t w = list.items[n];
		struct smt_atom atom = { ATOM_BEFORE, last, w };
		if (op_writes(x->t->events[w].op) &&
		    history_final(x->h, part, &w).prefix !=
		            history_final(x->h, part, &last).prefix)
			g_array_append_val(atoms, atom);
	}
}

static void require_other_end(struct search *x, struct smt_query *q, const uint32_t *sequence,
                              uint32_t length)
{
	GArray *atoms = g_array_new(FALSE, FALSE, sizeof(struct smt_atom));
	const GPtrArray *names = x->limits->finals;
	for (guint i = 0; i < names->len; i++) {
		struct wide range = final_range(x->t, names->pdata[i]);
		for (uint32_t v = range.first; v < range.first + range.count; v++)
			require_other_write(x, atoms, v,
			                    last_write_in(x->t, v, sequence, length));
	}
	smt_query_require(q, (const struct smt_atom *)(void *)atoms->data, atoms->len);
	g_array_unref(atoms);
}

static bool judge_end(struct search *x, struct smt_query *q, const uint32_t *sequence,
                      uint32_t length)
{
	uint64_t end = final_values(x, sequence, length);
	if (!g_hash_table_contains(x->ends, &end))
		return true;
	require_other_end(x, q, sequence, length);
	return false;
}

/* All events, with each other vector of final values. */
void reversal_finals(struct search *x)
{
	const GArray *prefixes = x->h->threads[0].prefixes;
	uint64_t end = 0;
	x->ends = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (guint i = 0; i < x->h->finals->len; i++)
		end += g_array_index(x->h->finals, struct thread_prefix, i).prefix;
	do {
		g_hash_table_add(x->ends, g_memdup2(&end, sizeof end));
		struct asked *a = ask_new(x, REVERSAL_FINAL, NONE);
		a->thread = 0;
		a->judge = judge_end;
		a->prefix = g_array_index(prefixes, uint64_t, prefixes->len - 1);
		for (uint32_t u = 0; u < x->h->threads_count; u++) {
			uint32_t steps = steps_of(x, u);
			uint32_t last = steps ? step_event(x, u, steps - 1) : NONE;
			if (last != NONE)
				g_array_append_val(x->required, last);
		}
		if (!find_part(x))
			break;
		end = final_values(x, (const uint32_t *)(void *)x->sequence->data,
		                   x->sequence->len);
		give_part(x);
	} while (!x->stopped);
	g_hash_table_unref(x->ends);
	x->ends = NULL;
}
