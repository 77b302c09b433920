/*
 * oracle_stuck.c - the truth about waits that never end in small traces: every state of every
 * schedule, without reduction, and in each the threads that wait for ever.
 *
 * Written from semantics.md, "Waits that never end", rules W1 to W5.  Which waiter a signal
 * wakes is tried in all ways.
 */
#include "tests/property/oracle_private.h"

#include <string.h>

#include "engine/trace/channel.h"

enum { MAX_OBJECTS = 12, MAX_MESSAGES = 16, MAX_CHANNELS = 2 };

struct world {
	struct rules *r;
	bool lacking[MAX_OBJECTS]; /* W2: the trace breaks it */
	bool serial[MAX_EVENTS];   /* arrivals that completed their round */
	struct channels channels;
	bool foreign[MAX_CHANNELS];    /* W2: the trace breaks it, or others write to it */
	int left[MAX_CHANNELS];        /* bytes in it after the trace */
	uint32_t begins[MAX_MESSAGES]; /* of the once-function that the message ends; or NONE */
};

struct wait_state {
	struct state s;
	uint8_t woken[MAX_THREADS], nth[MAX_THREADS]; /* arrival, counted at its barrier */
	uint8_t arrived[MAX_OBJECTS];
	uint8_t place[MAX_MESSAGES]; /* in its channel, from 1 on; 0: not sent */
};

static int size_of(const struct world *w, uint32_t object)
{
	return w->r->t->objects[object].count;
}

/* The thread's wait, or arrival, that it is in. */
static uint32_t in_wait(const struct world *w, const struct wait_state *s, uint32_t u)
{
	for (uint32_t i = w->r->length[u]; i-- > 0;) {
		uint32_t e = w->r->order[u][i];

		if ((s->s.done & bit(e)) == 0)
			continue;
		if (is(w->r, e, OP_WAKE) || is(w->r, e, OP_DEPART))
			return NONE;
		if (is(w->r, e, OP_WAIT) || is(w->r, e, OP_ARRIVE))
			return e;
	}
	return NONE;
}

static bool wakes(const struct world *w, const struct wait_state *s, uint32_t signal,
                  uint32_t u)
{
	uint32_t wait = in_wait(w, s, u);

	return wait != NONE && is(w->r, wait, OP_WAIT) && same_target(w->r, wait, signal) &&
	       !s->woken[u];
}

static int count_of(const struct world *w, const struct wait_state *s, uint32_t object)
{
	int count = size_of(w, object);

	for (uint32_t e = 0; e < w->r->n; e++) {
		if (event(w->r, e)->target == object && (s->s.done & bit(e)) != 0)
			count += is(w->r, e, OP_POST) - is(w->r, e, OP_TAKE);
	}
	return count;
}

static bool round_full(const struct world *w, const struct wait_state *s, uint32_t u,
                       uint32_t object)
{
	int size = size_of(w, object);

	return s->arrived[object] >= (s->nth[u] + size - 1) / size * size;
}

/* -- channels and once-functions -- */

static const struct channel_message *message_of(const struct world *w, uint32_t e)
{
	static const struct channel_message none = { .what = CHANNEL_NONE };
	bool message = op_table[event(w->r, e)->op].operand == OPERAND_MESSAGE;

	return message ? &w->channels.messages[event(w->r, e)->target] : &none;
}

static bool reads_channel(const struct world *w, uint32_t e)
{
	return channel_receives(&w->channels, event(w->r, e));
}

/* Was all of the message read, or (touched) any of it? */
static bool was_read(const struct world *w, const struct wait_state *s, uint32_t message,
                     bool whole)
{
	bool all = true, any = false;

	for (uint32_t e = 0; e < w->r->n; e++) {
		if (!is(w->r, e, OP_RCV) || event(w->r, e)->target != message ||
		    !reads_channel(w, e))
			continue;
		all &= (s->s.done & bit(e)) != 0;
		any |= (s->s.done & bit(e)) != 0;
	}
	return whole ? all && any : any;
}

static int bytes_in(const struct world *w, const struct wait_state *s, uint32_t channel)
{
	int bytes = 0;

	for (uint32_t m = 0; m < w->r->t->messages_count; m++) {
		if (w->channels.messages[m].what == CHANNEL_DATA &&
		    w->channels.messages[m].channel == channel && s->place[m] > 0 &&
		    !was_read(w, s, m, false))
			bytes += (int)w->channels.messages[m].bytes;
	}
	return bytes;
}

/* Are all messages of the channel that were sent before `place` read whole? */
static bool read_before(const struct world *w, const struct wait_state *s, uint32_t channel,
                        int place)
{
	for (uint32_t m = 0; m < w->r->t->messages_count; m++) {
		if (w->channels.messages[m].what == CHANNEL_DATA &&
		    w->channels.messages[m].channel == channel && s->place[m] > 0 &&
		    s->place[m] < place && !was_read(w, s, m, true))
			return false;
	}
	return true;
}

static bool is_closed(const struct world *w, const struct wait_state *s, uint32_t channel)
{
	for (uint32_t e = 0; e < w->r->n; e++) {
		if (is(w->r, e, OP_SND) && message_of(w, e)->what == CHANNEL_CLOSED &&
		    message_of(w, e)->channel == channel && (s->s.done & bit(e)) != 0)
			return true;
	}
	return false;
}

static bool has_room(const struct world *w, const struct wait_state *s, uint32_t e)
{
	const struct channel_message *m = message_of(w, e);

	return m->what != CHANNEL_DATA || w->foreign[m->channel] || m->room == 0 ||
	       s->place[event(w->r, e)->target] > 0 ||
	       bytes_in(w, s, m->channel) + (int)m->bytes <= (int)m->room;
}

static bool message_is_same(const struct world *w, const struct wait_state *s, uint32_t e)
{
	const struct channel_message *m = message_of(w, e);
	int place = s->place[event(w->r, e)->target];

	if (is(w->r, e, OP_SND))
		return has_room(w, s, e);
	if (!reads_channel(w, e) || w->foreign[m->channel])
		return true;
	if (m->what == CHANNEL_CLOSED)
		return read_before(w, s, m->channel, 255);
	return place > 0 && read_before(w, s, m->channel, place);
}

static bool waits_for_message(const struct world *w, const struct wait_state *s, uint32_t e)
{
	const struct channel_message *m = message_of(w, e);
	bool must = (w->r->must[e] & s->s.done) == w->r->must[e];

	if (is(w->r, e, OP_SND))
		return !has_room(w, s, e);
	if (!is(w->r, e, OP_RCV))
		return false;
	uint32_t begins = w->begins[event(w->r, e)->target];
	if (begins != NONE)
		return (s->s.done & bit(begins)) != 0 && !must;
	if (!reads_channel(w, e) || w->foreign[m->channel] ||
	    !read_before(w, s, m->channel, 255))
		return false;
	return m->what == CHANNEL_CLOSED
	               ? !must
	               : s->place[event(w->r, e)->target] == 0 && !is_closed(w, s, m->channel);
}

static bool wants_message(const struct world *w, const struct wait_state *s, uint32_t channel)
{
	if (w->foreign[channel] || is_closed(w, s, channel))
		return false;
	return w->left[channel] > 0 ? bytes_in(w, s, channel) >= w->left[channel]
	                            : read_before(w, s, channel, 255);
}

static void send_message(const struct world *w, struct wait_state *s, uint32_t e)
{
	const struct channel_message *m = message_of(w, e);
	uint8_t *place = &s->place[event(w->r, e)->target], last = 0;

	if (!is(w->r, e, OP_SND) || m->what != CHANNEL_DATA || *place > 0)
		return;
	for (uint32_t k = 0; k < w->r->t->messages_count; k++) {
		if (w->channels.messages[k].what == CHANNEL_DATA &&
		    w->channels.messages[k].channel == m->channel)
			last = MAX(last, s->place[k]);
	}
	*place = last + 1;
}

/* W2: is the operation's outcome here the one in the trace? */
static bool does_the_same(const struct world *w, const struct wait_state *s, uint32_t e)
{
	const struct rules *r = w->r;
	uint32_t o = event(r, e)->target, u = event(r, e)->thread, wait = in_wait(w, s, u);

	if (is(r, e, OP_SND) || is(r, e, OP_RCV))
		return message_is_same(w, s, e);
	if (is(r, e, OP_TAKE))
		return w->lacking[o] || count_of(w, s, o) > 0;
	if (is(r, e, OP_WAKE))
		return w->lacking[o] ||
		       (event(r, e)->flags & EVENT_TRY && wait != NONE &&
		                        event(r, wait)->flags & EVENT_TRY
		                ? !s->woken[u] /* its time was up */
		                : r->waker[e] == NONE || wait == NONE || s->woken[u]);
	if (is(r, e, OP_DEPART) && size_of(w, o) > 0 && !w->lacking[o] && wait != NONE)
		return round_full(w, s, u, o) &&
		       (s->nth[u] % size_of(w, o) == 0) == w->serial[wait];
	return true;
}

static void take(const struct world *w, struct wait_state *s, uint32_t e, uint32_t woken)
{
	uint32_t u = event(w->r, e)->thread, o = event(w->r, e)->target;

	if (is(w->r, e, OP_BROADCAST)) {
		for (uint32_t v = 0; v < w->r->threads; v++)
			s->woken[v] |= wakes(w, s, e, v);
	}
	if (is(w->r, e, OP_SIGNAL) && woken != NONE)
		s->woken[woken] = true;
	if (is(w->r, e, OP_WAKE) || is(w->r, e, OP_DEPART))
		s->woken[u] = s->nth[u] = 0;
	if (is(w->r, e, OP_ARRIVE))
		s->nth[u] = ++s->arrived[o];
	send_message(w, s, e);
	rules_take_next(w->r, &s->s, e);
	s->s.spoiled = 0;
	for (uint32_t f = 0; f < w->r->n; f++) {
		/* where the recorded pairing counts, a waker before its wait wakes no thread */
		if (is(w->r, f, OP_WAKE) && w->lacking[event(w->r, f)->target] &&
		    w->r->waker[f] != NONE && (s->s.done & bit(w->r->waker[f])) != 0 &&
		    (s->s.done & bit(w->r->wait[f])) == 0)
			s->s.spoiled |= bit(f);
	}
}

/* Can the condition's events of the trace, from `e` on, be as recorded?  Tries all waiters. */
static bool holds_from(const struct world *w, const struct wait_state *s, uint32_t e,
                       uint32_t object)
{
	if (e == w->r->n)
		return true;
	bool mine = op_table[event(w->r, e)->op].use == USE_CONDITION &&
	            event(w->r, e)->target == object,
	     any = false;
	if (mine && is(w->r, e, OP_WAKE) && !does_the_same(w, s, e))
		return false;
	for (uint32_t v = 0; mine && is(w->r, e, OP_SIGNAL) && v < w->r->threads; v++) {
		struct wait_state next = *s;

		if (!wakes(w, s, e, v))
			continue;
		any = true;
		take(w, &next, e, v);
		if (holds_from(w, &next, e + 1, object))
			return true;
	}
	struct wait_state next = *s;
	take(w, &next, e, NONE);
	return !any && holds_from(w, &next, e + 1, object);
}

static void find_lacking(struct world *w)
{
	const struct rules *r = w->r;

	for (uint32_t o = 0; o < r->t->objects_count; o++) {
		struct wait_state s = { 0 };
		bool lacking = false;

		for (uint32_t e = 0; e < r->n; e++) {
			bool mine = event(r, e)->target == o;

			if (mine && is(r, e, OP_TAKE))
				lacking |= count_of(w, &s, o) <= 0;
			if (mine && is(r, e, OP_ARRIVE) && size_of(w, o) > 0)
				w->serial[e] = (s.arrived[o] + 1) % size_of(w, o) == 0;
			if (mine && is(r, e, OP_DEPART))
				lacking |= !does_the_same(w, &s, e);
			take(w, &s, e, NONE);
		}
		s = (struct wait_state){ 0 };
		w->lacking[o] = lacking || !holds_from(w, &s, 0, o);
	}
}

/* Which channels keep to W2 in the trace, and where once-functions begin. */
static void find_messages(struct world *w)
{
	const struct rules *r = w->r;
	struct wait_state s = { 0 };

	for (uint32_t m = 0; m < r->t->messages_count; m++) {
		char *begins = g_strconcat(trace_string(r->t, r->t->messages[m]),
		                           MESSAGE_BEGINS, NULL);

		w->begins[m] = NONE;
		for (uint32_t e = 0; e < r->n; e++) {
			if (is(r, e, OP_SND) &&
			    strcmp(trace_string(r->t, r->t->messages[event(r, e)->target]),
			           begins) == 0)
				w->begins[m] = e;
		}
		g_free(begins);
	}
	for (uint32_t e = 0; e < r->n; e++) {
		const struct channel_message *m = message_of(w, e);

		if (m->what == CHANNEL_SHARED ||
		    (m->what != CHANNEL_NONE && !message_is_same(w, &s, e)))
			w->foreign[m->channel] = true;
		take(w, &s, e, NONE);
	}
	for (uint32_t c = 0; c < w->channels.count; c++)
		w->left[c] = bytes_in(w, &s, c);
}

static struct world *world_new(const struct trace *t, bool use_values)
{
	struct world *w = g_new0(struct world, 1);

	w->r = rules_new(t, use_values, false);
	BUG_ON(t->objects_count > MAX_OBJECTS || t->messages_count > MAX_MESSAGES);
	channels_init(&w->channels, t);
	BUG_ON(w->channels.count > MAX_CHANNELS);
	find_messages(w);
	find_lacking(w);
	for (uint32_t e = 0; e < w->r->n; e++) {
		uint32_t o = event(w->r, e)->target;
		bool sized = !is(w->r, e, OP_DEPART) || size_of(w, o) > 0;

		if (w->r->paired[e] != 0 && !w->lacking[o] && sized)
			w->r->must[e] &= ~w->r->paired[e];
	}
	return w;
}

static void world_free(struct world *w)
{
	channels_release(&w->channels);
	g_free(w->r);
	g_free(w);
}

/* -- who waits for ever ---------------------------------------------------------------------- */

enum stand { ENDED, ABSENT, WAITING, OTHER };
enum reason {
	FOR_LOCK,
	FOR_CONDITION,
	FOR_SEMAPHORE,
	FOR_JOIN,
	FOR_BARRIER,
	FOR_CHANNEL,
	FOR_ONCE
};

struct view {
	const struct world *w;
	const struct wait_state *s;
	uint32_t next[MAX_THREADS];
	enum stand stand[MAX_THREADS];
	enum reason what[MAX_THREADS];
	bool in[MAX_THREADS];
};

static enum reason use_of(const struct world *w, uint32_t object)
{
	enum reason use = size_of(w, object) > 0                  ? FOR_SEMAPHORE
	                  : w->channels.of_object[object] != NONE ? FOR_CHANNEL
	                                                          : FOR_LOCK;

	for (uint32_t e = 0; e < w->r->n; e++) {
		const struct event *x = event(w->r, e);

		if (op_table[x->op].operand != OPERAND_OBJECT || x->target != object)
			continue;
		if (x->op == OP_WANT && x->aux == 1 && use == FOR_LOCK)
			use = FOR_SEMAPHORE; /* it may have no other event */
		switch (op_table[x->op].use) {
		case USE_CONDITION:
			use = FOR_CONDITION;
			break;
		case USE_BARRIER:
			use = FOR_BARRIER;
			break;
		case USE_SEMAPHORE:
			use = FOR_SEMAPHORE;
			break;
		case USE_LOCK:
			use = event_inert(x) ? use : FOR_LOCK;
			break;
		default:
			break;
		}
	}
	return use;
}

/* Shared or exclusive holder of a lock: 's', 'x' or 0. */
static char holds(const struct world *w, set done, uint32_t u, uint32_t lock)
{
	char mode = 0;

	for (uint32_t i = 0; i < w->r->length[u]; i++) {
		uint32_t e = w->r->order[u][i];

		if ((done & bit(e)) == 0 || event(w->r, e)->target != lock ||
		    event_inert(event(w->r, e)))
			continue;
		mode = op_releases(event(w->r, e)->op) ? 0
		       : is(w->r, e, OP_ACQ)           ? 'x'
		       : is(w->r, e, OP_RACQ)          ? 's'
		                                       : mode;
	}
	return mode;
}

/* A want asks for the lock in exclusive mode when readers alone hold it at the end. */
static bool asks_alone(const struct world *w, uint32_t e)
{
	bool shared = false;

	if (event(w->r, e)->op != OP_WANT)
		return event(w->r, e)->op == OP_ACQ;
	for (uint32_t u = 0; u < w->r->threads; u++) {
		char mode = holds(w, ~(set)0, u, event(w->r, e)->target);

		if (mode == 'x')
			return false;
		shared |= mode == 's';
	}
	return shared;
}

static bool keeps_out(const struct view *v, uint32_t u, uint32_t e)
{
	char mode = holds(v->w, v->s->s.done, u, event(v->w->r, e)->target);

	return mode == 'x' || (mode == 's' && asks_alone(v->w, e));
}

/* W3: in a trace that was cut off the last event of a thread is its end only where the trace
 * says so. */
static bool shows_end(const struct rules *r, uint32_t u)
{
	bool shows = r->t->complete;

	for (uint32_t e = 0; e < r->n; e++) {
		shows |= event(r, e)->op == OP_JOIN && event(r, e)->target == u;
		shows |= event(r, e)->op == OP_END && event(r, e)->thread == u;
	}
	return shows;
}

static bool has_ended(const struct view *v, uint32_t u)
{
	return v->next[u] == NONE && shows_end(v->w->r, u);
}

static bool was_misused(const struct view *v, uint32_t lock)
{
	for (uint32_t e = 0; e < v->w->r->n; e++) {
		if (event(v->w->r, e)->op == OP_MISUSE && event(v->w->r, e)->target == lock &&
		    (v->s->s.done & bit(e)) != 0)
			return true;
	}
	return false;
}

static bool waits_here(const struct view *v, uint32_t u)
{
	const struct rules *r = v->w->r;
	uint32_t e = v->next[u], o = event(r, e)->target, wait = in_wait(v->w, v->s, u);
	bool at = wait != NONE && event(r, wait)->target == o;
	bool blocked = false;

	if (v->what[u] == FOR_CHANNEL && event(r, e)->op == OP_WANT)
		return wants_message(v->w, v->s, v->w->channels.of_object[o]);
	if (v->what[u] == FOR_CHANNEL || v->what[u] == FOR_ONCE)
		return waits_for_message(v->w, v->s, e);
	if (v->what[u] == FOR_JOIN)
		return !has_ended(v, o) || o == u ||
		       (r->t->threads[o].fork != NONE && r->length[o] == 0 &&
		        (v->s->s.done & bit(r->t->threads[o].fork)) == 0);
	if (v->what[u] == FOR_LOCK && was_misused(v, o))
		return false;
	if (v->w->lacking[o])
		return v->what[u] == FOR_LOCK;
	for (uint32_t h = 0; h < r->threads; h++)
		blocked |= keeps_out(v, h, e);
	switch (v->what[u]) {
	case FOR_LOCK:
		return blocked;
	case FOR_SEMAPHORE:
		return count_of(v->w, v->s, o) == 0;
	case FOR_CONDITION:
		return at && !v->s->woken[u] && !(event(r, wait)->flags & EVENT_TRY) &&
		       (event(r, e)->op == OP_WANT || r->waker[e] != NONE);
	case FOR_BARRIER:
		return at && size_of(v->w, o) > 0 && !round_full(v->w, v->s, u, o);
	default:
		return false;
	}
}

static bool can_wait(const struct view *v, uint32_t u)
{
	const struct rules *r = v->w->r;
	uint32_t e = v->next[u];
	const struct event *x = event(r, e);

	if (x->op == OP_JOIN || x->op == OP_WANTJOIN || x->op == OP_WANT)
		return true;
	if (event_inert(x) || x->flags & EVENT_TRY)
		return false;
	if (x->op == OP_SND || x->op == OP_RCV)
		return true;
	return (x->op == OP_ACQ || x->op == OP_RACQ || x->op == OP_TAKE || x->op == OP_WAKE ||
	        x->op == OP_DEPART) &&
	       (r->must[e] & v->s->s.done) == r->must[e] && (r->freed[e] & v->s->s.done) == 0;
}

static void look_at(struct view *v, uint32_t u)
{
	static const enum reason kinds[OP_COUNT] = {
		[OP_JOIN] = FOR_JOIN,      [OP_WANTJOIN] = FOR_JOIN,  [OP_TAKE] = FOR_SEMAPHORE,
		[OP_WAKE] = FOR_CONDITION, [OP_DEPART] = FOR_BARRIER, [OP_SND] = FOR_CHANNEL,
		[OP_RCV] = FOR_CHANNEL,
	};
	const struct rules *r = v->w->r;
	uint32_t e = v->next[u], fork = r->t->threads[u].fork;

	if (fork != NONE && (v->s->s.done & bit(fork)) == 0) {
		v->stand[u] = ABSENT;
	} else if (e == NONE) {
		v->stand[u] = shows_end(r, u) ? ENDED : OTHER;
	} else {
		v->what[u] = event(r, e)->op == OP_WANT    ? use_of(v->w, event(r, e)->target)
		             : kinds[event(r, e)->op] != 0 ? kinds[event(r, e)->op]
		                                           : FOR_LOCK;
		if (is(r, e, OP_RCV) && v->w->begins[event(r, e)->target] != NONE)
			v->what[u] = FOR_ONCE;
		v->stand[u] = can_wait(v, u) && waits_here(v, u) ? WAITING : OTHER;
	}
}

static uint32_t runs_once(const struct world *w, uint32_t receive)
{
	return event(w->r, w->begins[event(w->r, receive)->target])->thread;
}

/* W4, for a thread in the set. */
static bool stays(const struct view *v, uint32_t u)
{
	const struct rules *r = v->w->r;

	if (v->what[u] == FOR_JOIN)
		return v->in[event(r, v->next[u])->target];
	if (v->what[u] == FOR_ONCE)
		return v->in[runs_once(v->w, v->next[u])];
	for (uint32_t h = 0; v->what[u] == FOR_LOCK && h < r->threads; h++) {
		if (keeps_out(v, h, v->next[u]) && (v->in[h] || v->stand[h] == ENDED))
			return true;
	}
	for (uint32_t h = 0; h < r->threads; h++) {
		if (!v->in[h] && v->stand[h] != ENDED && v->stand[h] != ABSENT)
			return false;
	}
	return v->what[u] != FOR_LOCK;
}

static void find_set(struct view *v)
{
	const struct rules *r = v->w->r;

	for (uint32_t u = 0; u < r->threads; u++)
		v->next[u] = rules_next(r, v->s->s.done, u);
	for (uint32_t u = 0; u < r->threads; u++)
		look_at(v, u);
	for (uint32_t u = 0; u < r->threads; u++)
		v->in[u] = v->stand[u] == WAITING;
	for (uint32_t round = 0; round <= r->threads; round++) {
		for (uint32_t u = 0; u < r->threads; u++)
			v->in[u] = v->in[u] && stays(v, u);
	}
}

/* W5: circles from `path` on, as sets of events. */
static void circles(const struct view *v, const uint32_t *path, uint32_t length, set events,
                    GHashTable *causes)
{
	uint32_t last = path[length - 1], longer[MAX_THREADS];

	for (uint32_t u = 0; u < v->w->r->threads; u++) {
		bool next = v->what[last] == FOR_JOIN
		                    ? event(v->w->r, v->next[last])->target == u
		            : v->what[last] == FOR_ONCE ? runs_once(v->w, v->next[last]) == u
		            : v->what[last] == FOR_LOCK ? keeps_out(v, u, v->next[last])
		                                        : false;

		if (!next || !v->in[u])
			continue;
		if (u == path[0])
			g_hash_table_add(causes, GUINT_TO_POINTER(events));
		if (events & bit(v->next[u]))
			continue;
		memcpy(longer, path, length * sizeof(uint32_t));
		longer[length] = u;
		circles(v, longer, length + 1, events | bit(v->next[u]), causes);
	}
}

static void add_causes(const struct view *v, GHashTable *causes)
{
	for (uint32_t u = 0; u < v->w->r->threads; u++) {
		bool alone = v->what[u] != FOR_LOCK && v->what[u] != FOR_JOIN &&
		             v->what[u] != FOR_ONCE;

		if (!v->in[u])
			continue;
		for (uint32_t h = 0; v->what[u] == FOR_LOCK && h < v->w->r->threads; h++)
			alone |= keeps_out(v, h, v->next[u]) && v->stand[h] == ENDED;
		if (alone)
			g_hash_table_add(causes, GUINT_TO_POINTER(bit(v->next[u])));
		circles(v, &u, 1, bit(v->next[u]), causes);
	}
}

/* -- all states ------------------------------------------------------------------------------ */

static guint hash(gconstpointer p)
{
	const unsigned char *bytes = p;
	guint h = 2166136261u;

	for (size_t i = 0; i < sizeof(struct wait_state); i++)
		h = (h ^ bytes[i]) * 16777619u;
	return h;
}

static gboolean equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct wait_state)) == 0;
}

static void push(const struct world *w, const struct wait_state *s, uint32_t e, uint32_t woken,
                 GHashTable *seen, GPtrArray *stack)
{
	struct wait_state *after = g_memdup2(s, sizeof(*s));

	take(w, after, e, woken);
	if (!g_hash_table_add(seen, after)) /* then it was freed */
		return;
	g_ptr_array_add(stack, after);
}

static bool may_come(const struct world *w, const struct wait_state *s, uint32_t e)
{
	uint32_t fork = w->r->t->threads[event(w->r, e)->thread].fork;

	if (is(w->r, e, OP_JOIN)) {
		uint32_t created = w->r->t->threads[event(w->r, e)->target].fork;

		if (created != NONE && (s->s.done & bit(created)) == 0)
			return false;
	}
	return !op_wants(event(w->r, e)->op) && rules_allow_next(w->r, &s->s, e) &&
	       does_the_same(w, s, e) && (fork == NONE || (s->s.done & bit(fork)) != 0);
}

static void expand(const struct world *w, const struct wait_state *s, GHashTable *seen,
                   GPtrArray *stack)
{
	for (uint32_t u = 0; u < w->r->threads; u++) {
		uint32_t e = rules_next(w->r, s->s.done, u);
		bool any = false;

		if (e == NONE || !may_come(w, s, e))
			continue;
		for (uint32_t v = 0; is(w->r, e, OP_SIGNAL) && v < w->r->threads; v++) {
			if (!wakes(w, s, e, v))
				continue;
			any = true;
			push(w, s, e, v, seen, stack);
		}
		if (!any)
			push(w, s, e, NONE, seen, stack);
	}
}

static struct wait_state first_state(void)
{
	struct wait_state s;

	memset(&s, 0, sizeof(s));
	memset(s.s.last, 255, sizeof(s.s.last));
	return s;
}

GHashTable *oracle_stuck(const struct trace *t, bool use_values)
{
	struct world *w = world_new(t, use_values);
	GHashTable *seen = g_hash_table_new_full(hash, equal, g_free, NULL);
	GHashTable *causes = g_hash_table_new(NULL, NULL);
	GPtrArray *stack = g_ptr_array_new();
	struct wait_state first = first_state(), *start = g_memdup2(&first, sizeof(first));

	g_hash_table_add(seen, start);
	g_ptr_array_add(stack, start);
	while (stack->len > 0) {
		const struct wait_state *s = g_ptr_array_remove_index(stack, stack->len - 1);
		struct view v = { .w = w, .s = s };

		find_set(&v);
		add_causes(&v, causes);
		expand(w, s, seen, stack);
	}
	g_ptr_array_free(stack, TRUE);
	g_hash_table_destroy(seen);
	world_free(w);
	return causes;
}

/* -- one sequence ---------------------------------------------------------------------------- */

static bool waits_after(const struct world *w, const struct wait_state *s,
                        const uint32_t *sequence, size_t length, const uint32_t *requests,
                        size_t count)
{
	bool any = false, good = false;

	if (length == 0) {
		struct view v = { .w = w, .s = s };

		find_set(&v);
		for (size_t i = 0; i < count; i++) {
			uint32_t u = event(w->r, requests[i])->thread;

			if (v.next[u] != requests[i] || !v.in[u])
				return false;
		}
		return true;
	}
	uint32_t e = sequence[0];
	if (e >= w->r->n || rules_next(w->r, s->s.done, event(w->r, e)->thread) != e ||
	    op_wants(event(w->r, e)->op) || !may_come(w, s, e))
		return false;
	for (uint32_t v = 0; is(w->r, e, OP_SIGNAL) && v < w->r->threads && !good; v++) {
		struct wait_state next = *s;

		if (!wakes(w, s, e, v))
			continue;
		any = true;
		take(w, &next, e, v);
		good = waits_after(w, &next, sequence + 1, length - 1, requests, count);
	}
	struct wait_state next = *s;
	take(w, &next, e, NONE);
	return any ? good : waits_after(w, &next, sequence + 1, length - 1, requests, count);
}

bool oracle_waits(const struct trace *t, const uint32_t *sequence, size_t length,
                  const uint32_t *requests, size_t count)
{
	struct world *w = world_new(t, false);
	struct wait_state s = first_state();
	bool good = waits_after(w, &s, sequence, length, requests, count);

	world_free(w);
	return good;
}
