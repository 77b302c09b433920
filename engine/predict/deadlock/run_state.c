/*
 * run_state.c - see run_state.h.
 */
#include "engine/predict/deadlock/run_state.h"

#include "engine/predict/deadlock/stuck.h"

#include "engine/base/hash.h"
#include "engine/trace/once.h"
#include "engine/trace/state_rules.h"
#include "engine/trace/tries.h"

#include <string.h>

/* -- cells --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x7fb5d329728ea185);
	x ^= x >> 27;
	x *= UINT64_C(0x81dadef4bc2dd44d);
	return x ^ x >> 33;
}

/* Is the cell part of the state's identity? The order of two writes that no event reads, and
 * cells that follow from the events done, do not distinguish states. */
static bool is_keyed(const struct run_state *s, uint32_t cell)
{
	uint32_t variables = (uint32_t)(s->last - s->cells);

	if (cell < s->threads * 4)
		return true; /* done, woken, arrival, halted */
	if (s->channels.count > 0 && cell >= (uint32_t)(s->order - s->cells))
		return cell < (uint32_t)(s->reads - s->cells);
	return cell >= variables && cell < variables + s->t->variables_count &&
	       s->read[cell - variables];
}

static void toggle(struct run_state *s, uint32_t cell, uint32_t value)
{
	uint64_t word = (uint64_t)cell << 32 | value;

	s->key[0] ^= mix(word + HASH_FACTOR);
	s->key[1] ^= mix(word ^ UINT64_C(0xd1342543de82ef95));
}

static void change(struct run_state *s, uint32_t cell, uint32_t value)
{
	if (s->cells[cell] == value)
		return;
	if (is_keyed(s, cell)) {
		toggle(s, cell, s->cells[cell]);
		toggle(s, cell, value);
	}
	s->cells[cell] = value;
}

static void set(struct run_state *s, uint32_t *cell, uint32_t value)
{
	struct state_change c = { (uint32_t)(cell - s->cells), *cell };

	g_array_append_val(s->log, c);
	change(s, c.cell, value);
}

void run_state_undo(struct run_state *s, uint32_t mark)
{
	for (guint i = s->log->len; i-- > mark;) {
		const struct state_change *c = &g_array_index(s->log, struct state_change, i);

		change(s, c->cell, c->old);
	}
	g_array_set_size(s->log, mark);
}

static const struct event *at(const struct run_state *s, uint32_t e)
{
	return &s->t->events[e];
}

uint32_t run_state_event(const struct run_state *s, uint32_t thread)
{
	struct event_list mine = trace_thread_events(s->t, thread);

	return s->done[thread] < mine.count ? mine.items[s->done[thread]] : NONE;
}

bool run_state_has(const struct run_state *s, uint32_t e)
{
	return s->t->index->position[e] < s->done[at(s, e)->thread];
}

/* -- events that have to come before --------------------------------------------------------- */

/* Does the thread wait there for another thread's message, which the state decides? */
static bool waits_for_message(const struct run_state *s, uint32_t e)
{
	const struct event *x = at(s, e);

	if (channel_receives(&s->channels, x))
		return !s->foreign_channel[s->channels.messages[x->target].channel];
	return x->op == OP_RCV && !event_inert(x) && s->begins[x->target] != NONE;
}

/* Does the state decide, in place of the recording's pairing (rule W2)? */
static bool is_decided(const struct run_state *s, const struct must_edge *edge)
{
	const struct event *x = at(s, edge->after);
	bool object = op_table[x->op].operand == OPERAND_OBJECT;

	return state_decides(s->t, edge, !(object && s->foreign[x->target]),
	                     edge->rule == MUST_MESSAGE && waits_for_message(s, edge->after));
}

static enum next next_by(enum answer answer)
{
	return answer == ANSWER_SAME    ? NEXT_RUNS
	       : answer == ANSWER_WAITS ? NEXT_WAITS
	                                : NEXT_DIFFERS;
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

static uint32_t value_read(const struct run_state *s, const struct event *x)
{
	return x->op == OP_RMW && x->aux != 0 ? trace_value(s->t, x->aux).first : x->aux;
}

/* With --values: does another write of the same bytes give the same value? */
static bool same_value(const struct run_state *s, const struct event *x, struct wide run)
{
	uint32_t value = value_read(s, x), w = s->last[run.first];

	if (value == 0)
		return false;
	if (w == 0)
		return run.count == 1 && s->initial[run.first] == value;
	const struct event *write = at(s, w - 1);
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
	struct wide run = event_variables(s->t, at(s, e));
	struct event_list writers = trace_writers(s->t, e);

	for (uint32_t i = 0; i < run.count; i++) {
		uint32_t w = i < writers.count ? writers.items[i] : NONE;

		if (s->last[run.first + i] != w + 1)
			return s->use_values && same_value(s, at(s, e), run);
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
	struct wide run = event_variables(s->t, at(s, e));

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (s->t->variables[v].block != NONE &&
		    is_freed(s, s->t->variables[v].block, at(s, e)->thread))
			return NEXT_DIFFERS;
	}
	return op_reads(at(s, e)->op) && !observes(s, e) ? NEXT_DIFFERS : NEXT_RUNS;
}

/* -- synchronisation ------------------------------------------------------------------------ */

static bool is_held(const struct run_state *s, uint32_t lock, bool exclusive)
{
	return s->owner[lock] != 0 || (exclusive && s->readers[lock] > 0);
}

static enum next next_tryfail(const struct run_state *s, uint32_t e)
{
	const struct tries *tries = trace_tries(s->t);
	uint32_t lock = at(s, e)->target;
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

static enum next next_wake(const struct run_state *s, uint32_t e)
{
	const struct event *x = at(s, e);
	bool woken = s->woken[x->thread], late = x->flags & EVENT_TRY;
	uint32_t wait = s->waiting[x->thread];
	bool known = s->facts[e] & FACT_WAKER && wait != 0 && !s->foreign[x->target];

	if (!late && !known)
		return NEXT_RUNS; /* woken by an operation that the trace lacks */
	return next_by(state_wake(late, !late && at(s, wait - 1)->flags & EVENT_TRY, woken));
}

static bool round_is_open(const struct run_state *s, uint32_t thread, uint32_t barrier)
{
	uint32_t size = (uint32_t)s->t->objects[barrier].count, n = s->arrival[thread];

	return s->count[barrier] < (n + size - 1) / size * size;
}

static enum next next_depart(const struct run_state *s, uint32_t e)
{
	const struct event *x = at(s, e);
	uint32_t n = s->arrival[x->thread], arrive = s->waiting[x->thread];

	if (s->t->objects[x->target].count <= 0 || s->foreign[x->target] || n == 0 ||
	    arrive == 0)
		return NEXT_RUNS;
	bool serial = n % (uint32_t)s->t->objects[x->target].count == 0;
	return next_by(state_depart(round_is_open(s, x->thread, x->target), serial,
	                            s->facts[arrive - 1] & FACT_SERIAL));
}

static bool waits_at(const struct run_state *s, uint32_t thread, uint32_t object)
{
	uint32_t wait = s->waiting[thread];

	return wait != 0 && at(s, wait - 1)->target == object;
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

/* -- channels and once-functions ----------------------------------------------------------- */

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

static enum next next_receive(const struct run_state *s, uint32_t e)
{
	const struct event *x = at(s, e);
	const struct channel_message *m = &s->channels.messages[x->target];
	uint32_t begins = s->begins[x->target], order;
	bool empty;

	if (!waits_for_message(s, e))
		return NEXT_RUNS;
	if (begins != NONE)
		return next_by(state_once(run_state_has(s, begins), unsent(s, e) == NONE));
	empty = s->sent[m->channel] == s->received[m->channel];
	if (m->what == CHANNEL_CLOSED) /* a thread that reads its end has read all before */
		return !empty ? NEXT_DIFFERS : unsent(s, e) != NONE ? NEXT_WAITS : NEXT_RUNS;
	order = s->order[x->target];
	if (order == 0)
		return empty && s->closed[m->channel] == 0 ? NEXT_WAITS : NEXT_DIFFERS;
	return unsent(s, e) == NONE && order == s->received[m->channel] + 1 ? NEXT_RUNS
	                                                                    : NEXT_DIFFERS;
}

static enum next next_send(const struct run_state *s, uint32_t e)
{
	uint32_t target = at(s, e)->target;
	const struct channel_message *m = &s->channels.messages[target];

	if (m->what != CHANNEL_DATA || m->room == 0 || s->foreign_channel[m->channel] ||
	    s->order[target] != 0)
		return NEXT_RUNS;
	return s->bytes[m->channel] + m->bytes > m->room ? NEXT_WAITS : NEXT_RUNS;
}

static void step_message(struct run_state *s, uint32_t e)
{
	const struct event *x = at(s, e);
	const struct channel_message *m = &s->channels.messages[x->target];
	uint32_t c = m->channel, order = s->order[x->target], reads = s->reads[x->target];

	if (m->what == CHANNEL_CLOSED && x->op == OP_SND)
		set(s, &s->closed[c], s->closed[c] + 1);
	if (m->what != CHANNEL_DATA)
		return;
	if (x->op == OP_SND && order == 0) {
		set(s, &s->sent[c], s->sent[c] + 1);
		set(s, &s->order[x->target], s->sent[c]);
		set(s, &s->bytes[c], s->bytes[c] + m->bytes);
	} else if (channel_receives(&s->channels, x)) {
		set(s, &s->reads[x->target], reads + 1);
		if (order != 0 && reads == 0)
			set(s, &s->bytes[c], s->bytes[c] - m->bytes);
		if (order != 0 && reads + 1 == m->reads)
			set(s, &s->received[c], s->received[c] + 1);
	}
}

uint32_t run_state_channel(const struct run_state *s, uint32_t e)
{
	const struct event *x = at(s, e);
	const struct channel_message *m = &s->channels.messages[x->target];

	if (event_inert(x) || (x->op != OP_SND && x->op != OP_RCV))
		return NONE;
	if (x->op == OP_SND ? m->what != CHANNEL_NONE : channel_receives(&s->channels, x))
		return m->channel;
	/* the function's begin is sent as a message of another name */
	uint32_t ends = x->op == OP_SND ? s->ends[x->target] : x->target;
	return ends != NONE && s->begins[ends] != NONE ? s->channels.count + ends : NONE;
}

static enum next next_sync(const struct run_state *s, uint32_t e)
{
	const struct event *x = at(s, e);
	uint32_t block = event_block_used(s->t, x);
	bool free;

	if (x->op == OP_RCV)
		return next_receive(s, e);
	if (x->op == OP_SND)
		return next_send(s, e);
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
		return next_wake(s, e);
	case OP_DEPART:
		return next_depart(s, e);
	default:
		return NEXT_RUNS;
	}
	enum answer answer = state_acquire(x, free);
	return answer == ANSWER_WAITS && s->misused[x->target] != 0 ? NEXT_DIFFERS
	                                                            : next_by(answer);
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
	const struct event *x = at(s, e);
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
	const struct event *x = at(s, run_state_event(s, thread));

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

		if (at(s, a)->op == OP_RACQ && run_state_has(s, a) &&
		    (release == NONE || !run_state_has(s, release)) && i-- == 0)
			return at(s, a)->thread;
	}
	return NONE;
}

uint32_t run_state_holder(const struct run_state *s, uint32_t thread, uint32_t i)
{
	const struct event *x = at(s, run_state_event(s, thread));

	if (x->op == OP_JOIN || x->op == OP_WANTJOIN)
		return i == 0 ? x->target : NONE;
	if (x->op == OP_RCV && s->begins[x->target] != NONE)
		return i == 0 ? at(s, s->begins[x->target])->thread : NONE;
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
	const struct event *x = at(s, e);
	uint32_t u = x->thread, o = x->target;

	switch (x->op) {
	case OP_ACQ:
		set(s, &s->owner[o], u + 1);
		break;
	case OP_REL:
		set(s, &s->owner[o], 0);
		break;
	case OP_RACQ:
		set(s, &s->readers[o], s->readers[o] + 1);
		break;
	case OP_RREL:
		set(s, &s->readers[o], s->readers[o] - (s->readers[o] > 0));
		break;
	case OP_POST:
	case OP_TAKE:
		set(s, &s->count[o], s->count[o] + (uint32_t)op_count(x->op));
		break;
	case OP_ARRIVE:
		set(s, &s->count[o], s->count[o] + 1);
		set(s, &s->arrival[u], s->count[o]);
		set(s, &s->waiting[u], e + 1);
		break;
	case OP_WAIT:
		set(s, &s->waiting[u], e + 1);
		break;
	case OP_WAKE:
	case OP_DEPART:
		set(s, &s->waiting[u], 0);
		set(s, &s->woken[u], 0);
		set(s, &s->arrival[u], 0);
		break;
	case OP_SIGNAL:
		if (woken != NONE)
			set(s, &s->woken[woken], 1);
		break;
	case OP_BROADCAST:
		for (uint32_t v = 0; v < s->threads; v++) {
			if (run_state_may_wake(s, e, v))
				set(s, &s->woken[v], 1);
		}
		break;
	case OP_DESTROY:
		set(s, &s->destroyed[o], MAX(s->destroyed[o], e + 1));
		break;
	default:
		break;
	}
}

void run_state_halt(struct run_state *s, uint32_t thread)
{
	set(s, &s->halted[thread], 1);
}

void run_state_step(struct run_state *s, uint32_t thread, uint32_t woken)
{
	uint32_t e = run_state_event(s, thread);
	const struct event *x = at(s, e);

	set(s, &s->done[thread], s->done[thread] + 1);
	if (x->op == OP_MISUSE)
		set(s, &s->misused[x->target], 1);
	if (event_inert(x))
		return;
	if (op_is_access(x->op) && op_writes(x->op)) {
		struct wide run = event_variables(s->t, x);

		for (uint32_t v = run.first; v < run.first + run.count; v++)
			set(s, &s->last[v], e + 1);
	} else if (op_table[x->op].operand == OPERAND_OBJECT) {
		step_object(s, e, woken);
	} else if (s->channels.count > 0 && (x->op == OP_SND || x->op == OP_RCV)) {
		step_message(s, e);
	}
}

/* -- facts ---------------------------------------------------------------------------------- */

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
	const struct event *x = at(s, e);
	bool follows = true;

	if (x->op == OP_RCV)
		follows = next_receive(s, e) == NEXT_RUNS;
	else if (x->op == OP_SND)
		follows = next_send(s, e) == NEXT_RUNS &&
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
			    (x->op == OP_WAKE && next_wake(s, e) != NEXT_RUNS))
				s->foreign[x->target] = true;
			size = x->op == OP_ARRIVE ? (uint32_t)t->objects[x->target].count : 0;
			if (size > 0 && (s->count[x->target] + 1) % size == 0)
				s->facts[e] |= FACT_SERIAL;
			if (x->op == OP_DEPART && next_depart(s, e) != NEXT_RUNS)
				s->foreign[x->target] = true;
			walk_message(s, e);
			if (op_is_access(x->op) && op_reads(x->op) && s->initial != NULL) {
				struct wide run = event_variables(t, x);

				if (run.count == 1 && s->last[run.first] == 0 &&
				    s->initial[run.first] == 0)
					s->initial[run.first] = value_read(s, x);
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
			s->ends[m] = s->ends[at(s, s->begins[m])->target] = m;
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
