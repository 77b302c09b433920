/*
 * run_state.c - see run_state.h.
 */
#include "engine/predict/deadlock/run_state_private.h"

#include "engine/trace/tries.h"

uint32_t run_state_event(const struct run_state *s, uint32_t thread)
{
	struct event_list mine = trace_thread_events(s->t, thread);

	return s->done[thread] < mine.count ? mine.items[s->done[thread]] : NONE;
}

/* -- events that have to come before --------------------------------------------------------- */

/* Does the state decide, in place of the recording's pairing (rule W2)? */
static bool is_decided(const struct run_state *s, const struct must_edge *edge)
{
	const struct event *x = state_event(s, edge->after);
	bool object = op_table[x->op].operand == OPERAND_OBJECT;

	return state_decides(s->t, edge, !(object && s->foreign[x->target]),
	                     edge->rule == MUST_MESSAGE &&
	                             state_waits_for_message(s, edge->after));
}

static uint32_t missing(const struct run_state *s, uint32_t e)
{
	if (!(s->facts[e] & FACT_MUST))
		return NONE;
	struct must_sources sources = must_sources(s->t, e);
	struct must_edge edge;

	while (must_sources_next(&sources, &edge)) {
		if (!run_state_has(s, edge.before) && !is_decided(s, &edge))
			return edge.before;
	}
	return NONE;
}

uint32_t run_state_missing(const struct run_state *s, uint32_t thread)
{
	uint32_t e = run_state_event(s, thread);

	return e == NONE ? NONE : missing(s, e);
}

/* -- accesses ------------------------------------------------------------------------------- */

/* With --values: does another write of the same bytes give the same value? */
static bool same_value(const struct run_state *s, const struct event *x, struct wide run)
{
	uint32_t value = state_value_read(s, x), w = s->last[run.first];

	if (value == 0)
		return false;
	if (w == 0)
		return run.count == 1 && s->initial[run.first] == value;
	const struct event *write = state_event(s, w - 1);
	struct wide written = event_variables(s->t, write);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (s->last[v] != w)
			return false;
	}
	return written.first == run.first && written.count == run.count &&
	       (write->op == OP_RMW && write->aux != 0 ? trace_value(s->t, write->aux).second
	                                               : write->aux) == value;
}

static bool observes(const struct run_state *s, uint32_t e)
{
	struct wide run = event_variables(s->t, state_event(s, e));
	struct event_list writers = trace_writers(s->t, e);

	for (uint32_t i = 0; i < run.count; i++) {
		uint32_t w = i < writers.count ? writers.items[i] : NONE;

		if (s->last[run.first + i] != w + 1)
			return s->use_values && same_value(s, state_event(s, e), run);
	}
	return true;
}

static bool is_freed(const struct run_state *s, uint32_t block, uint32_t thread)
{
	const struct block *b = &s->t->blocks[block];
	uint32_t owner = s->stack_of[block];

	if (b->free != NONE && run_state_has(s, b->free))
		return true;
	if (b->alloc != NONE || owner == NONE || owner == thread)
		return false;
	struct event_list mine = trace_thread_events(s->t, owner);
	return mine.count > 0 && (s->done[owner] == 0 || s->done[owner] == mine.count);
}

static enum next next_access(const struct run_state *s, uint32_t e)
{
	struct wide run = event_variables(s->t, state_event(s, e));

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (s->t->variables[v].block != NONE &&
		    is_freed(s, s->t->variables[v].block, state_event(s, e)->thread))
			return NEXT_DIFFERS;
	}
	return op_reads(state_event(s, e)->op) && !observes(s, e) ? NEXT_DIFFERS : NEXT_RUNS;
}

/* -- synchronisation ------------------------------------------------------------------------ */

static bool is_held(const struct run_state *s, uint32_t lock, bool exclusive)
{
	return s->owner[lock] != 0 || (exclusive && s->readers[lock] > 0);
}

static enum next next_tryfail(const struct run_state *s, uint32_t e)
{
	const struct tries *tries = trace_tries(s->t);
	uint32_t lock = state_event(s, e)->target;
	bool good = true;

	switch (tries_need(tries, e)) {
	case TRY_NOTHING:
		break;
	case TRY_DESTROYED:
		good = run_state_has(s, tries_observed(tries, e).items[0]);
		break;
	case TRY_EXCLUSIVE:
		good = s->owner[lock] != 0;
		break;
	case TRY_ANY:
		good = s->owner[lock] != 0 || s->readers[lock] > 0;
		break;
	}
	return good ? NEXT_RUNS : NEXT_DIFFERS;
}

enum next state_next_wake(const struct run_state *s, uint32_t e)
{
	const struct event *x = state_event(s, e);
	uint32_t wait = s->waiting[x->thread];
	bool timed = wait != 0 && state_event(s, wait - 1)->flags & EVENT_TRY;
	bool late = x->flags & EVENT_TRY && timed;
	bool known = s->facts[e] & FACT_WAKER && wait != 0 && !s->foreign[x->target];

	if (!late && !known)
		return NEXT_RUNS; /* spurious, or by an operation that the trace lacks */
	return state_next_by(state_wake(late, timed, s->woken[x->thread]));
}

static bool round_is_open(const struct run_state *s, uint32_t thread, uint32_t barrier)
{
	uint32_t size = (uint32_t)s->t->objects[barrier].count, n = s->arrival[thread];

	return s->count[barrier] < (n + size - 1) / size * size;
}

enum next state_next_depart(const struct run_state *s, uint32_t e)
{
	const struct event *x = state_event(s, e);
	uint32_t n = s->arrival[x->thread], arrive = s->waiting[x->thread];

	if (s->t->objects[x->target].count <= 0 || s->foreign[x->target] || n == 0 ||
	    arrive == 0)
		return NEXT_RUNS;
	bool serial = n % (uint32_t)s->t->objects[x->target].count == 0;
	return state_next_by(state_depart(round_is_open(s, x->thread, x->target), serial,
	                                  s->facts[arrive - 1] & FACT_SERIAL));
}

static bool waits_at(const struct run_state *s, uint32_t thread, uint32_t object)
{
	uint32_t wait = s->waiting[thread];

	return wait != 0 && state_event(s, wait - 1)->target == object;
}

/* Have all events of the thread come? */
static bool has_ended(const struct run_state *s, uint32_t thread)
{
	uint32_t fork = s->t->threads[thread].fork;

	return run_state_event(s, thread) == NONE && (fork == NONE || run_state_has(s, fork));
}

/* Would a thread that waits for the channel at the end of the trace, for bytes or for room,
 * wait in this state? */
static bool is_as_at_end(const struct run_state *s, uint32_t channel)
{
	if (channel == NONE || s->foreign_channel[channel] || s->closed[channel] > 0)
		return false;
	if (s->left_over[channel] > 0)
		return s->bytes[channel] >= s->left_over[channel];
	return s->sent[channel] == s->received[channel];
}

/* A thread whose recording ended with a wait: its later events are unknown. */
static enum next next_want(const struct run_state *s, const struct event *x)
{
	uint32_t u = x->thread, o = x->target;
	bool waits = false;

	if (x->op == OP_WANTJOIN)
		return has_ended(s, o) && s->shows_end[o] ? NEXT_DIFFERS : NEXT_WAITS;
	switch (s->use[o]) {
	case WAIT_LOCK:
		waits = is_held(s, o, s->exclusive[o]) && s->misused[o] == 0;
		break;
	case WAIT_SEMAPHORE:
		waits = s->count[o] == 0 && !s->foreign[o];
		break;
	case WAIT_CONDITION:
		waits = waits_at(s, u, o) && !s->woken[u] && !s->foreign[o];
		break;
	case WAIT_BARRIER:
		waits = waits_at(s, u, o) && s->t->objects[o].count > 0 && !s->foreign[o] &&
		        round_is_open(s, u, o);
		break;
	case WAIT_CHANNEL:
		waits = is_as_at_end(s, s->channels.of_object[o]);
		break;
	default:
		break;
	}
	return waits ? NEXT_WAITS : NEXT_DIFFERS;
}

static enum next next_sync(const struct run_state *s, uint32_t e)
{
	const struct event *x = state_event(s, e);
	uint32_t block = event_block_used(s->t, x);
	bool free;

	if (x->op == OP_RCV)
		return state_next_receive(s, e);
	if (x->op == OP_SND)
		return state_next_send(s, e);
	if (op_table[x->op].operand != OPERAND_OBJECT)
		return NEXT_RUNS;
	if ((block != NONE && is_freed(s, block, x->thread)) || s->destroyed[x->target] > e + 1)
		return NEXT_DIFFERS;
	switch (x->op) {
	case OP_ACQ:
	case OP_RACQ:
		free = !is_held(s, x->target, x->op == OP_ACQ);
		break;
	case OP_TAKE:
		free = s->count[x->target] > 0 || s->foreign[x->target];
		break;
	case OP_TRYFAIL:
		return next_tryfail(s, e);
	case OP_TAKETRYFAIL:
		return tries_binding(trace_tries(s->t), e) && s->count[x->target] > 0
		               ? NEXT_DIFFERS
		               : NEXT_RUNS;
	case OP_WAKE:
		return state_next_wake(s, e);
	case OP_DEPART:
		return state_next_depart(s, e);
	default:
		return NEXT_RUNS;
	}
	enum answer answer = state_acquire(x, free);
	return answer == ANSWER_WAITS && s->misused[x->target] != 0 ? NEXT_DIFFERS
	                                                            : state_next_by(answer);
}

enum next run_state_next(const struct run_state *s, uint32_t thread)
{
	uint32_t e = run_state_event(s, thread), fork = s->t->threads[thread].fork;

	if (s->done[thread] == 0 && fork != NONE && !run_state_has(s, fork))
		return NEXT_ABSENT;
	if (e == NONE)
		return s->shows_end[thread] ? NEXT_ENDED : NEXT_DIFFERS;
	if (s->halted[thread])
		return NEXT_DIFFERS;
	const struct event *x = state_event(s, e);
	if (x->op == OP_JOIN && !event_inert(x) && !has_ended(s, x->target))
		return NEXT_WAITS;
	if (missing(s, e) != NONE)
		return NEXT_DIFFERS;
	if (op_wants(x->op))
		return next_want(s, x);
	if (event_inert(x))
		return NEXT_RUNS;
	if (op_is_access(x->op))
		return next_access(s, e);
	return op_table[x->op].class == OP_CLASS_SYNC ? next_sync(s, e) : NEXT_RUNS;
}

enum wait_for run_state_waits_for(const struct run_state *s, uint32_t thread)
{
	const struct event *x = state_event(s, run_state_event(s, thread));

	switch (x->op) {
	case OP_JOIN:
	case OP_WANTJOIN:
		return WAIT_JOIN;
	case OP_WANT:
		return s->use[x->target];
	case OP_TAKE:
		return WAIT_SEMAPHORE;
	case OP_WAKE:
		return WAIT_CONDITION;
	case OP_DEPART:
		return WAIT_BARRIER;
	case OP_SND:
		return WAIT_CHANNEL;
	case OP_RCV: /* a once-function is a lock of the thread that runs it */
		return s->begins[x->target] != NONE ? WAIT_LOCK : WAIT_CHANNEL;
	default:
		return WAIT_LOCK;
	}
}

/* The i-th thread with a shared section of the lock open. */
static uint32_t reader(const struct run_state *s, uint32_t lock, uint32_t i)
{
	struct event_list list = event_list_at(&s->t->index->object_events, lock);

	for (uint64_t k = 0; k < list.count && s->readers[lock] > 0; k++) {
		uint32_t a = list.items[k], release = s->t->index->partner[a];

		if (state_event(s, a)->op == OP_RACQ && run_state_has(s, a) &&
		    (release == NONE || !run_state_has(s, release)) && i-- == 0)
			return state_event(s, a)->thread;
	}
	return NONE;
}

uint32_t run_state_holder(const struct run_state *s, uint32_t thread, uint32_t i)
{
	const struct event *x = state_event(s, run_state_event(s, thread));

	if (x->op == OP_JOIN || x->op == OP_WANTJOIN)
		return i == 0 ? x->target : NONE;
	if (x->op == OP_RCV && s->begins[x->target] != NONE)
		return i == 0 ? state_event(s, s->begins[x->target])->thread : NONE;
	if (!op_acquires(x->op) && x->op != OP_WANT)
		return NONE;
	if (s->owner[x->target] != 0)
		return i == 0 ? s->owner[x->target] - 1 : NONE;
	bool shared = x->op == OP_RACQ || (x->op == OP_WANT && !s->exclusive[x->target]);
	return shared ? NONE : reader(s, x->target, i);
}

/* -- steps ---------------------------------------------------------------------------------- */

bool run_state_may_wake(const struct run_state *s, uint32_t signal, uint32_t thread)
{
	return state_may_wake(s->t, signal, s->waiting[thread] - 1, s->woken[thread]);
}

static void step_object(struct run_state *s, uint32_t e, uint32_t woken)
{
	const struct event *x = state_event(s, e);
	uint32_t u = x->thread, o = x->target;

	switch (x->op) {
	case OP_ACQ:
		state_set(s, &s->owner[o], u + 1);
		break;
	case OP_REL:
		state_set(s, &s->owner[o], 0);
		break;
	case OP_RACQ:
		state_set(s, &s->readers[o], s->readers[o] + 1);
		break;
	case OP_RREL:
		state_set(s, &s->readers[o], s->readers[o] - (s->readers[o] > 0));
		break;
	case OP_POST:
	case OP_TAKE:
		state_set(s, &s->count[o], s->count[o] + (uint32_t)op_count(x->op));
		break;
	case OP_ARRIVE:
		state_set(s, &s->count[o], s->count[o] + 1);
		state_set(s, &s->arrival[u], s->count[o]);
		state_set(s, &s->waiting[u], e + 1);
		break;
	case OP_WAIT:
		state_set(s, &s->waiting[u], e + 1);
		break;
	case OP_WAKE:
	case OP_DEPART:
		state_set(s, &s->waiting[u], 0);
		state_set(s, &s->woken[u], 0);
		state_set(s, &s->arrival[u], 0);
		break;
	case OP_SIGNAL:
		if (woken != NONE)
			state_set(s, &s->woken[woken], 1);
		break;
	case OP_BROADCAST:
		for (uint32_t v = 0; v < s->threads; v++) {
			if (run_state_may_wake(s, e, v))
				state_set(s, &s->woken[v], 1);
		}
		break;
	case OP_DESTROY:
		state_set(s, &s->destroyed[o], MAX(s->destroyed[o], e + 1));
		break;
	default:
		break;
	}
}

void run_state_halt(struct run_state *s, uint32_t thread)
{
	state_set(s, &s->halted[thread], 1);
}

void run_state_step(struct run_state *s, uint32_t thread, uint32_t woken)
{
	uint32_t e = run_state_event(s, thread);
	const struct event *x = state_event(s, e);

	state_set(s, &s->done[thread], s->done[thread] + 1);
	if (x->op == OP_MISUSE)
		state_set(s, &s->misused[x->target], 1);
	if (event_inert(x))
		return;
	if (op_is_access(x->op) && op_writes(x->op)) {
		struct wide run = event_variables(s->t, x);

		for (uint32_t v = run.first; v < run.first + run.count; v++)
			state_set(s, &s->last[v], e + 1);
	} else if (op_table[x->op].operand == OPERAND_OBJECT) {
		step_object(s, e, woken);
	} else if (s->channels.count > 0 && (x->op == OP_SND || x->op == OP_RCV)) {
		state_step_message(s, e);
	}
}

/* -- facts ---------------------------------------------------------------------------------- */
