/*
 * reach_sync.c - semantics of synchronisation in the search over states: locks and tries,
 * conditions, semaphores, barriers and once-functions. The run's pairing (thread woken by a
 * signal, post of a take, last arrival) does not matter here.
 */
#include "engine/explore/reversals/reach_private.h"

#include "engine/record/layout.h"
#include "engine/trace/channel.h"
#include "engine/trace/once.h"

#include <string.h>

static const struct outcome same = { .answer = ANSWER_SAME, .other = NONE };
static const struct outcome waits = { .answer = ANSWER_WAITS, .other = NONE };

/* An outcome, with `other` for ANSWER_OTHER. */
static struct outcome answered(enum answer answer, struct outcome other)
{
	other.answer = ANSWER_OTHER;
	return answer == ANSWER_SAME ? same : answer == ANSWER_WAITS ? waits : other;
}

static struct event_list events_of(const struct reach *r, uint32_t object)
{
	return event_list_at(&r->t->index->object_events, object);
}

/* -- locks -------------------------------------------------------------------------------- */

/* The acquire that held the lock before `before` in the run and excluded others; else NONE. */
static uint32_t holder_in_run(const struct reach *r, uint32_t before, bool shared, uint32_t but)
{
	const struct trace *t = r->t;
	struct event_list list = events_of(r, t->events[before].target);
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t a = list.items[i], release;
		if (!op_acquires(t->events[a].op) || t->events[a].thread == but ||
		    (t->events[a].op == OP_RACQ && shared) || event_inert(&t->events[a]))
			continue;
		release = t->index->partner[a];
		if (a < before && (release == NONE || release > before))
			return a;
	}
	return NONE;
}

/* The holder in a state: of several, the first in the run. */
static uint32_t holder(const struct reach *r, const uint32_t *state, uint32_t before,
                       bool shared, uint32_t but)
{
	uint32_t count, found = NONE;
	const struct lock_user *use =
	        lock_uses(&r->sections, r->t->events[before].target, &count);
	for (; count > 0; use++, count--) {
		const struct lock_section *s = &r->sections.items[use->first];
		uint32_t done = state[use->thread];
		for (uint32_t i = use->thread == but ? use->count : 0;
		     i < use->count && s[i].p < done; i++)
			if (s[i].q >= done && (s[i].exclusive || !shared))
				found = MIN(found, s[i].acquire);
	}
	return found;
}

static struct outcome acquire(const struct reach *r, const uint32_t *state, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	uint32_t held = holder(r, state, e, x->op == OP_RACQ, x->thread);
	return answered(
	        state_acquire(x, held == NONE),
	        (struct outcome){ .kind = REVERSAL_FAILS, .op = OP_TRYFAIL, .other = held });
}

static struct outcome failed_try(const struct reach *r, const uint32_t *state, uint32_t e)
{
	bool shared = r->t->events[e].flags & EVENT_SHARED;
	/* a free lock failed for another reason: it was destroyed */
	if (holder(r, state, e, shared, NONE) != NONE ||
	    holder_in_run(r, e, shared, NONE) == NONE)
		return same;
	return (struct outcome){ ANSWER_OTHER, REVERSAL_SUCCEEDS, shared ? OP_RACQ : OP_ACQ, 0,
		                 NONE };
}

/* -- semaphores ---------------------------------------------------------------------------- */

static int64_t count_in(const struct reach *r, const uint32_t *state, uint32_t object)
{
	struct event_list list = events_of(r, object);
	int64_t count = r->t->objects[object].count;
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *x = &r->t->events[list.items[i]];
		if (!event_inert(x) && is_done(r, state, list.items[i]))
			count += op_count(x->op);
	}
	return count;
}

static struct outcome take(const struct reach *r, const uint32_t *state, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	bool empty = count_in(r, state, x->target) <= 0;
	if (x->op == OP_TAKETRYFAIL)
		return answered(empty ? ANSWER_SAME : ANSWER_OTHER,
		                (struct outcome){ .kind = REVERSAL_SUCCEEDS,
		                                  .op = OP_TAKE,
		                                  .other = NONE });
	return answered(state_acquire(x, !empty), (struct outcome){ .kind = REVERSAL_FAILS,
	                                                            .op = OP_TAKETRYFAIL,
	                                                            .other = NONE });
}

/* The number of sleepers on a futex, if the read's wake wakes all; else whether there is
 * one. */
static int64_t sleepers_in(const struct reach *r, const uint32_t *state, uint32_t read)
{
	uint32_t sleepers = r->counted[read], signal = trace_next(r->t, read);
	int64_t count = 0;
	for (uint32_t u = 0; u < r->threads; u++) {
		uint32_t wait = sync_waits(r, state, u);
		count += wait != NONE && r->t->events[wait].op == OP_WAIT &&
		         r->t->events[wait].target == sleepers &&
		         !bit_of(r, state, BIT_WOKEN, u);
	}
	return signal != NONE && r->t->events[signal].op == OP_SIGNAL ? MIN(count, 1) : count;
}

bool sync_is_count(const struct reach *r, uint32_t event)
{
	uint32_t object = r->counted[event];
	return object != NONE &&
	       op_table[r->t->events[events_of(r, object).items[0]].op].use == USE_SEMAPHORE;
}

uint64_t sync_sees_count(const struct reach *r, const uint32_t *state, uint32_t event)
{
	uint32_t object = r->counted[event];
	int64_t count = sync_is_count(r, event) ? count_in(r, state, object)
	                                        : sleepers_in(r, state, event);
	return history_would_hold(r->x->h, event, (uint64_t)count);
}

/* The semaphore at the variable's address at that time, or the sleepers on the futex there;
 * or NONE. */
static uint32_t counted_at(const struct trace *t, uint32_t event)
{
	struct wide run = event_variables(t, &t->events[event]);
	uint64_t address = t->variables[run.first].address;
	bool sleepers = address & LOG_FUTEX_BIT;
	uint32_t best = NONE;
	if (sleepers)
		address += LOG_FUTEX_SLEEPERS - LOG_FUTEX_COUNT;
	for (uint32_t o = 0; o < t->objects_count; o++) {
		struct event_list list = event_list_at(&t->index->object_events, o);
		if (list.count == 0 || t->objects[o].address == 0 ||
		    t->objects[o].address != address)
			continue;
		enum op op = t->events[list.items[0]].op;
		if (!sleepers && op_table[op].use != USE_SEMAPHORE)
			continue;
		if (best == NONE || list.items[0] < event)
			best = o;
	}
	return best;
}

/* -- conditions ---------------------------------------------------------------------------- */

uint32_t sync_waits(const struct reach *r, const uint32_t *state, uint32_t thread)
{
	uint32_t done = state[thread];
	return done == 0 ? NONE : r->waits[trace_thread_events(r->t, thread).items[done - 1]];
}

bool sync_may_wake(const struct reach *r, const uint32_t *state, uint32_t signal,
                   uint32_t thread)
{
	return state_may_wake(r->t, signal, sync_waits(r, state, thread),
	                      bit_of(r, state, BIT_WOKEN, thread));
}

/* Is it a wait without a time limit for a condition, not for a futex? */
static bool ends_by_signal_alone(const struct trace *t, uint32_t wait)
{
	const struct event *x = &t->events[wait];
	return x->op == OP_WAIT && !(x->flags & EVENT_TRY) &&
	       (t->objects[x->target].address & LOG_FUTEX_BIT) == 0;
}

bool sync_is_spurious(const struct trace *t, uint32_t event)
{
	const struct event *x = &t->events[event];
	uint32_t wait = x->op == OP_WAKE ? t->index->partner[event] : NONE;
	return wait != NONE && x->flags & EVENT_TRY && !event_inert(x) &&
	       ends_by_signal_alone(t, wait);
}

bool sync_may_end_early(const struct reach *r, const uint32_t *state, uint32_t wait)
{
	uint32_t count = 0;
	for (guint i = 0; i < r->spurious->len; i++)
		count += is_done(r, state, g_array_index(r->spurious, uint32_t, i));
	return count < r->x->limits->spurious && ends_by_signal_alone(r->t, wait);
}

static struct outcome wake(const struct reach *r, const uint32_t *state, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	uint32_t wait = r->t->index->partner[e];
	bool late = x->flags & EVENT_TRY, woken = bit_of(r, state, BIT_WOKEN, x->thread);
	bool timed = wait != NONE && r->t->events[wait].flags & EVENT_TRY;
	return answered(state_wake(late, timed, woken),
	                (struct outcome){ .kind = late ? REVERSAL_SIGNALLED : REVERSAL_TIMEOUT,
	                                  .op = OP_WAKE,
	                                  .seen = !late,
	                                  .other = NONE });
}

/* -- barriers ------------------------------------------------------------------------------ */

static void arrive(const struct reach *r, uint32_t *state, uint32_t e)
{
	uint32_t object = r->t->events[e].target, arrived = 0;
	struct event_list list = events_of(r, object);
	int32_t count = r->t->objects[object].count;
	for (uint64_t i = 0; i < list.count; i++)
		arrived += r->t->events[list.items[i]].op == OP_ARRIVE &&
		           is_done(r, state, list.items[i]);
	if (count <= 0 || arrived % (uint32_t)count != 0)
		return;
	for (uint32_t u = 0; u < r->threads; u++) {
		uint32_t wait = sync_waits(r, state, u);
		if (wait != NONE && r->t->events[wait].op == OP_ARRIVE &&
		    r->t->events[wait].target == object)
			set_bit(r, state, BIT_RELEASED, u, true);
	}
	set_bit(r, state, BIT_SERIAL, r->t->events[e].thread, true);
}

static struct outcome depart(const struct reach *r, const uint32_t *state, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	if (r->t->objects[x->target].count <= 0)
		return same; /* decided by its must-orders */
	if (!bit_of(r, state, BIT_RELEASED, x->thread))
		return waits;
	bool serial = bit_of(r, state, BIT_SERIAL, x->thread);
	bool was =
	        history_last_unseen(r->x->h, e) ? serial : history_last_at_barrier(r->x->h, e);
	return answered(state_depart(false, serial, was),
	                (struct outcome){ .kind = REVERSAL_LAST,
	                                  .op = OP_DEPART,
	                                  .seen = serial,
	                                  .other = NONE });
}

/* -- once-functions ------------------------------------------------------------------------ */

static struct outcome receive(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t message = r->t->events[e].target;
	uint32_t begins = r->begins[message], ends = r->ends[message];
	if (begins == NONE)
		return same;
	bool ended = ends != NONE && is_done(r, state, ends);
	return answered(
	        state_once(is_done(r, state, begins), ended),
	        (struct outcome){ .kind = REVERSAL_ONCE, .op = OP_SND, .other = begins });
}

/* -- signals ------------------------------------------------------------------------------- */

/* The event of a thread's end (runtime/outside/held.c)? */
static bool is_end(const struct event *x)
{
	return x->op == OP_SND && x->flags & EVENT_SHARED && x->flags & EVENT_TRY;
}

/* The end of the thread to which the event sends a signal: after that, or (*sent) before it.
 * NONE: no such event, or the thread does not end in the run. */
static uint32_t end_of_receiver(const struct reach *r, uint32_t event, bool *sent)
{
	const struct event *x = &r->t->events[event];
	uint32_t message = x->target;
	*sent = x->op == OP_SND && x->flags & EVENT_SHARED && !is_end(x);
	if (x->op == OP_RCV && r->ends[message] != NONE &&
	    is_end(&r->t->events[r->ends[message]]))
		return r->ends[message];
	for (guint i = 0; i < r->receipts->len && *sent; i++) {
		const struct event *y = &r->t->events[g_array_index(r->receipts, uint32_t, i)];
		if (y->target == message)
			return r->last_of[y->thread];
	}
	return NONE;
}

static struct outcome signals(const struct reach *r, const uint32_t *state, uint32_t e)
{
	bool sent;
	uint32_t end = end_of_receiver(r, e, &sent);
	if (end == NONE || sent != is_done(r, state, end))
		return same;
	return (struct outcome){ .answer = ANSWER_OTHER,
		                 .kind = REVERSAL_SENT,
		                 .op = sent ? OP_RCV : OP_SND,
		                 .other = NONE };
}

/* -- must-orders --------------------------------------------------------------------------- */

bool sync_must_hold(const struct reach *r, const uint32_t *state, uint32_t e)
{
	for (uint32_t i = r->must[e]; i < r->must[e + 1]; i++) {
		const struct must_edge *edge = &g_array_index(r->edges, struct must_edge, i);
		bool once = edge->rule == MUST_MESSAGE && r->t->events[e].op == OP_RCV &&
		            r->begins[r->t->events[e].target] != NONE;
		if (!is_done(r, state, edge->before) && !state_decides(r->t, edge, true, once))
			return false;
	}
	return true;
}

/* Have all threads of the kind ended? Equivalent threads are joined together. */
static bool all_ended(const struct reach *r, const uint32_t *state, uint32_t thread)
{
	const uint32_t *kind = r->symmetry ? r->symmetry->kind : NULL;
	for (uint32_t u = 0; kind && kind[thread] != NONE && u < r->threads; u++)
		if (kind[u] == kind[thread] && state[u] < trace_thread_events(r->t, u).count)
			return false;
	return true;
}

/* -- all operations ------------------------------------------------------------------------ */

struct outcome sync_outcome(const struct reach *r, const uint32_t *state, uint32_t event)
{
	if (!sync_must_hold(r, state, event))
		return waits;
	switch (r->t->events[event].op) {
	case OP_ACQ:
	case OP_RACQ:
		return acquire(r, state, event);
	case OP_TRYFAIL:
		return failed_try(r, state, event);
	case OP_TAKE:
	case OP_TAKETRYFAIL:
		return take(r, state, event);
	case OP_WAKE:
		return wake(r, state, event);
	case OP_DEPART:
		return depart(r, state, event);
	case OP_SND:
		return signals(r, state, event);
	case OP_RCV:
		return r->begins[r->t->events[event].target] == NONE ? signals(r, state, event)
		                                                     : receive(r, state, event);
	case OP_JOIN:
		return all_ended(r, state, r->t->events[event].target) ? same : waits;
	default:
		return same;
	}
}

bool sync_waits_in_time(const struct reach *r, const uint32_t *state, uint32_t event)
{
	const struct event *x = &r->t->events[event];
	bool fails = op_fails(x->op);
	if (channel_steps_waits_in_time(r->x->h->channels, state + r->channels, event))
		return true;
	if (!(fails || op_acquires(x->op)) || !(x->flags & EVENT_TIMED))
		return false;
	return sync_outcome(r, state, event).answer == (fails ? ANSWER_SAME : ANSWER_OTHER);
}

void sync_take(const struct reach *r, uint32_t *state, uint32_t event, uint32_t woken)
{
	const struct event *x = &r->t->events[event];
	switch (x->op) {
	case OP_SIGNAL:
		if (woken != NONE)
			set_bit(r, state, BIT_WOKEN, woken, true);
		break;
	case OP_BROADCAST:
		for (uint32_t u = 0; u < r->threads; u++)
			if (sync_may_wake(r, state, event, u))
				set_bit(r, state, BIT_WOKEN, u, true);
		break;
	case OP_WAKE:
		set_bit(r, state, BIT_WOKEN, x->thread, false);
		break;
	case OP_ARRIVE:
		arrive(r, state, event);
		break;
	case OP_DEPART:
		set_bit(r, state, BIT_RELEASED, x->thread, false);
		set_bit(r, state, BIT_SERIAL, x->thread, false);
		break;
	default:
		break;
	}
}

static bool is_shared(const struct reach *r, uint32_t object)
{
	struct event_list list = events_of(r, object);
	for (uint64_t i = 1; i < list.count; i++)
		if (r->t->events[list.items[i]].thread != r->t->events[list.items[0]].thread)
			return true;
	return false;
}

bool sync_is_visible(const struct reach *r, uint32_t event)
{
	const struct event *x = &r->t->events[event];
	switch (x->op) {
	case OP_ACQ:
	case OP_RACQ:
		return is_shared(r, x->target) || r->t->index->partner[event] == NONE;
	case OP_REL:
	case OP_RREL:
	case OP_POST:
		return r->tried[x->target];
	case OP_SND:
	case OP_RCV:
		return r->begins[x->target] != NONE || once_begins_at(r->t, event) ||
		       x->flags & EVENT_SHARED ||
		       (r->ends[x->target] != NONE &&
		        is_end(&r->t->events[r->ends[x->target]]));
	case OP_FREE:
		return true;
	case OP_ALLOC:
	case OP_FORK:
	case OP_JOIN:
	case OP_FENCE:
		return false;
	default: /* destroy, conditions, barriers, takes, failed tries */
		return op_table[x->op].operand == OPERAND_OBJECT;
	}
}

static void find_waits(struct reach *r, uint32_t thread)
{
	struct event_list mine = trace_thread_events(r->t, thread);
	uint32_t now = NONE;
	bool handles = false; /* a signal's handler runs while it waits */
	for (uint64_t i = 0; i < mine.count; i++) {
		const struct event *x = &r->t->events[mine.items[i]];
		enum op_class class = op_table[x->op].class;
		bool ends = (x->op == OP_WAKE || x->op == OP_DEPART) && now != NONE &&
		            x->target == r->t->events[now].target;
		handles = now != NONE && !ends &&
		          (handles || history_handles(r->x->h, mine.items[i]));
		bool within = event_inert(x) || class == OP_CLASS_MARKER ||
		              class == OP_CLASS_SCOPE || x->op == OP_REL || handles;
		if (x->op == OP_WAIT || x->op == OP_ARRIVE)
			now = event_inert(x) ? now : mine.items[i];
		else if (!within)
			now = NONE;
		r->waits[mine.items[i]] = now;
	}
}

/* Does it receive a message without waiting for it, and whatever was sent? (An annotation's
 * acquire; of a channel, what a look finds is an outcome.) */
static bool receives_freely(const struct trace *t, const struct channels *c, uint32_t event)
{
	const struct event *x = &t->events[event];
	return x->op == OP_RCV && x->flags & EVENT_TRY &&
	       c->messages[x->target].what == CHANNEL_NONE;
}

/* The must-orders that hold in every schedule of the class. */
static void find_must(struct reach *r)
{
	const struct trace *t = r->t;
	struct channels channels;
	r->must = g_new(uint32_t, t->events_count + 1);
	r->edges = g_array_new(FALSE, FALSE, sizeof(struct must_edge));
	channels_init(&channels, t);
	for (uint32_t e = 0; e < t->events_count; e++) {
		struct must_sources sources = must_sources(t, e);
		struct must_edge edge;
		bool freely = receives_freely(t, &channels, e);
		r->must[e] = r->edges->len;
		while (must_sources_next(&sources, &edge))
			if (edge.rule != MUST_MESSAGE ||
			    !(freely || is_end(&t->events[edge.before])))
				g_array_append_val(r->edges, edge);
	}
	r->must[t->events_count] = r->edges->len;
	channels_release(&channels);
}

void sync_prepare(struct reach *r)
{
	const struct trace *t = r->t;
	r->waits = g_new(uint32_t, t->events_count + 1);
	r->counted = g_new(uint32_t, t->events_count + 1);
	r->begins = once_begins(t);
	r->ends = g_new(uint32_t, t->messages_count + 1);
	r->tried = g_new0(uint8_t, t->objects_count + 1);
	find_must(r);
	memset(r->ends, 0xff, sizeof(uint32_t) * (t->messages_count + 1));
	lock_sections_init(&r->sections, t);
	for (uint32_t u = 0; u < r->threads; u++)
		find_waits(r, u);
	r->receipts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	r->last_of = g_new(uint32_t, r->threads + 1);
	memset(r->last_of, 0xff, sizeof(uint32_t) * (r->threads + 1));
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (history_handles(r->x->h, e))
			g_array_append_val(r->receipts, e);
		if (is_end(&t->events[e]))
			r->last_of[t->events[e].thread] = e;
	}
	r->spurious = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t e = 0; r->x->limits->spurious > 0 && e < t->events_count; e++)
		if (sync_is_spurious(t, e))
			g_array_append_val(r->spurious, e);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (x->op == OP_SND)
			r->ends[x->target] = e;
		bool looks = x->op == OP_AREAD && !channel_steps_has(r->x->h->channels, e);
		r->counted[e] = looks ? counted_at(t, e) : NONE;
		if (r->counted[e] != NONE)
			r->tried[r->counted[e]] = true;
		if (op_fails(x->op) ||
		    ((op_acquires(x->op) || x->op == OP_TAKE) && x->flags & EVENT_TRY))
			r->tried[x->target] = true;
	}
}

void sync_release(struct reach *r)
{
	g_free(r->waits);
	g_array_unref(r->receipts);
	g_free(r->last_of);
	g_array_unref(r->spurious);
	g_free(r->must);
	g_array_unref(r->edges);
	g_free(r->counted);
	g_free(r->begins);
	g_free(r->ends);
	g_free(r->tried);
	lock_sections_release(&r->sections);
}

bool sync_has_outcomes(const struct trace *t)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		switch (x->op) {
		case OP_TRYFAIL:
		case OP_TAKETRYFAIL:
		case OP_TAKE:
		case OP_WAIT:
		case OP_ARRIVE:
			return true;
		case OP_ACQ:
		case OP_RACQ:
			if (x->flags & EVENT_TRY)
				return true;
			break;
		case OP_SND:
			if (once_begins_at(t, e))
				return true;
			break;
		case OP_RCV:
			if (x->flags & (EVENT_TRY | EVENT_SHARED))
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}
