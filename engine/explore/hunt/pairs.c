/*
 * pairs.c - see pairs.h.
 */
#include "engine/explore/hunt/pairs.h"

#include <limits.h>

#include "engine/atomic/held.h"
#include "engine/base/hash.h"
#include "engine/base/random.h"
#include "engine/explore/hunt/effects.h"
#include "engine/explore/objects/scopes.h"
#include "engine/order/order.h"
#include "engine/record/plan.h"
#include "engine/trace/index.h"

enum {
	MOST_PAIRS = 4000,
	MOST_WAITING = 3, /* of pairs of the same two places */
	MOST_EARLIER = 6, /* events before an event with which it may be turned */
	MOST_ENDS = 2,    /* last uses of a variable before its block's end */
	LOOKED_AT = 64,   /* of at most this many */
	TURNED = 3,       /* less suspicion for each pair that a run has turned */
	SAME = 4,         /* and for a pair whose reads would see what they saw */
	SAMPLE = 256,     /* of a long run: about so many events of each place, as the second of
	                   * a pair */
	RACE = 8,         /* at least the suspicion of a pair that races by happens-before */
	AFTER = 0x61      /* tells the places of a stop after an event from those before */
};

/* A conflicting pair to be turned: the thread whose event was first waits until the other has
 * made its own. */
struct turned {
	GArray *turns;
	uint64_t places;    /* places of the two events: pairs of equal places are alike */
	uint64_t object;    /* address of the variable or object of both events */
	int suspicion;      /* the higher the earlier */
	int depth;          /* number of turned pairs in it */
	bool end;           /* of a use and the end of its block */
	bool chained;       /* of the variable of the pair that its run has turned */
	bool after;         /* the first thread is stopped after its event, until the other one
	                     * has ended or waits */
	bool news;          /* would a read see a write that it saw in no run? Then it comes
	                     * before pairs of the same suspicion */
	unsigned sources;   /* number of reads that would see another write: */
	uint64_t source[2]; /* effect_places */
};

/* Counts of the pairs of two places. */
struct alike {
	guint waiting, taken;
};

struct pairs {
	uint64_t *random;       /* state of xorshift64; borrowed */
	const GHashTable *seen; /* keys of a write's and its read's place; borrowed */
	GArray *waiting;        /* struct turned, to be run */
	GHashTable *alike;      /* places -> struct alike */
	int turned;             /* pairs that the last run has turned, the last one at */
	uint64_t turned_at;     /* this address */
};

static void free_turned(void *data)
{
	g_array_unref(((struct turned *)data)->turns);
}

struct pairs *pairs_new(uint64_t *random, const GHashTable *seen)
{
	struct pairs *p = g_new0(struct pairs, 1);
	p->random = random;
	p->seen = seen;
	p->waiting = g_array_new(FALSE, FALSE, sizeof(struct turned));
	g_array_set_clear_func(p->waiting, free_turned);
	p->alike = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return p;
}

void pairs_free(struct pairs *p)
{
	if (p == NULL)
		return;
	g_array_unref(p->waiting);
	g_hash_table_unref(p->alike);
	g_free(p);
}

bool pairs_wait(const struct pairs *p)
{
	return p->waiting->len > 0;
}

void pairs_turn_none(struct pairs *p)
{
	p->turned = 0;
	p->turned_at = 0;
}

static uint64_t draw(struct pairs *p, uint64_t below)
{
	return random_below(p->random, below);
}

/* Draws one of the most suspicious. */
static guint most_suspicious(struct pairs *p)
{
	guint at = 0, alike = 0;
	int most = INT_MIN;
	for (guint i = 0; i < p->waiting->len; i++) {
		const struct turned *pair = &g_array_index(p->waiting, struct turned, i);
		int suspicion = 2 * pair->suspicion + pair->news;
		alike = suspicion > most ? 1 : alike + (suspicion == most);
		if (suspicion > most || (suspicion == most && draw(p, alike) == 0))
			at = i;
		most = MAX(most, suspicion);
	}
	return at;
}

/* Is a pair left that races by happens-before, and was not turned yet? */
static bool has_race(struct pairs *p)
{
	return p->waiting->len > 0 &&
	       g_array_index(p->waiting, struct turned, most_suspicious(p)).suspicion >= RACE;
}

/* How much less suspicious a pair is whose places were turned so often: pairs of places that
 * were not turned at all come before it, if it races or not. */
static int less_by(guint taken)
{
	int less = taken > 0 ? TURNED : 0;
	for (; taken > 0; taken /= 2)
		less++;
	return less;
}

void pairs_take(struct pairs *p, struct strategy *s)
{
	guint at = has_race(p) || draw(p, 2) ? most_suspicious(p)
	                                     : (guint)draw(p, p->waiting->len);
	struct turned *pair = &g_array_index(p->waiting, struct turned, at);
	unsigned chances = pair->suspicion >= RACE ? 1 : 2; /* of 4 */
	struct alike *alike = g_hash_table_lookup(p->alike, &pair->places);
	alike->waiting--;
	alike->taken++;
	int less = less_by(alike->taken) - less_by(alike->taken - 1);
	for (guint i = 0; less > 0 && i < p->waiting->len; i++) {
		struct turned *other = &g_array_index(p->waiting, struct turned, i);
		other->suspicion -= other->places == pair->places && !other->chained ? less : 0;
	}
	s->kind = STRATEGY_TURNS;
	s->turns = g_array_copy(pair->turns);
	/* then chance; or the other thread continues; or the stopped one, as soon as it can */
	unsigned how = pair->after ? 1 : draw(p, 4) < chances ? 0 : 1 + (unsigned)draw(p, 3);
	p->turned = pair->depth;
	p->turned_at = pair->object;
	s->seed = how ? 0 : s->seed;
	if (how > 1) {
		uint32_t stopped =
		        g_array_index(pair->turns, struct log_turn, pair->turns->len - 2)
		                .thread;
		struct log_turn rest = { stopped, UINT32_MAX };
		g_array_append_val(s->turns, rest);
	}
	g_array_remove_index(p->waiting, at);
}

/* -- what a run teaches ------------------------------------------------------------------- */

/* The turns of the run up to its event, which its thread has not made; or, where these are more
 * than a run can be given, or not `whole`, that thread's alone. */
static GArray *turns_before(const struct trace *t, const GArray *turns, const uint32_t *number,
                            uint32_t event, bool whole)
{
	enum {
		MOST = LOG_TURNS - 3
	}; /* its own, the other thread's, and the rest (take_pair) */
	GArray *out = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	struct log_turn last = { t->threads[t->events[event].thread].recorded, number[event] };
	guint n = 0;
	for (; whole && n < turns->len && n <= MOST; n++) {
		const struct log_turn *turn = &g_array_index(turns, struct log_turn, n);
		if (turn->thread == last.thread && turn->until > last.until)
			break;
	}
	if (n > 0 && n <= MOST)
		g_array_append_vals(out, turns->data, n);
	g_array_append_val(out, last);
	return out;
}

/* Facts about a run's events, for the search for its pairs. */
struct looked_at {
	const struct trace *t;
	const struct order *hb; /* the run's happens-before */
	const struct fork_order *forks;
	const GArray *turns;
	uint32_t *number;    /* number of each event in its thread, for turns */
	uint64_t *held;      /* the locks held at it, a bit for each (of several) */
	bool *looked_at;     /* by variable: does a thread read it other than to update it? */
	uint32_t *events_at; /* of a long run: number of events by location; else NULL */
	GArray *sections;    /* struct section_pair: pairs under a common lock, */
	GHashTable *section_at; /* by the beginnings of the two sections: index + 1 */
};

/* A pair under a common lock. */
struct section_pair {
	struct turned pair;
	uint32_t stop; /* event before which the first thread stops */
	struct log_turn goes;
};

/* Is the read a part of an update, such as "count++", of whose value nothing else is made in
 * its line? */
static bool only_updates(const struct trace *t, uint32_t read)
{
	const struct event *r = &t->events[read];
	uint32_t line = t->locations[r->location].line, at = trace_next(t, read);
	if (r->op != OP_READ || at == NONE || t->events[at].op != OP_WRITE ||
	    t->events[at].target != r->target ||
	    t->locations[t->events[at].location].line != line)
		return false;
	at = trace_next(t, at);
	return at == NONE || !op_is_access(t->events[at].op) ||
	       t->locations[t->events[at].location].line != line;
}

/* Of variables that are only updated (statistics) no order makes a difference that a thread
 * sees. */
static bool *variables_looked_at(const struct trace *t)
{
	bool *looked_at = g_new0(bool, t->variables_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *a = &t->events[e];
		if (!op_is_access(a->op) || !op_reads(a->op))
			continue;
		struct wide of = event_variables(t, a);
		if (of.count > 1 || (!looked_at[of.first] && !only_updates(t, e)))
			for (uint32_t v = of.first; v < of.first + of.count; v++)
				looked_at[v] = true;
	}
	return looked_at;
}

static uint64_t *locks_held(const struct trace *t)
{
	uint64_t *held = g_new0(uint64_t, t->events_count);
	GArray **locks = g_new0(GArray *, t->threads_count);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *event = &t->events[e];
		GArray **mine = &locks[event->thread];
		if (*mine == NULL)
			*mine = g_array_new(FALSE, FALSE, sizeof(struct held_lock));
		for (guint i = 0; i < (*mine)->len; i++)
			held[e] |= 1ull
			           << g_array_index(*mine, struct held_lock, i).object % 64;
		if (op_acquires(event->op) || op_releases(event->op))
			held_note(*mine, e, event);
	}
	for (uint32_t u = 0; u < t->threads_count; u++)
		if (locks[u])
			g_array_unref(locks[u]);
	g_free(locks);
	return held;
}

/* Two events that may be turned. */
struct candidate {
	uint32_t first, second;       /* events, */
	uint64_t first_at, second_at; /* and their indexes in their variable's list */
	bool inside; /* the second one comes between two of the first one's thread */
};

static bool is_looked_at(const struct looked_at *l, const struct event *access)
{
	return l->looked_at[event_variables(l->t, access).first];
}

/* The likelihood of a bug when these come in the other order, by: a data race by the run's
 * happens-before, a thread within the window between two events, an access without a common
 * lock, two locks held together, and whether a read would see another value. */
static int suspicion_of(const struct looked_at *l, const struct candidate *c,
                        const struct effect *effect)
{
	const struct event *a = &l->t->events[c->first], *b = &l->t->events[c->second];
	uint64_t mine = l->held[c->first], other = l->held[c->second];
	if (!op_is_access(a->op))
		return (mine && other && mine != other ? 4 : 0) + (c->inside ? 2 : 0);
	bool race = !order_ordered_unobserved(l->hb, c->first, c->second) &&
	            !(op_is_atomic(a->op) && op_is_atomic(b->op));
	if (!op_is_access(b->op)) /* a use, and the end of its block */
		return race ? RACE : 6;
	if (!is_looked_at(l, a))
		return 0;
	int suspicion = race ? RACE : mine & other ? 2 : 4;
	return suspicion + (c->inside ? 2 : 0) - (effect->same ? SAME : 0);
}

static uint64_t address_of(const struct trace *t, const struct event *e)
{
	return op_is_access(e->op) ? t->variables[event_variables(t, e).first].address
	                           : t->objects[e->target].address;
}

/* Where the first event's thread is stopped: before its event, or before the section of a lock
 * in which both make theirs, as the other could not come there otherwise. */
static uint32_t stop_before(const struct looked_at *l, uint32_t first, uint32_t second)
{
	uint64_t common = l->held[first] & l->held[second];
	bool accesses =
	        op_is_access(l->t->events[first].op) && op_is_access(l->t->events[second].op);
	return accesses && common ? effect_section(l->t, first, common) : first;
}

/* Would the pair make a read see a write that it saw in no run? (Lock operations have no
 * sources, and come behind the others.) */
static bool is_news(const struct pairs *p, const struct turned *pair)
{
	bool news = pair->end || pair->chained;
	for (unsigned i = 0; i < pair->sources; i++)
		news |= !g_hash_table_contains((GHashTable *)p->seen, &pair->source[i]);
	return news;
}

/* The entry for the pairs of these places, if few of them wait, and one more may; or NULL. */
static struct alike *room_for(struct pairs *p, uint64_t places)
{
	struct alike *alike = g_hash_table_lookup(p->alike, &places);
	if (p->waiting->len >= MOST_PAIRS || (alike && alike->waiting >= MOST_WAITING))
		return NULL;
	if (alike == NULL) {
		alike = g_new0(struct alike, 1);
		g_hash_table_replace(p->alike, g_memdup2(&places, sizeof places), alike);
	}
	return alike;
}

/* Adds the pair to those to be turned, if few of the same places wait. Every second one, and
 * the first, is in the run as it went there. */
static void add_pair(struct pairs *p, const struct looked_at *l, struct turned *pair,
                     uint32_t stop, struct log_turn goes)
{
	struct alike *alike = room_for(p, pair->places);
	if (alike == NULL)
		return;
	pair->suspicion -= pair->chained ? 0 : p->turned * TURNED + less_by(alike->taken);
	bool whole = alike->waiting + alike->taken == 0 || draw(p, 2);
	pair->turns = turns_before(l->t, l->turns, l->number, stop, whole);
	g_array_append_val(pair->turns, goes);
	alike->waiting++;
	g_array_append_val(p->waiting, *pair);
}

/* A number for the places of the section that begins with this event: up to its lock's
 * release. */
static uint64_t section_places(const struct trace *t, uint32_t begin)
{
	enum { MOST = 64 }; /* events */
	uint64_t places = effect_place(t, begin);
	uint32_t e = trace_next(t, begin);
	for (int i = 0;
	     i < MOST && e != NONE &&
	     !(op_releases(t->events[e].op) && t->events[e].target == t->events[begin].target);
	     i++, e = trace_next(t, e))
		places = hash_join(places, effect_place(t, e));
	return places;
}

/* Of the pairs in the same two sections of a lock, which all are one schedule when they are
 * turned, the most suspicious is kept. */
static void keep_section(const struct looked_at *l, const struct turned *pair, uint32_t stop,
                         uint32_t begin, struct log_turn goes)
{
	uint64_t key = (uint64_t)stop << 32 | begin;
	struct section_pair new = { *pair, stop, goes };
	guint at = GPOINTER_TO_UINT(g_hash_table_lookup(l->section_at, &key));
	if (at == 0) {
		new.pair.places =
		        hash_join(section_places(l->t, stop), section_places(l->t, begin));
		g_array_append_val(l->sections, new);
		g_hash_table_insert(l->section_at, g_memdup2(&key, sizeof key),
		                    GUINT_TO_POINTER(l->sections->len));
		return;
	}
	struct section_pair *old = &g_array_index(l->sections, struct section_pair, at - 1);
	new.pair.places = old->pair.places;
	if (2 * pair->suspicion + pair->news > 2 * old->pair.suspicion + old->pair.news)
		*old = new;
}

/* A pair to be turned; for races the variable counts, too. */
static void turn_pair(struct pairs *p, const struct looked_at *l, struct event_list list,
                      const struct candidate *c)
{
	const struct trace *t = l->t;
	const struct event *a = &t->events[c->first], *b = &t->events[c->second];
	struct log_turn goes = { t->threads[b->thread].recorded, l->number[c->second] + 1 };
	uint32_t stop = stop_before(l, c->first, c->second);
	if (l->number[stop] == NONE || l->number[c->second] == NONE || goes.thread == NONE ||
	    t->threads[a->thread].recorded == NONE)
		return;
	struct effect effect = { 0 };
	if (op_is_access(b->op))
		effect = effect_of_turn(t, list, c->first_at, c->second_at);
	uint64_t object = address_of(t, a);
	/* pairs of runs made by a reversal rank behind those of other runs, unless they are of
	 * the same variable: an update between a check and its use takes two */
	bool chained = c->inside && p->turned == 1 && object == p->turned_at;
	struct turned pair = { .places = effect_place(t, c->first) * 31 +
		                         effect_place(t, c->second),
		               .object = object,
		               .suspicion = suspicion_of(l, c, &effect),
		               .depth = p->turned + 1,
		               .end = op_is_access(a->op) && !op_is_access(b->op),
		               .chained = chained,
		               .sources = effect.count };
	if (pair.suspicion >= RACE)
		pair.places = hash_join(pair.places, object);
	for (unsigned i = 0; i < effect.count; i++)
		pair.source[i] = effect_places(t, effect.source[i]);
	pair.news = is_news(p, &pair);
	if (stop != c->first)
		keep_section(
		        l, &pair, stop,
		        effect_section(t, c->second, l->held[c->first] & l->held[c->second]),
		        goes);
	else
		add_pair(p, l, &pair, stop, goes);
}

/* Of two accesses that race, the thread of the first is stopped right after it, while the other
 * one goes on as far as it can: what the first has read, or begun to write, may be out of date
 * when it goes on. */
static void stop_after(struct pairs *p, const struct looked_at *l, const struct candidate *c)
{
	const struct trace *t = l->t;
	const struct event *a = &t->events[c->first], *b = &t->events[c->second];
	struct log_turn goes = { t->threads[b->thread].recorded, UINT32_MAX };
	uint32_t next = c->first + 1;
	while (next < c->second && t->events[next].thread != a->thread)
		next++;
	if (next >= c->second || p->turned > 0 || op_writes(a->op) || !op_is_access(a->op) ||
	    !op_is_access(b->op) || l->number[next] == NONE || goes.thread == NONE ||
	    t->threads[a->thread].recorded == NONE ||
	    order_ordered_unobserved(l->hb, c->first, c->second) ||
	    (op_is_atomic(a->op) && op_is_atomic(b->op)) || !is_looked_at(l, a))
		return;
	struct turned pair = { .object = address_of(t, a),
		               .suspicion = RACE,
		               .depth = p->turned + 1,
		               .after = true };
	pair.places =
	        hash_join(hash_join(effect_place(t, c->first) * 31 + effect_place(t, c->second),
	                            pair.object),
	                  AFTER);
	struct alike *alike = room_for(p, pair.places);
	if (alike == NULL || alike->waiting + alike->taken > 0)
		return;
	pair.turns = turns_before(t, l->turns, l->number, next, true);
	g_array_append_val(pair.turns, goes);
	alike->waiting++;
	g_array_append_val(p->waiting, pair);
}

static bool conflict(const struct event *a, const struct event *b)
{
	if (op_is_access(a->op))
		return op_writes(a->op) || op_writes(b->op);
	return (op_acquires(a->op) || a->op == OP_WAIT || a->op == OP_SIGNAL ||
	        a->op == OP_BROADCAST) &&
	       !op_releases(b->op);
}

uint32_t pairs_begin(const struct trace *t)
{
	uint32_t first = NONE;
	for (uint32_t u = 0; u < t->threads_count; u++)
		first = MIN(first, t->threads[u].fork);
	return first;
}

/* Number of events by location, from the first thread's creation on. */
static uint32_t *events_by_location(const struct trace *t)
{
	uint32_t *count = g_new0(uint32_t, t->locations_count + 1);
	for (uint32_t e = pairs_begin(t); e < t->events_count; e++)
		count[t->events[e].location]++;
	return count;
}

/* Is the event looked at as the second of a pair? Of a long run a sample of each place's
 * events is, so that the time is linear in the run, and a place that comes often does not hide
 * one that comes seldom. */
static bool is_sampled(struct pairs *p, const struct looked_at *l, uint32_t event)
{
	return l->events_at == NULL ||
	       draw(p, l->events_at[l->t->events[event].location]) < SAMPLE;
}

static void turn_pairs_of(struct pairs *p, const struct looked_at *l, struct event_list list)
{
	const struct trace *t = l->t;
	uint64_t from = list.count > 1 ? draw(p, list.count) : 0; /* few of two places wait */
	for (uint64_t at = 0; at < list.count; at++) {
		uint64_t i = (from + at) % list.count;
		unsigned tried = 0;
		if (!is_sampled(p, l, list.items[i]))
			continue;
		for (uint64_t n = 0; n < i && n < LOOKED_AT && tried < MOST_EARLIER; n++) {
			uint64_t k =
			        n % 2 ? i - 1 - n / 2 : n / 2; /* the first, the last, ... */
			uint32_t first = list.items[k], second = list.items[i];
			if (t->events[first].thread == t->events[second].thread ||
			    !conflict(&t->events[first], &t->events[second]) ||
			    fork_ordered(l->forks, first, second))
				continue;
			tried++;
			bool inside = false;
			for (uint64_t m = k; m-- > 0 && k - m < LOOKED_AT && !inside;)
				inside = t->events[list.items[m]].thread ==
				         t->events[first].thread;
			turn_pair(p, l, list,
			          &(struct candidate){ first, second, k, i, inside });
			stop_after(p, l, &(struct candidate){ first, second, k, i, inside });
		}
	}
}

/* Adds the pairs of the free of a block and its last uses by other threads. */
static void turn_ends_of(struct pairs *p, const struct looked_at *l, uint32_t variable)
{
	const struct trace *t = l->t;
	uint32_t block = t->variables[variable].block;
	uint32_t end = block == NONE ? NONE : t->blocks[block].free;
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	if (end == NONE)
		return;
	unsigned tried = 0;
	for (uint64_t i = list.count; i-- > 0 && tried < MOST_ENDS;) {
		uint32_t use = list.items[i];
		if (use > end || t->events[use].thread == t->events[end].thread ||
		    fork_ordered(l->forks, use, end))
			continue;
		tried++;
		turn_pair(p, l, list, &(struct candidate){ use, end, i, i, false });
	}
}

void pairs_find(struct pairs *p, struct trace *t, const GArray *turns, struct periods *periods)
{
	bool is_long = t->events_count > PAIRS_LONG;
	struct order *hb = order_new(t, ORDER_KIND_HB, NULL);
	struct fork_order *forks = fork_order_new(t);
	struct looked_at l = { t,
		               hb,
		               forks,
		               turns,
		               plan_event_numbers(t),
		               locks_held(t),
		               variables_looked_at(t),
		               is_long ? events_by_location(t) : NULL,
		               g_array_new(FALSE, FALSE, sizeof(struct section_pair)),
		               g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
		                                     NULL) };
	for (uint32_t v = 0; v < t->variables_count; v++)
		turn_pairs_of(p, &l, event_list_at(&t->index->variable_events, v));
	for (uint32_t o = 0; o < t->objects_count; o++)
		turn_pairs_of(p, &l, event_list_at(&t->index->object_events, o));
	for (uint32_t v = 0; v < t->variables_count; v++)
		turn_ends_of(p, &l, v);
	for (guint i = 0; i < l.sections->len; i++) {
		struct section_pair *of = &g_array_index(l.sections, struct section_pair, i);
		add_pair(p, &l, &of->pair, of->stop, of->goes);
	}
	if (!is_long)
		periods_learn(periods, t, l.number, l.held);
	fork_order_free(forks);
	order_free(hb);
	g_free(l.number);
	g_free(l.held);
	g_free(l.looked_at);
	g_free(l.events_at);
	g_array_unref(l.sections);
	g_hash_table_unref(l.section_at);
}

void pairs_note_seen(struct pairs *p)
{
	for (guint i = 0; i < p->waiting->len; i++) {
		struct turned *pair = &g_array_index(p->waiting, struct turned, i);
		pair->news = is_news(p, pair);
	}
}
