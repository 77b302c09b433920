/*
 * portfolio.c - see portfolio.h.
 *
 * The strategies: pause (sched_pause.c); pairs of conflicting events, seen in one order, are
 * turned by turns, those first that a bug is likely to be in; pos and surw (sched_events.c),
 * surw's target drawn by its number of events, as its paper does (Zhao et al., ASPLOS 2025,
 * section 5); feedback: a run in which a read saw a write that it had not seen in any other
 * is varied, after RFF (Wolff et al., ASPLOS 2024): its turns up to some point, then pos; pct
 * and random. A strategy is drawn by its gains: new pairs of a write and its read.
 */
#include "engine/explore/hunt/portfolio.h"

#include <limits.h>
#include <string.h>

#include "engine/atomic/held.h"
#include "engine/base/hash.h"
#include "engine/base/random.h"
#include "engine/explore/hunt/effects.h"
#include "engine/explore/hunt/periods.h"
#include "engine/explore/objects/scopes.h"
#include "engine/order/order.h"
#include "engine/record/plan.h"
#include "engine/trace/index.h"

enum arm {
	ARM_PAIR,
	ARM_PAUSE,
	ARM_POS,
	ARM_SURW,
	ARM_FEEDBACK,
	ARM_PCT,
	ARM_RANDOM,
	ARM_PERIODS,
	ARMS
};

const char *const portfolio_words[] = { "auto", "pairs", "surw", "feedback", "periods", NULL };
static const enum arm only[] = { ARMS, ARM_PAIR, ARM_SURW, ARM_FEEDBACK, ARM_PERIODS };

enum {
	FIRST = 4,      /* seeds of pause that come before anything else */
	SECOND = 6,     /* seeds of pause of which the others are every second run */
	MOST_KEPT = 64, /* schedules that feedback varies */
	MOST_PAIRS = 4000,
	MOST_WAITING = 3, /* of pairs of the same two places */
	MOST_EARLIER = 6, /* events before an event with which it may be turned */
	MOST_ENDS = 2,    /* last uses of a variable before its block's end */
	LOOKED_AT = 64,   /* of at most this many */
	TURNED = 3,       /* less suspicion for each pair that a run has turned */
	SAME = 4,         /* and for a pair whose reads would see what they saw */
	RACE = 8,         /* at least the suspicion of a pair that races by happens-before */
	AFTER = 0x61,     /* tells the places of a stop after an event from those before */
	FEW_EVENTS = 20000,
	MOST_EVENTS = 200000,    /* of a run from which pairs are learned, */
	MOST_TARGETED = 4000000, /* or at least targets: */
	MOST_LONG = 3,           /* from at most this many such runs */
	SETTLED = 256            /* runs of surw alone without a new target */
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

/* A place that surw may be about, with its events in all runs that it was learned from. */
struct target {
	uint64_t place, events;
	uint32_t size, threads;
	uint64_t sum[LOG_WEIGHTS]; /* by the runtime's number of a thread, with its descendants
	                            */
};

struct portfolio {
	uint64_t random; /* state of xorshift64; not 0 */
	uint64_t runs, pauses, seed;
	enum arm only; /* ARMS: all */
	enum arm arm;  /* of the last run */
	int turned;    /* pairs that it has turned, the last one at this address */
	uint64_t turned_at;
	double tried[ARMS], gained[ARMS];
	GArray *pairs;         /* struct turned, to be run */
	GHashTable *alike;     /* places -> struct alike */
	GHashTable *seen;      /* key of a write's and its read's place */
	GPtrArray *kept;       /* GArray *: turns of runs with new pairs, */
	GArray *targets;       /* struct target */
	GHashTable *target_at; /* place -> index + 1 */
	uint64_t targeted;     /* length of the longest run that they come from */
	uint32_t target_runs;  /* number of runs that they come from */
	uint64_t steps;        /* of a run */
	uint32_t shares, depth;
	bool explores;
	struct periods *periods;
	unsigned long_runs; /* runs from which only targets are learned */
	unsigned settled;   /* runs since the last one that changed the targets */
	bool frees;         /* was a block freed in a run while another thread was there? */
};

static void free_turned(void *data)
{
	g_array_unref(((struct turned *)data)->turns);
}

static void free_turns(void *data)
{
	g_array_unref(data);
}

struct portfolio *portfolio_new(const struct portfolio_options *options)
{
	struct portfolio *p = g_new0(struct portfolio, 1);
	p->random = hash_word(options->seed + 1) | 1;
	p->seed = options->seed;
	p->explores = options->explores;
	p->runs = options->explores; /* the first run is by pause */
	p->pauses = options->share + options->explores;
	p->shares = MAX(options->shares, 1);
	p->depth = options->depth;
	p->only = only[options->word];
	p->pairs = g_array_new(FALSE, FALSE, sizeof(struct turned));
	g_array_set_clear_func(p->pairs, free_turned);
	p->alike = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	p->seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	p->kept = g_ptr_array_new_with_free_func(free_turns);
	p->targets = g_array_new(FALSE, FALSE, sizeof(struct target));
	p->target_at = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	p->periods = periods_new();
	p->steps = 1000;
	return p;
}

void portfolio_free(struct portfolio *p)
{
	if (p == NULL)
		return;
	g_array_unref(p->pairs);
	g_hash_table_unref(p->alike);
	g_hash_table_unref(p->seen);
	g_ptr_array_unref(p->kept);
	g_array_unref(p->targets);
	g_hash_table_unref(p->target_at);
	periods_free(p->periods);
	g_free(p);
}

static uint64_t draw(struct portfolio *p, uint64_t below)
{
	return random_below(&p->random, below);
}

GArray *turns_without(const GArray *turns, guint first, guint count)
{
	GArray *left = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	for (guint i = 0; i < turns->len; i++) {
		const struct log_turn *t = &g_array_index(turns, struct log_turn, i);
		if (i >= first && i - first < count)
			continue;
		struct log_turn *last =
		        left->len ? &g_array_index(left, struct log_turn, left->len - 1) : NULL;
		if (last && last->thread == t->thread)
			last->until = MAX(last->until, t->until);
		else
			g_array_append_val(left, *t);
	}
	return left;
}

/* -- the next run ------------------------------------------------------------------------- */

static bool has(const struct portfolio *p, enum arm arm)
{
	return arm == ARM_PAIR       ? p->pairs->len > 0 && !p->explores
	       : arm == ARM_SURW     ? p->targets->len > 0
	       : arm == ARM_FEEDBACK ? p->kept->len > 0 && !p->explores
	       : arm == ARM_PCT      ? !p->explores
	       : arm == ARM_PERIODS  ? periods_known(p->periods) && !p->explores
	                             : true;
}

/* Draws a strategy by the gains of each; one that was not tried yet has the best prospects. */
static enum arm draw_arm(struct portfolio *p)
{
	double weight[ARMS], all = 0;
	for (int a = 0; a < ARMS; a++) {
		weight[a] = has(p, (enum arm)a) ? (p->gained[a] + 1) / (p->tried[a] + 1) : 0;
		weight[a] = weight[a] > 0 ? MAX(weight[a], 0.1) : 0;
		all += weight[a];
	}
	double at = all * (double)draw(p, 1 << 30) / (1 << 30);
	int arm = 0;
	while (arm + 1 < ARMS && at >= weight[arm])
		at -= weight[arm++];
	return weight[arm] > 0 ? (enum arm)arm : ARM_POS;
}

/* Draws one of the most suspicious. */
static guint most_suspicious(struct portfolio *p)
{
	guint at = 0, alike = 0;
	int most = INT_MIN;
	for (guint i = 0; i < p->pairs->len; i++) {
		const struct turned *pair = &g_array_index(p->pairs, struct turned, i);
		int suspicion = 2 * pair->suspicion + pair->news;
		alike = suspicion > most ? 1 : alike + (suspicion == most);
		if (suspicion > most || (suspicion == most && draw(p, alike) == 0))
			at = i;
		most = MAX(most, suspicion);
	}
	return at;
}

/* Is a pair left that races by happens-before, and was not turned yet? */
static bool has_race(struct portfolio *p)
{
	return p->pairs->len > 0 &&
	       g_array_index(p->pairs, struct turned, most_suspicious(p)).suspicion >= RACE;
}

/* The next strategy: first the seeds of pause that have a meaning, the later ones as every
 * second run, then every fourth; every second run turns a pair, or without one is a walk that
 * is uniform over some place's events; the others are chance, and any, in turn. The order was
 * measured (docs/hunting-figures.md, "Schedules to the first bug"). An exploration makes all
 * seeds of pause first, and turns pairs by its plans. */
static enum arm next_arm(struct portfolio *p)
{
	static const enum arm turns[] = { ARM_PAIR, ARM_POS, ARM_PAIR, ARMS };
	enum arm arm = turns[p->runs % G_N_ELEMENTS(turns)];
	if (p->only != ARMS)
		return has(p, p->only) ? p->only : ARM_POS;
	if (p->explores)
		return p->pauses < LOG_PAUSES ? ARM_PAUSE : draw_arm(p);
	if (p->pauses < FIRST || (p->pauses < SECOND && arm != ARM_PAIR) ||
	    (p->pauses < LOG_PAUSES && arm == ARMS))
		return ARM_PAUSE;
	if (arm == ARM_PAIR && !has(p, arm))
		arm = ARM_SURW;
	return arm == ARMS || !has(p, arm) ? draw_arm(p) : arm;
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

static void take_pair(struct portfolio *p, struct strategy *s)
{
	guint at =
	        has_race(p) || draw(p, 2) ? most_suspicious(p) : (guint)draw(p, p->pairs->len);
	struct turned *pair = &g_array_index(p->pairs, struct turned, at);
	unsigned chances = pair->suspicion >= RACE ? 1 : 2; /* of 4 */
	struct alike *alike = g_hash_table_lookup(p->alike, &pair->places);
	alike->waiting--;
	alike->taken++;
	int less = less_by(alike->taken) - less_by(alike->taken - 1);
	for (guint i = 0; less > 0 && i < p->pairs->len; i++) {
		struct turned *other = &g_array_index(p->pairs, struct turned, i);
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
	g_array_remove_index(p->pairs, at);
}

/* A thread's weight is the mean number of its events, rounded up: that of one run may be far
 * from another's, as of a thread that has come too late to take part. */
static void take_target(struct portfolio *p, struct strategy *s)
{
	uint64_t all = 0;
	for (guint i = 0; i < p->targets->len; i++)
		all += g_array_index(p->targets, struct target, i).events;
	uint64_t n = draw(p, all);
	guint at = 0;
	while (n >= g_array_index(p->targets, struct target, at).events)
		n -= g_array_index(p->targets, struct target, at++).events;
	const struct target *target = &g_array_index(p->targets, struct target, at);
	s->kind = STRATEGY_SURW;
	s->target = (struct log_target){ .place = target->place,
		                         .size = target->size,
		                         .threads = target->threads };
	for (uint32_t i = 0; i < target->threads; i++)
		s->target.weight[i] = (uint16_t)MIN(
		        (target->sum[i] + p->target_runs - 1) / p->target_runs, UINT16_MAX);
}

static void take_kept(struct portfolio *p, struct strategy *s)
{
	const GArray *of = p->kept->pdata[draw(p, p->kept->len)];
	guint cut = (guint)draw(p, of->len + 1);
	s->kind = STRATEGY_TURNS;
	s->turns = turns_without(of, cut, of->len - cut);
}

struct strategy portfolio_next(struct portfolio *p)
{
	struct strategy s = { .kind = STRATEGY_POS,
		              .seed = p->runs == 0 ? p->seed : draw(p, 1u << 31) + 1 };
	p->arm = next_arm(p);
	p->turned = 0;
	p->turned_at = 0;
	switch (p->arm) {
	case ARM_PAIR:
		take_pair(p, &s);
		break;
	case ARM_SURW:
		take_target(p, &s);
		break;
	case ARM_FEEDBACK:
		take_kept(p, &s);
		break;
	case ARM_PAUSE:
		s.kind = STRATEGY_PAUSE;
		if (p->pauses < LOG_PAUSES)
			s.seed = p->pauses;
		p->pauses += p->shares;
		break;
	case ARM_PERIODS:
		s.kind = STRATEGY_TURNS;
		s.turns = periods_draw(p->periods, &p->random);
		s.seed = 0;
		break;
	case ARM_PCT:
		s.kind = STRATEGY_PCT;
		s.depth = p->depth ? p->depth : 3;
		s.steps = p->steps;
		break;
	case ARM_RANDOM:
		s.kind = STRATEGY_RANDOM;
		break;
	default:
		break;
	}
	p->runs++;
	p->tried[p->arm]++;
	return s;
}

/* -- what a run teaches ------------------------------------------------------------------- */

static bool remember(GHashTable *set, uint64_t key)
{
	return g_hash_table_add(set, g_memdup2(&key, sizeof key));
}

/* The number of reads that saw a write which such a read had not seen in any run. */
static unsigned new_sources(struct portfolio *p, const struct trace *t)
{
	unsigned count = 0;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *r = &t->events[e];
		if (!op_is_access(r->op) || !op_reads(r->op) || r->flags & EVENT_WIDE)
			continue;
		count += remember(p->seen, effect_places(t, (struct effect_source){
		                                                    e, t->index->writer[e] }));
	}
	return count;
}

/* The first creation of a thread: before it nothing can come in another order. */
static uint32_t first_fork(const struct trace *t)
{
	uint32_t first = NONE;
	for (uint32_t u = 0; u < t->threads_count; u++)
		first = MIN(first, t->threads[u].fork);
	return first;
}

/* Adds the events of one place, by the runtime's number of their threads, to those of each
 * thread's ancestors, too. `from`: first_fork. Memory that is not written to after that is no
 * target, nor is what one thread alone uses. */
static void add_target(struct portfolio *p, const struct trace *t, struct event_list list,
                       uint32_t from, uint64_t place, uint32_t size)
{
	uint32_t *count = g_new0(uint32_t, t->threads_count + 1), events = 0;
	unsigned threads = 0;
	bool changed = false;
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *e = &t->events[list.items[i]];
		bool point = op_is_access(e->op) || op_acquires(e->op) || e->op == OP_WAIT ||
		             e->op == OP_SIGNAL || e->op == OP_BROADCAST || e->op == OP_POST;
		if (!point || list.items[i] < from)
			continue;
		threads += count[e->thread] == 0;
		count[e->thread]++;
		events++;
		changed |= !op_is_access(e->op) || op_writes(e->op);
	}
	guint at = GPOINTER_TO_UINT(g_hash_table_lookup(p->target_at, &place));
	if (at == 0 && (threads < 2 || !changed)) {
		g_free(count);
		return;
	}
	if (at == 0) {
		g_array_append_val(p->targets,
		                   ((struct target){ .place = place, .size = MAX(size, 1) }));
		at = p->targets->len;
		g_hash_table_replace(p->target_at, g_memdup2(&place, sizeof place),
		                     GUINT_TO_POINTER(at));
	}
	struct target *target = &g_array_index(p->targets, struct target, at - 1);
	target->events += events;
	for (uint32_t u = (uint32_t)t->threads_count; u-- > 0;) { /* parents come before */
		uint32_t number = t->threads[u].recorded, parent = t->threads[u].parent;
		if (number < LOG_WEIGHTS) {
			target->sum[number] += count[u];
			target->threads = MAX(target->threads, number + 1);
		}
		if (parent != NONE && parent < u)
			count[parent] += count[u];
	}
	g_free(count);
}

/* A run that is much shorter than others, as it ended early by an error, counts only while
 * there is no other; one that is much longer makes a new beginning. */
static void find_targets(struct portfolio *p, const struct trace *t)
{
	if (t->events_count / 3 < p->targeted / 4 && p->targets->len > 0)
		return;
	if (p->targeted / 3 < t->events_count / 4) {
		p->target_runs = 0;
		g_array_set_size(p->targets, 0);
		g_hash_table_remove_all(p->target_at);
	}
	p->targeted = MAX(p->targeted, t->events_count);
	p->target_runs++;
	uint32_t from = first_fork(t);
	for (uint32_t v = 0; v < t->variables_count; v++)
		add_target(p, t, event_list_at(&t->index->variable_events, v), from,
		           t->variables[v].address, t->variables[v].size);
	for (uint32_t o = 0; o < t->objects_count; o++)
		add_target(p, t, event_list_at(&t->index->object_events, o), from,
		           t->objects[o].address, 1);
}

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
	uint32_t *number; /* number of each event in its thread, for turns */
	uint64_t *held;   /* the locks held at it, a bit for each (of several) */
	bool *looked_at;  /* by variable: does a thread read it other than to update it? */
	GArray *sections; /* struct section_pair: pairs under a common lock, */
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
static bool is_news(const struct portfolio *p, const struct turned *pair)
{
	bool news = pair->end || pair->chained;
	for (unsigned i = 0; i < pair->sources; i++)
		news |= !g_hash_table_contains(p->seen, &pair->source[i]);
	return news;
}

/* The entry for the pairs of these places, if few of them wait, and one more may; or NULL. */
static struct alike *room_for(struct portfolio *p, uint64_t places)
{
	struct alike *alike = g_hash_table_lookup(p->alike, &places);
	if (p->pairs->len >= MOST_PAIRS || (alike && alike->waiting >= MOST_WAITING))
		return NULL;
	if (alike == NULL) {
		alike = g_new0(struct alike, 1);
		g_hash_table_replace(p->alike, g_memdup2(&places, sizeof places), alike);
	}
	return alike;
}

/* Adds the pair to those to be turned, if few of the same places wait. Every second one, and
 * the first, is in the run as it went there. */
static void add_pair(struct portfolio *p, const struct looked_at *l, struct turned *pair,
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
	g_array_append_val(p->pairs, *pair);
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
static void turn_pair(struct portfolio *p, const struct looked_at *l, struct event_list list,
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
static void stop_after(struct portfolio *p, const struct looked_at *l,
                       const struct candidate *c)
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
	g_array_append_val(p->pairs, pair);
}

static bool conflict(const struct event *a, const struct event *b)
{
	if (op_is_access(a->op))
		return op_writes(a->op) || op_writes(b->op);
	return (op_acquires(a->op) || a->op == OP_WAIT || a->op == OP_SIGNAL ||
	        a->op == OP_BROADCAST) &&
	       !op_releases(b->op);
}

static void turn_pairs_of(struct portfolio *p, const struct looked_at *l,
                          struct event_list list)
{
	const struct trace *t = l->t;
	uint64_t from = list.count > 1 ? draw(p, list.count) : 0; /* few of two places wait */
	for (uint64_t at = 0; at < list.count; at++) {
		uint64_t i = (from + at) % list.count;
		unsigned tried = 0;
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
static void turn_ends_of(struct portfolio *p, const struct looked_at *l, uint32_t variable)
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

static void find_pairs(struct portfolio *p, struct trace *t, const GArray *turns)
{
	struct order *hb = order_new(t, ORDER_KIND_HB, NULL);
	struct fork_order *forks = fork_order_new(t);
	struct looked_at l = { t,
		               hb,
		               forks,
		               turns,
		               plan_event_numbers(t),
		               locks_held(t),
		               variables_looked_at(t),
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
	periods_learn(p->periods, t, l.number, l.held);
	fork_order_free(forks);
	order_free(hb);
	g_free(l.number);
	g_free(l.held);
	g_free(l.looked_at);
	g_array_unref(l.sections);
	g_hash_table_unref(l.section_at);
}

bool portfolio_looks(const struct portfolio *p)
{
	if (p->only == ARM_SURW && p->settled >= SETTLED && !p->frees)
		return false; /* no target to learn, and no use of freed memory to find */
	return p->long_runs < MOST_LONG;
}

/* Did a thread free a block while another one had not ended? */
static bool frees_together(const struct trace *t)
{
	uint32_t last = 0; /* the last event of a thread beside main */
	for (uint32_t e = t->events_count; e-- > 0 && last == 0;)
		last = t->events[e].thread != 0 ? e : 0;
	for (uint32_t b = 0; b < t->blocks_count; b++) {
		uint32_t end = t->blocks[b].free;
		if (end != NONE && (end < last || t->events[end].thread != 0))
			return true;
	}
	return false;
}

void portfolio_learn(struct portfolio *p, struct trace *t, const GArray *turns, bool news)
{
	const unsigned parts = INDEX_THREADS | INDEX_VARIABLES | INDEX_OBJECTS | INDEX_WRITERS;
	p->gained[p->arm] += news;
	bool is_long = t != NULL && t->events_count > MOST_EVENTS;
	p->long_runs += is_long;
	if (t == NULL || t->events_count == 0 || t->events_count > MOST_TARGETED ||
	    !trace_need(t, parts, NULL))
		return;
	if (is_long) {
		p->steps = t->events_count;
		find_targets(p, t);
		return;
	}
	unsigned sources = new_sources(p, t);
	for (guint i = 0; sources > 0 && i < p->pairs->len; i++) {
		struct turned *pair = &g_array_index(p->pairs, struct turned, i);
		pair->news = is_news(p, pair);
	}
	p->gained[p->arm] += sources > 0;
	p->frees |= frees_together(t);
	p->settled++;
	if (p->targets->len == 0 || sources > 0) {
		p->steps = t->events_count;
		p->settled = 0;
	}
	if (p->settled == 0 || t->events_count <= FEW_EVENTS)
		find_targets(p, t);
	if (p->only != ARM_SURW && p->only != ARM_FEEDBACK &&
	    (sources > 0 ||
	     t->events_count <= FEW_EVENTS)) /* pairs in an order not seen so far */
		find_pairs(p, t, turns);
	if (sources == 0)
		return;
	if (turns->len == 0 || turns->len > LOG_TURNS)
		return;
	if (p->kept->len >= MOST_KEPT)
		g_ptr_array_remove_index_fast(p->kept, (guint)draw(p, p->kept->len));
	g_ptr_array_add(p->kept, g_array_copy((GArray *)turns));
}
