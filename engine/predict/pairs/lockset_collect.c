/*
 * lockset_collect.c - see lockset_kinds.h: the first pass finds variables without a guarding
 * lock, the second counts their accesses.
 *
 * Most accesses change nothing: another one by the variable's thread, or under its lock. This
 * is decided from sixteen bytes and the lock's holder. A thread's complete lock set is computed
 * on demand only.
 */
#include "engine/predict/pairs/lockset_kinds.h"

#include "engine/base/hash.h"
#include "engine/base/scattered.h"
#include "engine/base/search.h"
#include "engine/trace/index.h"

#include <string.h>

enum { AHEAD = 32, TICK = 1 << 20, NEXT_LINE = 8 /* changes */ };

/* -- locks held ---------------------------------------------------------------------------- */

struct change {
	uint32_t event;
	uint32_t what; /* an item of lockset_with, times four, plus the bits below */
};
enum { LET_GO = 1, EMPTY = 2 /* EMPTY: the thread holds nothing from here on */, ITEM = 4 };
/* A thread's locks. */
struct held {
	struct change *changes; /* all changes, also for the second pass */
	uint32_t count, capacity;
	uint32_t depth; /* locks held after the last of them */
	uint32_t next;  /* the first change not yet in `all` */
	uint32_t all;
	uint32_t exclusive, of; /* exclusive: the exclusively held part of set `of` */
};
/* Indices in holders: none, then locks, then several. */
enum { UNUSED, NO_LOCK, FIRST_LOCK };
struct holding {
	const struct trace *t;
	struct locksets *locksets;
	struct held *of; /* by thread */
	/* Thread + 1 that certainly holds the lock exclusively; 0: see its set. */
	uint32_t *holders;
	uint32_t several;
};

static void holding_init(struct holding *h, const struct trace *t, struct locksets *locksets)
{
	BUG_ON(t->objects_count >= UINT32_MAX / (2 * ITEM));
	*h = (struct holding){ .t = t, .locksets = locksets };
	h->of = g_new0(struct held, t->threads_count + 1);
	h->several = FIRST_LOCK + (uint32_t)t->objects_count;
	h->holders = g_new0(uint32_t, h->several + 1);
}

static void holding_release(struct holding *h)
{
	for (uint64_t u = 0; u < h->t->threads_count; u++)
		g_free(h->of[u].changes);
	g_free(h->of);
	g_free(h->holders);
}

/* Restart before the second pass, with no locks held. */
static void holding_begin_again(struct holding *h)
{
	for (uint64_t u = 0; u < h->t->threads_count; u++)
		h->of[u].next = h->of[u].all = 0;
}

static inline void keep_change(struct held *held, uint32_t event, uint32_t item, bool let_go)
{
	if (G_UNLIKELY(held->count == held->capacity)) {
		held->capacity = MAX(256, 2 * held->capacity);
		held->changes = g_renew(struct change, held->changes, held->capacity);
	}
	held->depth += let_go ? -1u : 1;
	held->changes[held->count++] =
	        (struct change){ event, item * ITEM + (held->depth == 0 ? EMPTY : 0) +
		                                (let_go ? LET_GO : 0) };
}

static inline void follow(struct holding *h, const struct event *x)
{
	uint32_t *holder = &h->holders[FIRST_LOCK + x->target], own = x->thread + 1;
	bool exclusive = x->op == OP_ACQ || x->op == OP_REL;

	keep_change(&h->of[x->thread], (uint32_t)(x - h->t->events), x->target * 2 + exclusive,
	            op_releases(x->op));
	if (x->op == OP_ACQ)
		*holder = own;
	else if (x->op == OP_REL && *holder == own)
		*holder = 0;
}

/* End of the changes from `low` on before an event. */
static uint32_t changes_before(const struct held *held, uint32_t low, uint32_t event)
{
	uint32_t step = 1;

	while (step <= held->count - low && held->changes[low + step - 1].event < event) {
		low += step;
		step *= 2;
	}
	return search_end(i, low, MIN(held->count, low + step - 1),
	                  held->changes[i].event < event);
}

/* A thread's lock set just before an event, from the last point where it was empty. */
static uint32_t set_held(struct holding *h, uint32_t thread, uint32_t event)
{
	struct held *held = &h->of[thread];
	uint32_t end = event == NONE ? held->count : changes_before(held, held->next, event);
	uint32_t from = end;

	while (from > held->next && !(held->changes[from - 1].what & EMPTY))
		from--;
	if (from > held->next)
		held->all = 0;
	for (; from < end; from++) {
		uint32_t what = held->changes[from].what;

		held->all = what & LET_GO ? lockset_without(h->locksets, held->all, what / ITEM)
		                          : lockset_with(h->locksets, held->all, what / ITEM);
	}
	held->next = end;
	/* Prefetch for the next query. */
	__builtin_prefetch(held->changes + end + NEXT_LINE);
	__builtin_prefetch(held->changes + end + 2 * NEXT_LINE);
	return held->all;
}

static uint32_t set_exclusive(struct holding *h, uint32_t thread)
{
	struct held *held = &h->of[thread];
	uint32_t all = set_held(h, thread, NONE);

	if (held->of != all) {
		held->of = all;
		held->exclusive = lockset_exclusive(h->locksets, all, all);
	}
	return held->exclusive;
}

/* -- the first pass ------------------------------------------------------------------------ */

enum { MORE = (1 << 20) - 1 }; /* more than one thread */
/* State of a variable; zero: none. Masks are all ones when a test applies and 0 when its result
 * no longer matters, so that the loop has no branches. */
struct use {
	uint32_t lock;    /* index in holders: held exclusively by all accesses so far */
	uint32_t guarded; /* mask: all accesses so far hold a common lock, or none came yet */
	uint32_t common;  /* the set held exclusively by all accesses so far */
	uint32_t thread : 20; /* thread of all accesses so far, or MORE */
	uint32_t reads : 4;   /* by kind: no access so far has written */
	int32_t alone : 8;    /* mask: a single thread */
};
_Static_assert(sizeof(struct use) == 16, "four a cache line");

static inline bool tells(const struct use *use, const uint32_t *holders, uint32_t thread,
                         uint32_t writes)
{
	uint32_t other = (thread ^ use->thread) & (uint32_t)use->alone;

	return ((holders[use->lock] ^ (thread + 1)) & use->guarded) | other |
	       (writes & use->reads);
}

static __attribute__((noinline)) void note(struct holding *h, struct use *use, uint32_t thread,
                                           bool writes)
{
	uint32_t exclusive = set_exclusive(h, thread), single;

	if (use->lock == UNUSED) {
		use->thread = thread;
		use->common = exclusive;
	}
	if (use->thread != thread)
		use->thread = MORE;
	use->alone = use->thread == MORE ? 0 : -1;
	use->reads &= !writes;
	if (use->common != exclusive && use->common != 0)
		use->common = exclusive == 0
		                      ? 0
		                      : lockset_exclusive(h->locksets, use->common, exclusive);
	use->guarded = use->common == 0 ? 0 : UINT32_MAX;
	use->lock = NO_LOCK;
	if (use->common != 0) {
		single = lockset_single(h->locksets, use->common);
		use->lock = single == NONE ? h->several : FIRST_LOCK + single;
	}
}

/* An event other than a plain access of one variable. */
static __attribute__((noinline)) void use_other(struct use *of, struct holding *h,
                                                const struct event *x)
{
	if (event_inert(x))
		return;
	if (op_acquires(x->op) || op_releases(x->op))
		follow(h, x);
	if (!op_is_access(x->op))
		return;
	struct wide run = event_variables(h->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		note(h, &of[v], x->thread, op_writes(x->op));
}

static void find_uses(struct use *of, struct holding *h, uint32_t from, uint32_t to)
{
	const struct event *x = h->t->events + from, *end = h->t->events + to;
	const uint32_t *holders = h->holders;
	uint32_t ahead = to + AHEAD <= h->t->events_count ? AHEAD : 0;

	for (; x < end; x++) {
		/* (For non-accesses the address is wrong, but harmless.) */
		__builtin_prefetch(&of[x[ahead].target]);
		if (G_UNLIKELY(!event_simple(x)))
			use_other(of, h, x);
		else if (G_UNLIKELY(tells(&of[x->target], holders, x->thread, x->op)))
			note(h, &of[x->target], x->thread, x->op == OP_WRITE);
	}
}

static struct use *uses_new(uint64_t variables)
{
	struct use *of = scattered_new(struct use, variables + 1);

	for (uint64_t v = 0; v <= variables; v++)
		of[v] = (struct use){ .guarded = UINT32_MAX, .alone = -1, .reads = 1 };
	return of;
}

/* -- kinds of accesses --------------------------------------------------------------------- */

struct table { /* open addressing */
	struct kind *of;
	uint32_t size, count; /* size: a power of two */
};
enum { FIRST_KINDS = 1 << 10 };

static inline uint32_t kind_hash(const struct kind *k)
{
	uint64_t hash = hash_pair(k->variable, k->site);

	hash = (hash ^ ((uint64_t)k->lockset << 32 | k->who)) * 0xff51afd7ed558ccdu;
	return hash_top(hash);
}

static inline struct kind *kind_at(const struct table *table, const struct kind *k,
                                   uint32_t hash)
{
	uint32_t at = hash & (table->size - 1);

	for (; table->of[at].count > 0; at = (at + 1) & (table->size - 1)) {
		const struct kind *old = &table->of[at];

		if (old->variable == k->variable && old->site == k->site &&
		    old->lockset == k->lockset && old->who == k->who)
			break;
	}
	return &table->of[at];
}

static void table_grow(struct table *table)
{
	struct table old = *table;

	table->size = MAX(FIRST_KINDS, 2 * old.size);
	table->of = scattered_lines(table->size * sizeof(struct kind));
	memset(table->of, 0, table->size * sizeof(struct kind));
	for (uint32_t i = 0; i < old.size; i++) {
		if (old.of[i].count > 0)
			*kind_at(table, &old.of[i], kind_hash(&old.of[i])) = old.of[i];
	}
	g_free(old.of);
}

static void count_kind(struct table *table, const struct kind *k, uint32_t hash)
{
	struct kind *known = kind_at(table, k, hash);

	if (known->count++ > 0)
		return;
	*known = *k;
	if (2 * ++table->count > table->size)
		table_grow(table);
}

/* Prefetched while others are processed. */
enum { WAITING = 64 };
struct waiting {
	struct kind kinds[WAITING];
	uint32_t hashes[WAITING], count;
};

static void count_waiting(struct table *table, struct waiting *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		count_kind(table, &w->kinds[i], w->hashes[i]);
	w->count = 0;
}

static inline void count_access(struct table *table, struct waiting *w, const struct kind *k)
{
	uint32_t hash = kind_hash(k);

	__builtin_prefetch(&table->of[hash & (table->size - 1)], 1);
	w->kinds[w->count] = *k;
	w->hashes[w->count] = hash;
	if (++w->count == WAITING)
		count_waiting(table, w);
}

/* -- the second pass ----------------------------------------------------------------------- */

struct counting {
	struct holding holding;
	uint64_t *chosen; /* a bit for each variable */
	uint32_t chosen_count;
	struct table table;
	struct waiting waiting;
};

static inline bool is_chosen(const uint64_t *chosen, uint32_t variable)
{
	return chosen[variable / 64] >> variable % 64 & 1;
}

static void choose(struct counting *c, const struct trace *t, const struct use *of)
{
	c->chosen = g_new0(uint64_t, t->variables_count / 64 + 1);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (of[v].thread != MORE || of[v].reads || of[v].lock != NO_LOCK)
			continue;
		c->chosen[v / 64] |= (uint64_t)1 << v % 64;
		c->chosen_count++;
	}
}

/* Count an access of a chosen variable; other events update locks. */
static inline void count_any(struct counting *c, uint32_t event)
{
	const struct trace *t = c->holding.t;
	const struct event *x = &t->events[event];
	struct kind k = { .first = event, .count = 1 };

	if (event_inert(x) || !op_is_access(x->op))
		return;
	k.site = t->locations[x->location].site;
	k.who = x->thread * KIND_THREAD + (op_writes(x->op) ? KIND_WRITES : 0) +
	        (op_is_atomic(x->op) ? KIND_ATOMIC : 0);
	k.lockset = set_held(&c->holding, x->thread, event);
	struct wide run = event_variables(t, x);
	for (k.variable = run.first; k.variable < run.first + run.count; k.variable++) {
		if (is_chosen(c->chosen, k.variable))
			count_access(&c->table, &c->waiting, &k);
	}
}

/* Events are scattered in memory, so they are prefetched. */
enum { FOUND = 1024, EVENTS_AHEAD = 16, SITES_AHEAD = 8 };

static void count_found(struct counting *c, const uint32_t *found, uint32_t count)
{
	const struct trace *t = c->holding.t;

	for (uint32_t i = 0; i < MIN(count, EVENTS_AHEAD); i++)
		__builtin_prefetch(&t->events[found[i]]);
	for (uint32_t i = 0; i < count; i++) {
		__builtin_prefetch(&t->events[found[MIN(i + EVENTS_AHEAD, count - 1)]]);
		__builtin_prefetch(
		        &t->locations[t->events[found[MIN(i + SITES_AHEAD, count - 1)]]
		                              .location]);
		count_any(c, found[i]);
	}
}

/* Candidates are unpredictable, so they are collected first without a branch (non-accesses are
 * tested as if they were accesses). */
static void count_by_scan(struct counting *c)
{
	const struct trace *t = c->holding.t;
	const uint64_t *chosen = c->chosen;
	uint32_t none = (uint32_t)t->variables_count, found[FOUND];

	for (uint64_t from = 0; from < t->events_count; from += FOUND) {
		uint64_t to = MIN(from + FOUND, t->events_count);
		uint32_t count = 0;

		for (uint64_t e = from; e < to; e++) {
			const struct event *x = &t->events[e];

			found[count] = (uint32_t)e;
			count += is_chosen(chosen, MIN(x->target, none)) |
			         ((x->flags & EVENT_WIDE) != 0);
		}
		count_found(c, found, count);
	}
}

/* -- the second pass where the variables' accesses are listed ------------------------------ */

static uint64_t accesses_listed(const struct counting *c)
{
	const struct event_lists *lists = &c->holding.t->index->variable_events;
	uint64_t sum = 0;

	for (uint32_t v = 0; v < c->holding.t->variables_count; v++)
		sum += is_chosen(c->chosen, v) ? event_list_at(lists, v).count : 0;
	return sum;
}

/* In trace order: a bit set of events. */
static void count_by_lists(struct counting *c)
{
	const struct trace *t = c->holding.t;
	uint64_t words = t->events_count / 64 + 1;
	g_autofree uint64_t *wanted = scattered_new0(uint64_t, words);
	uint32_t found[FOUND], count = 0;

	for (uint32_t v = 0; v < t->variables_count; v++) {
		struct event_list list = event_list_at(&t->index->variable_events, v);

		for (uint64_t i = 0; is_chosen(c->chosen, v) && i < list.count; i++)
			wanted[list.items[i] / 64] |= (uint64_t)1 << list.items[i] % 64;
	}
	for (uint64_t i = 0; i < words; i++) {
		for (uint64_t left = wanted[i]; left != 0; left &= left - 1)
			found[count++] = (uint32_t)(i * 64 + (uint64_t)__builtin_ctzll(left));
		if (count + 64 > FOUND || i == words - 1) {
			count_found(c, found, count);
			count = 0;
		}
	}
}

static void count_all(struct counting *c, struct trace *t)
{
	enum { SELDOM = 4 }; /* threshold for a pass over all events instead of lists */

	holding_begin_again(&c->holding);
	trace_need(t, 0, NULL); /* loads an existing cache */
	if ((t->index->parts & INDEX_VARIABLES) &&
	    SELDOM * accesses_listed(c) < t->events_count)
		count_by_lists(c);
	else
		count_by_scan(c);
	count_waiting(&c->table, &c->waiting);
}

/* -- kinds by variable --------------------------------------------------------------------- */

/* Sort the table's kinds by variable. */
static void take_out(struct kinds *k, const struct counting *c)
{
	uint64_t variables = c->holding.t->variables_count, sum = 0;
	g_autofree uint32_t *end = g_new0(uint32_t, variables + 1);

	k->count = c->table.count;
	k->of = g_new(struct kind, k->count + 1);
	for (uint32_t i = 0; i < c->table.size; i++)
		end[c->table.of[i].variable] += c->table.of[i].count > 0;
	for (uint64_t v = 0; v < variables; v++) {
		uint32_t count = end[v];

		end[v] = (uint32_t)sum;
		sum += count;
	}
	for (uint32_t i = 0; i < c->table.size; i++) {
		if (c->table.of[i].count > 0)
			k->of[end[c->table.of[i].variable]++] = c->table.of[i];
	}
}

bool kinds_collect(struct kinds *k, struct trace *t, struct locksets *locksets,
                   const struct progress *progress)
{
	g_autofree struct use *uses = uses_new(t->variables_count);
	struct counting c = { 0 };
	uint64_t count = t->events_count;
	bool done = true;

	*k = (struct kinds){ 0 };
	holding_init(&c.holding, t, locksets);
	for (uint64_t e = 0; e < count && done; e += TICK) {
		done = progress_tick(progress, (double)e / (double)count, "shared variables");
		find_uses(uses, &c.holding, (uint32_t)e, (uint32_t)MIN(e + TICK, count));
	}
	if (done) {
		choose(&c, t, uses);
		table_grow(&c.table);
		if (c.chosen_count > 0)
			count_all(&c, t);
		take_out(k, &c);
	}
	holding_release(&c.holding);
	g_free(c.chosen);
	g_free(c.table.of);
	return done;
}

void kinds_free(struct kinds *k)
{
	g_free(k->of);
}
