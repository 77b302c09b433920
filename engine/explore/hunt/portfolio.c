/*
 * portfolio.c - see portfolio.h.
 *
 * The strategies: pause (sched_pause.c); pairs of conflicting events, seen in one order, are
 * turned by turns (pairs.c); pos and surw (sched_events.c), surw's target drawn by its number
 * of events, as its paper does (Zhao et al., ASPLOS 2025, section 5); feedback: a run in which
 * a read saw a write that it had not seen in any other is varied, after RFF (Wolff et al.,
 * ASPLOS 2024): its turns up to some point, then pos; pct and random. A strategy is drawn by
 * its gains: new pairs of a write and its read.
 */
#include "engine/explore/hunt/portfolio.h"

#include <string.h>

#include "engine/base/hash.h"
#include "engine/base/random.h"
#include "engine/explore/hunt/effects.h"
#include "engine/explore/hunt/pairs.h"
#include "engine/explore/hunt/periods.h"
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
	FEW_EVENTS = 20000,
	MOST_EVENTS = 4000000, /* of a run from which anything is learned */
	MOST_LOOKED = 2000000, /* of all long runs (PAIRS_LONG) that are looked at, about */
	SETTLED = 256          /* runs of surw alone without a new target */
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
	double tried[ARMS], gained[ARMS];
	struct pairs *pairs;   /* to be turned */
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
	uint64_t looked;  /* number of events of the long runs that were looked at */
	unsigned settled; /* runs since the last one that changed the targets */
	bool frees;       /* was a block freed in a run while another thread was there? */
};

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
	p->seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	p->pairs = pairs_new(&p->random, p->seen);
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
	pairs_free(p->pairs);
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
	return arm == ARM_PAIR       ? pairs_wait(p->pairs) && !p->explores
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

/* The next strategy: first the seeds of pause that have a meaning, the later ones as every
 * second run, then every fourth; every second run turns a pair (of long runs every fourth), or
 * without one is a walk that is uniform over some place's events; the others are chance, and
 * any, in turn. The order was
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
	bool walks = p->looked > 0 && p->runs % 4 == 2;
	if (arm == ARM_PAIR && (walks || !has(p, arm)))
		arm = ARM_SURW;
	return arm == ARMS || !has(p, arm) ? draw_arm(p) : arm;
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
	pairs_turn_none(p->pairs);
	switch (p->arm) {
	case ARM_PAIR:
		pairs_take(p->pairs, &s);
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

/* Adds the events of one place, by the runtime's number of their threads, to those of each
 * thread's ancestors, too. `from`: pairs_begin. Memory that is not written to after that is no
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
	uint32_t from = pairs_begin(t);
	for (uint32_t v = 0; v < t->variables_count; v++)
		add_target(p, t, event_list_at(&t->index->variable_events, v), from,
		           t->variables[v].address, t->variables[v].size);
	for (uint32_t o = 0; o < t->objects_count; o++)
		add_target(p, t, event_list_at(&t->index->object_events, o), from,
		           t->objects[o].address, 1);
}

bool portfolio_looks(const struct portfolio *p)
{
	if (p->only == ARM_SURW && p->settled >= SETTLED && !p->frees)
		return false; /* no target to learn, and no use of freed memory to find */
	return p->looked < MOST_LOOKED;
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
	if (t != NULL && t->events_count > PAIRS_LONG)
		p->looked += t->events_count;
	if (t == NULL || t->events_count == 0 || t->events_count > MOST_EVENTS ||
	    !trace_need(t, parts, NULL))
		return;
	unsigned sources = new_sources(p, t);
	if (sources > 0)
		pairs_note_seen(p->pairs);
	p->gained[p->arm] += sources > 0;
	p->frees |= frees_together(t);
	p->settled++;
	if (p->targets->len == 0 || sources > 0) {
		p->steps = t->events_count;
		p->settled = 0;
	}
	if (p->settled == 0 || t->events_count <= FEW_EVENTS)
		find_targets(p, t);
	bool pairs = p->only != ARM_SURW && p->only != ARM_FEEDBACK &&
	             !(p->explores && t->events_count > PAIRS_LONG);
	if (pairs &&
	    (sources > 0 || t->events_count <= FEW_EVENTS)) /* in an order not seen so far */
		pairs_find(p->pairs, t, turns, p->periods);
	if (sources == 0)
		return;
	if (turns->len == 0 || turns->len > LOG_TURNS)
		return;
	if (p->kept->len >= MOST_KEPT)
		g_ptr_array_remove_index_fast(p->kept, (guint)draw(p, p->kept->len));
	g_ptr_array_add(p->kept, g_array_copy((GArray *)turns));
}
