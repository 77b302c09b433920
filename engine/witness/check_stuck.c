/*
 * check_stuck.c - the claim that threads wait for ever (semantics.md, "Waits that never end").
 *
 * Here the state decides what an operation of a semaphore, a condition or a barrier does, not
 * the pairing of the recording (rules W1, W2); then the greatest set of threads that only
 * threads of the set could wake is computed (W3, W4).
 */
#include "engine/witness/check_private.h"

#include "engine/trace/channel.h"

#include <string.h>

/* By channel. */
struct channel_state {
	bool lacking;  /* some messages of the channel are not in the trace */
	uint32_t left; /* bytes in it at the end of the trace */
	GArray *queue; /* messages (uint32_t) written, in order; from `first` on not read whole
	                */
	guint first;
	bool closed;
};

struct waits {
	/* -- of the trace */
	struct channels names;
	struct channel_state *channels;
	uint32_t *once;    /* by message: event with which its once-function begins, or NONE */
	bool *shows_end;   /* by thread */
	uint8_t *kind;     /* by object: enum op_use of a want */
	uint64_t *serial;  /* bit set of the arrivals that completed their round */
	uint32_t process;  /* the thread whose end ends the process, or NONE */
	uint64_t *depends; /* bit set of the wakes that have a waker in the trace */
	/* -- the state */
	uint32_t *waiting; /* by thread: its wait or arrival + 1, until it is left; or 0 */
	uint32_t *arrival; /* by thread: its arrival, counted at the barrier from 1 */
	bool *woken;       /* by thread */
	uint32_t *arrived; /* by object */
	bool *misused;     /* by object: misuse was recorded: its holder is unknown */
	GHashTable *when;  /* event -> its place in the sequence + 1 */
	const uint32_t *sequence; /* the sequence being checked, borrowed; NULL: the trace's
	                           * order */
	size_t length, at;
	bool *written;   /* by message */
	uint32_t *reads; /* by message: in how many receives it was read */
};

static bool in_set(const uint64_t *set, uint32_t e)
{
	return set[e / 64] >> (e % 64) & 1;
}

static void add_to(uint64_t *set, uint32_t e)
{
	set[e / 64] |= (uint64_t)1 << (e % 64);
}

void waits_free(struct waits *w)
{
	if (w == NULL)
		return;
	g_free(w->shows_end);
	g_free(w->kind);
	g_free(w->serial);
	g_free(w->depends);
	g_free(w->waiting);
	g_free(w->arrival);
	g_free(w->woken);
	g_free(w->arrived);
	g_free(w->misused);
	g_hash_table_destroy(w->when);
	for (uint32_t i = 0; i < w->names.count; i++)
		g_array_unref(w->channels[i].queue);
	g_free(w->channels);
	channels_release(&w->names);
	g_free(w->once);
	g_free(w->reads);
	g_free(w->written);
	g_free(w);
}

static uint32_t size_of(const struct checker *c, uint32_t barrier)
{
	return (uint32_t)MAX(c->t->objects[barrier].count, 0);
}

/* -- rule W2: what the state decides --------------------------------------------------------- */

static bool waits_at(const struct checker *c, uint32_t u, uint32_t o)
{
	uint32_t wait = c->waits->waiting[u];

	return wait != 0 && at(c, wait - 1)->target == o;
}

static bool may_wake(const struct checker *c, uint32_t signal, uint32_t thread)
{
	uint32_t wait = c->waits->waiting[thread];

	return wait != 0 && at(c, wait - 1)->op == OP_WAIT &&
	       at(c, wait - 1)->target == at(c, signal)->target && !c->waits->woken[thread];
}

/*
 * How a stay in a wait ends. Any of the waiters may take a signal. The checker makes a choice
 * that allows the rest of the sequence, and leaves asleep at its end those waiters that the
 * claim may need (prop_stuck compares it with all choices).
 */
enum stay {
	STAY_NEEDS,    /* its wake needs a signal */
	STAY_MAY,      /* a signal makes no difference to it */
	STAY_SPARED,   /* it waits at the end of the sequence unless it is signalled */
	STAY_TIMED_OUT /* a signal would forbid its wake */
};

/* The place in the sequence + 1, or 0. */
static size_t place_of(const struct checker *c, uint32_t e)
{
	if (c->waits->sequence == NULL)
		return e + 1;
	return GPOINTER_TO_UINT(g_hash_table_lookup(c->waits->when, GUINT_TO_POINTER(e + 1)));
}

/* Did the time limit of the wait (+ 1, or 0) end it? Without one, its end was spurious, and the
 * thread would go on in the same way after a signal. */
static bool timed_out(const struct checker *c, uint32_t wake, uint32_t wait)
{
	return at(c, wake)->flags & EVENT_TRY && wait != 0 &&
	       at(c, wait - 1)->flags & EVENT_TRY;
}

static bool by_signal_alone(const struct checker *c, uint32_t e)
{
	return at(c, e)->op == OP_WANT || in_set(c->waits->depends, e);
}

/* The stay that the thread is in since its event `wait`; *until: where its wake comes, or
 * SIZE_MAX. */
static enum stay stay_of(const struct checker *c, uint32_t wait, size_t *until)
{
	uint32_t u = at(c, wait)->thread;

	*until = SIZE_MAX;
	for (uint32_t i = c->f.place[wait] + 1; i < c->f.threads[u].count; i++) {
		uint32_t e = facts_own(c, u)[i];
		size_t place = place_of(c, e);
		bool wants = at(c, e)->op == OP_WANT, ends = wants || at(c, e)->op == OP_WAKE;

		/* the wake may come behind the release of the mutex */
		if (place != 0 && !ends)
			continue;
		if (place == 0 || wants)
			return ends && by_signal_alone(c, e) &&
			                       !(at(c, wait)->flags & EVENT_TRY)
			               ? STAY_SPARED
			               : STAY_MAY;
		*until = place;
		return timed_out(c, e, wait + 1) ? STAY_TIMED_OUT
		       : by_signal_alone(c, e)   ? STAY_NEEDS
		                                 : STAY_MAY;
	}
	return STAY_MAY;
}

/* Are the later signals enough for all waiters that need one, without this one? */
static bool later_suffices(const struct checker *c, uint32_t condition)
{
	const struct waits *w = c->waits;
	g_autofree size_t *until =
	        g_new0(size_t, c->t->threads_count + 1); /* of those that need one, or 0 */
	bool good = true;

	for (uint32_t u = 0; u < c->t->threads_count; u++) {
		if (waits_at(c, u, condition) && !w->woken[u] &&
		    stay_of(c, w->waiting[u] - 1, &until[u]) != STAY_NEEDS)
			until[u] = 0;
	}
	for (size_t i = w->at + 1; i < w->length && good; i++) {
		uint32_t e = w->sequence == NULL ? (uint32_t)i : w->sequence[i];
		const struct event *x = at(c, e);
		uint32_t first = NONE;

		if (x->target != condition || event_inert(x))
			continue;
		if (x->op == OP_WAIT && stay_of(c, e, &until[x->thread]) != STAY_NEEDS)
			until[x->thread] = 0;
		else if (x->op == OP_WAKE)
			good = until[x->thread] == 0;
		else if (x->op == OP_BROADCAST)
			memset(until, 0, sizeof(size_t) * c->t->threads_count);
		for (uint32_t u = 0; x->op == OP_SIGNAL && u < c->t->threads_count; u++) {
			if (until[u] != 0 && (first == NONE || until[u] < until[first]))
				first = u;
		}
		if (first != NONE)
			until[first] = 0;
	}
	return good;
}

static void wake(struct checker *c, uint32_t e)
{
	uint32_t first[STAY_TIMED_OUT + 1]; /* by enum stay: the waiter whose wake comes
	                                     * first */
	size_t places[STAY_TIMED_OUT + 1];

	memset(first, 0xff, sizeof(first));
	for (uint32_t u = 0; u < c->t->threads_count; u++) {
		size_t until;

		if (!may_wake(c, e, u))
			continue;
		if (at(c, e)->op == OP_BROADCAST) {
			c->waits->woken[u] = true;
			continue;
		}
		enum stay stay = stay_of(c, c->waits->waiting[u] - 1, &until);
		if (first[stay] == NONE || until < places[stay]) {
			first[stay] = u;
			places[stay] = until;
		}
	}
	/* the waiter that leaves first, unless the later signals are too few for the others */
	uint32_t best = first[STAY_NEEDS];
	if (first[STAY_MAY] != NONE &&
	    (best == NONE ||
	     (places[STAY_MAY] < places[STAY_NEEDS] && later_suffices(c, at(c, e)->target))))
		best = first[STAY_MAY];
	if (best == NONE)
		best = first[STAY_SPARED] != NONE ? first[STAY_SPARED] : first[STAY_TIMED_OUT];
	if (best != NONE)
		c->waits->woken[best] = true;
}

static bool round_open(const struct checker *c, uint32_t thread, uint32_t barrier)
{
	uint32_t size = size_of(c, barrier), n = c->waits->arrival[thread];

	return c->waits->arrived[barrier] < (n + size - 1) / size * size;
}

/* -- channels -------------------------------------------------------------------------------- */

static struct channel_state *channel_of(const struct checker *c, uint32_t e)
{
	const struct channel_message *m = &c->waits->names.messages[at(c, e)->target];

	return m->what == CHANNEL_NONE ? NULL : &c->waits->channels[m->channel];
}

static bool is_empty(const struct channel_state *k)
{
	return k->first == k->queue->len;
}

static uint64_t bytes_in(const struct checker *c, const struct channel_state *k)
{
	uint64_t bytes = 0;

	for (guint i = k->first; i < k->queue->len; i++) {
		uint32_t m = g_array_index(k->queue, uint32_t, i);

		bytes += c->waits->reads[m] > 0 ? 0 : c->waits->names.messages[m].bytes;
	}
	return bytes;
}

static bool has_room(const struct checker *c, const struct channel_state *k, uint32_t send)
{
	const struct channel_message *m = &c->waits->names.messages[at(c, send)->target];

	return m->what != CHANNEL_DATA || m->room == 0 ||
	       c->waits->written[at(c, send)->target] || bytes_in(c, k) + m->bytes <= m->room;
}

/* A channel is first in, first out; its end is received after all messages. */
static bool is_first(const struct checker *c, const struct channel_state *k, uint32_t receive)
{
	uint32_t m = at(c, receive)->target;

	if (c->waits->names.messages[m].what == CHANNEL_CLOSED)
		return is_empty(k);
	return !is_empty(k) && g_array_index(k->queue, uint32_t, k->first) == m;
}

static bool decide_message(const struct checker *c, uint32_t e, GString *reason)
{
	const struct channel_state *k = channel_of(c, e);

	if (k == NULL || k->lacking)
		return true;
	if (at(c, e)->op == OP_SND && !has_room(c, k, e))
		return check_refuse(c, reason, "rule W2 (channels)", e, "finds no room");
	if (channel_receives(&c->waits->names, at(c, e)) && !is_first(c, k, e))
		return check_refuse(c, reason, "rule W2 (channels)", e,
		                    "is not what is first there");
	return true;
}

static void take_message(struct checker *c, uint32_t e)
{
	struct waits *w = c->waits;
	const struct event *x = at(c, e);
	const struct channel_message *m = &w->names.messages[x->target];
	struct channel_state *k = channel_of(c, e);

	if (k == NULL)
		return;
	k->closed |= x->op == OP_SND && m->what == CHANNEL_CLOSED;
	if (x->op == OP_SND && m->what == CHANNEL_DATA && !w->written[x->target]) {
		w->written[x->target] = true;
		g_array_append_val(k->queue, x->target);
	}
	if (m->what != CHANNEL_DATA || !channel_receives(&w->names, x))
		return;
	w->reads[x->target]++;
	k->first += w->reads[x->target] == m->reads && k->first < k->queue->len;
}

/* Would the operation wait for its channel, for a message or for room? */
static bool waits_for_channel(const struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);
	const struct waits *w = c->waits;
	const struct channel_state *k;

	if (x->op == OP_WANT) {
		uint32_t channel = w->names.of_object[x->target];

		k = channel == NONE ? NULL : &w->channels[channel];
		return k != NULL && !k->lacking && !k->closed &&
		       (k->left > 0 ? bytes_in(c, k) >= k->left : is_empty(k));
	}
	if (event_inert(x) || op_table[x->op].operand != OPERAND_MESSAGE)
		return false;
	k = channel_of(c, e);
	if (k == NULL || k->lacking)
		return false;
	if (x->op == OP_SND)
		return !has_room(c, k, e);
	if (!channel_receives(&w->names, x) || !is_empty(k))
		return false;
	return w->names.messages[x->target].what == CHANNEL_CLOSED ? !rule_must(c, e, NULL)
	                                                           : !k->closed;
}

/* Does the thread wait for another to come to the end of a once-function? */
static bool waits_for_once(const struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);
	uint32_t begins = x->op == OP_RCV && !event_inert(x) ? c->waits->once[x->target] : NONE;

	return begins != NONE && taken(c, begins) && !rule_must(c, e, NULL);
}

/* Is the outcome of the operation, by rule W2, the same as in the trace? */
static bool decide(const struct checker *c, uint32_t e, GString *reason)
{
	const struct event *x = at(c, e);
	const struct waits *w = c->waits;
	uint32_t o = x->target, wait = w->waiting[x->thread];

	if (op_wants(x->op))
		return check_refuse(c, reason, "rule W1 (prefixes)", e,
		                    "is a wait that did not end");
	if (x->op == OP_JOIN && !event_inert(x) && c->t->threads[o].fork != NONE &&
	    !taken(c, c->t->threads[o].fork))
		return check_refuse(c, reason, "rule W2 (joins)", e,
		                    "joins a thread that is not created yet");
	if (!event_inert(x) && op_table[x->op].operand == OPERAND_MESSAGE)
		return decide_message(c, e, reason);
	if (event_inert(x) || op_table[x->op].operand != OPERAND_OBJECT || c->lacking[o])
		return true;
	if (x->op == OP_TAKE && c->count[o] == 0)
		return check_refuse(c, reason, "rule W2 (semaphores)", e, "finds no count");
	if (x->op == OP_WAKE && timed_out(c, e, wait) && w->woken[x->thread])
		return check_refuse(c, reason, "rule W2 (conditions)", e,
		                    "timed out in the trace, and here was signalled");
	if (x->op == OP_WAKE && !(x->flags & EVENT_TRY) && in_set(w->depends, e) && wait != 0 &&
	    !w->woken[x->thread])
		return check_refuse(c, reason, "rule W2 (conditions)", e,
		                    "was signalled in the trace, and here is not");
	if (x->op != OP_DEPART || size_of(c, o) == 0 || wait == 0)
		return true;
	if (round_open(c, x->thread, o))
		return check_refuse(c, reason, "rule W2 (barriers)", e,
		                    "leaves a round that is not complete");
	if ((w->arrival[x->thread] % size_of(c, o) == 0) != in_set(w->serial, wait - 1))
		return check_refuse(
		        c, reason, "rule W2 (barriers)", e,
		        "leaves a round that another thread completed in the trace");
	return true;
}

static void take(struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);
	struct waits *w = c->waits;

	if (x->op == OP_MISUSE)
		w->misused[x->target] = true;
	if (event_inert(x))
		return;
	switch (x->op) {
	case OP_WAIT:
		w->waiting[x->thread] = e + 1;
		break;
	case OP_ARRIVE:
		w->waiting[x->thread] = e + 1;
		w->arrival[x->thread] = ++w->arrived[x->target];
		break;
	case OP_WAKE:
	case OP_DEPART:
		w->waiting[x->thread] = w->arrival[x->thread] = 0;
		w->woken[x->thread] = false;
		break;
	case OP_SIGNAL:
	case OP_BROADCAST:
		wake(c, e);
		break;
	case OP_SND:
	case OP_RCV:
		take_message(c, e);
		break;
	default:
		break;
	}
}

/* -- the trace ------------------------------------------------------------------------------- */

static bool is_recording(const struct trace *t)
{
	return trace_note(t, "recording-command") != NULL;
}

/* Is the thread's last event the return from the function that it began with? */
static bool leaves_first(const struct checker *c, uint32_t u)
{
	uint32_t i = 0, depth = 0, end = c->f.threads[u].count;

	for (; i < end; i++) {
		enum op op = at(c, facts_own(c, u)[i])->op;

		depth += (op == OP_ENTER) - (op == OP_LEAVE);
		if (depth == 0)
			return op == OP_LEAVE && i + 1 == end;
	}
	return false;
}

/* Rule W3. A recording's threads leave all their functions when it ends, so that the last
 * exit is a thread's own end only where other events follow. */
static void find_ends(struct checker *c)
{
	const struct trace *t = c->t;
	struct waits *w = c->waits;
	bool recording = is_recording(t);
	uint32_t last = (uint32_t)t->events_count;

	while (last > 0 &&
	       (t->events[last - 1].op == OP_LEAVE || op_wants(t->events[last - 1].op)))
		last--;
	w->process = NONE;
	for (uint32_t u = 0; u < t->threads_count; u++) {
		uint32_t first = thread_first(c, u), end = thread_last(c, u);

		w->shows_end[u] = (!recording && t->complete) ||
		                  (end != NONE && at(c, end)->op == OP_END) ||
		                  (first != NONE && end < last && leaves_first(c, u));
		if (recording && strcmp(trace_thread_name(t, u), "main") == 0)
			w->process = u;
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (t->events[e].op == OP_JOIN)
			w->shows_end[t->events[e].target] = true;
	}
}

static void find_kinds(struct checker *c)
{
	const struct trace *t = c->t;

	for (uint32_t o = 0; o < t->objects_count; o++)
		c->waits->kind[o] = t->objects[o].count > 0                ? USE_SEMAPHORE
		                    : c->waits->names.of_object[o] != NONE ? USE_NONE
		                                                           : USE_LOCK;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint8_t *kind = &c->waits->kind[x->target];

		if (x->op == OP_WANT && x->aux == 1 && *kind == USE_LOCK)
			*kind = USE_SEMAPHORE;
		if (op_table[x->op].operand == OPERAND_OBJECT && !event_inert(x) &&
		    op_table[x->op].use != USE_NONE)
			*kind = op_table[x->op].use;
	}
}

static void state_begin(struct checker *c)
{
	const struct trace *t = c->t;
	struct waits *w = c->waits;

	memset(w->waiting, 0, sizeof(uint32_t) * (t->threads_count + 1));
	memset(w->arrival, 0, sizeof(uint32_t) * (t->threads_count + 1));
	memset(w->woken, 0, sizeof(bool) * (t->threads_count + 1));
	memset(w->arrived, 0, sizeof(uint32_t) * (t->objects_count + 1));
	memset(w->misused, 0, sizeof(bool) * (t->objects_count + 1));
	memset(w->written, 0, sizeof(bool) * (t->messages_count + 1));
	memset(w->reads, 0, sizeof(uint32_t) * (t->messages_count + 1));
	for (uint32_t i = 0; i < w->names.count; i++) {
		g_array_set_size(w->channels[i].queue, 0);
		w->channels[i].first = 0;
		w->channels[i].closed = false;
	}
	g_hash_table_remove_all(w->when);
}

/* Applies the same rules to the trace itself: objects whose rules it breaks lack operations. */
static void find_lacking(struct checker *c)
{
	const struct trace *t = c->t;
	struct waits *w = c->waits;
	g_autofree uint32_t *taken_before =
	        g_memdup2(c->taken, sizeof(uint32_t) * (t->threads_count + 1));
	g_autofree int64_t *left = g_new(int64_t, t->objects_count + 1);

	memset(c->taken, 0, sizeof(uint32_t) * (t->threads_count + 1));
	for (uint32_t o = 0; o < t->objects_count; o++)
		left[o] = t->objects[o].count;
	w->sequence = NULL;
	w->length = t->events_count;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = at(c, e);

		w->at = e;
		if (!event_inert(x) && op_table[x->op].operand == OPERAND_OBJECT) {
			uint32_t o = x->target;

			if (x->op == OP_TAKE && left[o] <= 0)
				c->lacking[o] = true;
			left[o] += (x->op == OP_POST) - (x->op == OP_TAKE);
			if (x->op == OP_ARRIVE && size_of(c, o) > 0 &&
			    (w->arrived[o] + 1) % size_of(c, o) == 0)
				add_to(w->serial, e);
			if (x->op == OP_BROADCAST || x->op == OP_SIGNAL || x->op == OP_WAIT ||
			    x->op == OP_WAKE || x->op == OP_ARRIVE || x->op == OP_DEPART) {
				if (x->op != OP_ARRIVE && !decide(c, e, NULL))
					c->lacking[o] = true;
				take(c, e);
			}
		}
		if (!event_inert(x) && op_table[x->op].operand == OPERAND_MESSAGE) {
			struct channel_state *k = channel_of(c, e);

			if (k != NULL && (!decide_message(c, e, NULL) ||
			                  w->names.messages[x->target].what == CHANNEL_SHARED))
				k->lacking = true;
			take(c, e);
		}
		c->taken[x->thread]++;
	}
	for (uint32_t i = 0; i < w->names.count; i++)
		w->channels[i].left = (uint32_t)bytes_in(c, &w->channels[i]);
	memcpy(c->taken, taken_before, sizeof(uint32_t) * (t->threads_count + 1));
}

static void find_channels(struct checker *c)
{
	const struct trace *t = c->t;
	struct waits *w = c->waits;
	g_autoptr(GHashTable) begins =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	channels_init(&w->names, t);
	w->channels = g_new0(struct channel_state, w->names.count + 1);
	for (uint32_t i = 0; i < w->names.count; i++)
		w->channels[i].queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	w->written = g_new0(bool, t->messages_count + 1);
	w->reads = g_new0(uint32_t, t->messages_count + 1);
	w->once = g_new(uint32_t, t->messages_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const char *name = at(c, e)->op == OP_SND
		                           ? trace_string(t, t->messages[at(c, e)->target])
		                           : "";

		if (g_str_has_suffix(name, MESSAGE_BEGINS))
			g_hash_table_insert(
			        begins, g_strndup(name, strlen(name) - strlen(MESSAGE_BEGINS)),
			        GUINT_TO_POINTER(e + 1));
	}
	for (uint32_t m = 0; m < t->messages_count; m++)
		w->once[m] = GPOINTER_TO_UINT(g_hash_table_lookup(
		                     begins, trace_string(t, t->messages[m]))) -
		             1;
}

static void waits_make(struct checker *c)
{
	const struct trace *t = c->t;
	struct waits *w = c->waits = g_new0(struct waits, 1);

	c->lacking = g_new0(bool, t->objects_count + 1);
	w->shows_end = g_new0(bool, t->threads_count + 1);
	w->kind = g_new0(uint8_t, t->objects_count + 1);
	w->serial = g_new0(uint64_t, t->events_count / 64 + 1);
	w->depends = g_new0(uint64_t, t->events_count / 64 + 1);
	w->waiting = g_new(uint32_t, t->threads_count + 1);
	w->arrival = g_new(uint32_t, t->threads_count + 1);
	w->woken = g_new(bool, t->threads_count + 1);
	w->arrived = g_new(uint32_t, t->objects_count + 1);
	w->misused = g_new(bool, t->objects_count + 1);
	w->when = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < c->f.wakes->len; i++)
		add_to(w->depends, g_array_index(c->f.wakes, struct condition_wake, i).wake);
	find_channels(c);
	find_ends(c);
	find_kinds(c);
	state_begin(c);
	find_lacking(c);
	/* without its size a barrier's rounds are those of the trace */
	for (uint32_t o = 0; o < t->objects_count; o++)
		c->lacking[o] |= w->kind[o] == USE_BARRIER && t->objects[o].count <= 0;
}

/* -- rules W3 and W4: threads that wait for ever ------------------------------------------------------ */

enum stand { STANDS_ENDED, STANDS_ABSENT, STANDS_WAITING, STANDS_OTHERWISE };

static uint32_t next_of(const struct checker *c, uint32_t u)
{
	uint32_t i = c->taken[u];

	return i < c->f.threads[u].count ? facts_own(c, u)[i] : NONE;
}

static bool is_blocked(const struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);
	const struct waits *w = c->waits;
	uint32_t o = x->target;
	enum op_use use = x->op == OP_WANT ? (enum op_use)w->kind[o] : op_table[x->op].use;

	switch (use) {
	case USE_LOCK:
		return !w->misused[o] &&
		       (c->owner[o] != NONE || (asks_exclusive(c, e) && c->readers[o] > 0));
	case USE_SEMAPHORE:
		return c->count[o] == 0 && !c->lacking[o];
	case USE_CONDITION:
		return waits_at(c, x->thread, o) && !w->woken[x->thread] && !c->lacking[o] &&
		       !(at(c, w->waiting[x->thread] - 1)->flags & EVENT_TRY) &&
		       (x->op == OP_WANT || in_set(w->depends, e));
	case USE_BARRIER:
		return waits_at(c, x->thread, o) && !c->lacking[o] &&
		       round_open(c, x->thread, o);
	default:
		return false;
	}
}

static enum stand stand_of(const struct checker *c, uint32_t u)
{
	uint32_t e = next_of(c, u), fork = c->t->threads[u].fork;

	if (c->taken[u] == 0 && fork != NONE && !taken(c, fork))
		return STANDS_ABSENT;
	if (e == NONE)
		return c->waits->shows_end[u] ? STANDS_ENDED : STANDS_OTHERWISE;
	const struct event *x = at(c, e);
	if (x->op == OP_JOIN || x->op == OP_WANTJOIN) {
		bool ended = x->target != u && next_of(c, x->target) == NONE &&
		             stand_of(c, x->target) == STANDS_ENDED;

		return ended ? STANDS_OTHERWISE : STANDS_WAITING;
	}
	if (waits_for_channel(c, e) || waits_for_once(c, e))
		return STANDS_WAITING;
	bool waiting = x->op == OP_ACQ || x->op == OP_RACQ || x->op == OP_TAKE ||
	               x->op == OP_WAKE || x->op == OP_DEPART;
	if (x->op != OP_WANT && (!waiting || event_inert(x) || x->flags & EVENT_TRY))
		return STANDS_OTHERWISE;
	if (!rule_must(c, e, NULL) || (x->op != OP_WANT && !rule_alive(c, e)))
		return STANDS_OTHERWISE;
	return is_blocked(c, e) ? STANDS_WAITING : STANDS_OTHERWISE;
}

/* Is the lock that `e` asks for held by another thread that is stuck or has ended? */
static bool is_kept(const struct checker *c, uint32_t e, const bool *stuck,
                    const enum stand *stands, bool over)
{
	bool exclusive = asks_exclusive(c, e);

	for (uint32_t u = 0; u < c->t->threads_count; u++) {
		bool holds = c->owner[at(c, e)->target] == u ||
		             (exclusive && holds_shared(c, u, at(c, e)->target));

		if (holds && (stuck[u] || (stands[u] == STANDS_ENDED && !over)))
			return true;
	}
	return false;
}

static bool remains(const struct checker *c, uint32_t thread, const bool *stuck,
                    const enum stand *stands, bool over)
{
	uint32_t e = next_of(c, thread);
	const struct event *x = at(c, e);
	enum op_use use =
	        x->op == OP_WANT ? (enum op_use)c->waits->kind[x->target] : op_table[x->op].use;

	if (x->op == OP_JOIN || x->op == OP_WANTJOIN)
		return stuck[x->target];
	if (x->op == OP_RCV && c->waits->once[x->target] != NONE)
		return stuck[at(c, c->waits->once[x->target])->thread];
	if (use == USE_LOCK)
		return is_kept(c, e, stuck, stands, over);
	for (uint32_t u = 0; u < c->t->threads_count; u++) {
		if (!stuck[u] && stands[u] != STANDS_ENDED && stands[u] != STANDS_ABSENT)
			return false;
	}
	return !over;
}

static void find_stuck(const struct checker *c, bool *stuck)
{
	g_autofree enum stand *stands = g_new(enum stand, c->t->threads_count + 1);
	bool changed = true;
	bool over = c->waits->process != NONE && next_of(c, c->waits->process) == NONE;

	for (uint32_t u = 0; u < c->t->threads_count; u++) {
		stands[u] = stand_of(c, u);
		stuck[u] = stands[u] == STANDS_WAITING;
	}
	while (changed) {
		changed = false;
		for (uint32_t u = 0; u < c->t->threads_count; u++) {
			if (!stuck[u] || remains(c, u, stuck, stands, over))
				continue;
			stuck[u] = false;
			changed = true;
		}
	}
}

/* -- the claim ------------------------------------------------------------------------------- */

bool claim_stuck(struct checker *c, const uint32_t *sequence, size_t length,
                 const uint32_t *requests, size_t count, GString *reason)
{
	bool *stuck, good = true;

	if (c->waits == NULL)
		waits_make(c);
	state_begin(c);
	c->decides = true;
	c->waits->sequence = sequence;
	c->waits->length = 0;
	for (size_t i = 0; i < length && sequence[i] < c->t->events_count; i++) {
		g_hash_table_insert(c->waits->when, GUINT_TO_POINTER(sequence[i] + 1),
		                    GUINT_TO_POINTER(i + 1));
		c->waits->length = i + 1;
	}
	for (size_t i = 0; i < length && good; i++) {
		uint32_t e = sequence[i];

		c->waits->at = i;
		good = (e >= c->t->events_count || decide(c, e, reason)) &&
		       checker_step_asked(c, e, ALL_REQUIREMENTS, reason);
		if (good)
			take(c, e);
	}
	good = good && invocations_closed(c, NONE, reason);
	if (!good)
		return false;
	stuck = g_new0(bool, c->t->threads_count + 1);
	find_stuck(c, stuck);
	for (size_t i = 0; i < count && good; i++) {
		uint32_t u = at(c, requests[i])->thread;

		if (next_of(c, u) != requests[i])
			good = check_refuse(c, reason, "the wait", requests[i],
			                    "is not next in its thread");
		else if (!stuck[u])
			good = check_refuse(c, reason, "the wait", requests[i],
			                    "may end: a thread that can go on, or whose "
			                    "continuation is not recorded, may end it");
	}
	g_free(stuck);
	return good;
}
