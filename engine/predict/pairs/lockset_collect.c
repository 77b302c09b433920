/*
 * lockset_collect.c - see lockset_kinds.h: one pass finds the variables without a guarding
 * lock, and counts the accesses of each from the one on that leaves it without; a second pass,
 * over the beginning of the trace, counts those before.
 *
 * Most accesses change nothing: another one by the variable's thread, or under its lock. This
 * is decided from sixteen bytes and the lock's holder. A thread's complete lock set is computed
 * on demand only.
 */
#include "engine/predict/pairs/lockset_kinds.h"

#include "engine/base/hash.h"
#include "engine/base/scattered.h"
#include "engine/trace/own_site.h"
#include "engine/trace/unexplained.h"

#include <string.h>

enum { AHEAD = 32, TICK = 1 << 20 };

/* -- locks held ---------------------------------------------------------------------------- */

/* An acquire or release: an item of lockset_with, times two, plus LET_GO for a release. */
typedef uint32_t change;
enum { LET_GO = 1, ITEM = 2 };
/* A thread's locks. */
struct held {
	change *changes; /* those not yet in `all` */
	uint32_t count, capacity;
	uint32_t depth; /* locks held after all changes */
	uint32_t all;
	uint32_t exclusive, of; /* exclusive: the exclusively held part of set `of` */
};
/* Indices in holders: none, counted accesses (both: no thread), no lock, then locks, then
 * several. */
enum { UNUSED, COUNTED, NO_LOCK, FIRST_LOCK };
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
		h->of[u].count = h->of[u].depth = h->of[u].all = 0;
}

/* A thread that holds nothing has no changes: few are kept. */
static inline void keep_change(struct held *held, uint32_t item, bool let_go)
{
	held->depth += let_go ? -1u : 1;
	if (held->depth == 0) {
		held->count = held->all = 0;
		return;
	}
	if (G_UNLIKELY(held->count == held->capacity)) {
		held->capacity = MAX(16, 2 * held->capacity);
		held->changes = g_renew(change, held->changes, held->capacity);
	}
	held->changes[held->count++] = item * ITEM + (let_go ? LET_GO : 0);
}

/* A lock operation that is not inert. */
static inline void follow(struct holding *h, const struct event *x)
{
	uint32_t *holder = &h->holders[FIRST_LOCK + x->target], own = x->thread + 1;
	bool exclusive = x->op == OP_ACQ || x->op == OP_REL;

	keep_change(&h->of[x->thread], x->target * 2 + exclusive, op_releases(x->op));
	if (x->op == OP_ACQ)
		*holder = own;
	else if (x->op == OP_REL && *holder == own)
		*holder = 0;
}

/* The lock set of a thread at the current event. */
static uint32_t set_held(struct holding *h, uint32_t thread)
{
	struct held *held = &h->of[thread];

	for (uint32_t i = 0; i < held->count; i++) {
		change what = held->changes[i];

		held->all = what & LET_GO ? lockset_without(h->locksets, held->all, what / ITEM)
		                          : lockset_with(h->locksets, held->all, what / ITEM);
	}
	held->count = 0;
	return held->all;
}

static uint32_t set_exclusive(struct holding *h, uint32_t thread)
{
	struct held *held = &h->of[thread];
	uint32_t all = set_held(h, thread);

	if (held->of != all) {
		held->of = all;
		held->exclusive = lockset_exclusive(h->locksets, all, all);
	}
	return held->exclusive;
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

	hash = (hash ^ ((uint64_t)k->lockset << 32 | k->thread_kind)) * 0xff51afd7ed558ccdu;
	return hash_top(hash);
}

static inline struct kind *kind_at(const struct table *table, const struct kind *k,
                                   uint32_t hash)
{
	uint32_t at = hash & (table->size - 1);

	for (; table->of[at].count > 0; at = (at + 1) & (table->size - 1)) {
		const struct kind *old = &table->of[at];

		if (old->variable == k->variable && old->site == k->site &&
		    old->lockset == k->lockset && old->thread_kind == k->thread_kind)
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

	known->first = MIN(known->first, k->first);
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

/* -- an access that is counted ------------------------------------------------------------- */

enum { MORE = (1 << 20) - 1 }; /* more than one thread */
/* State of a variable; zero: none. Masks are all ones when a test applies and 0 when its result
 * no longer matters, so that the loop has no branches. */
struct use {
	uint32_t lock;    /* index in holders: held exclusively by all accesses so far */
	uint32_t guarded; /* mask: all accesses so far hold a common lock, none came yet, or
	                   * they are counted */
	union {
		uint32_t common; /* the set held exclusively by all accesses so far */
		uint32_t since;  /* lock COUNTED: accesses are counted from this event on */
	};
	uint32_t thread : 20; /* of all accesses so far, or MORE */
	uint32_t reads : 4;   /* bit: no access so far has written */
	int32_t alone : 8;    /* mask: a single thread */
};
_Static_assert(sizeof(struct use) == 16, "four a cache line");

struct counting {
	struct holding holding;
	struct use *uses; /* by variable */
	struct table table;
	struct waiting waiting;
	uint32_t last; /* the latest `since` of a variable: not all accesses before it are
	                * counted yet */
	bool any;      /* some variable has a `since` */
};

static void count(struct counting *c, const struct event *x, uint32_t variable)
{
	const struct trace *t = c->holding.t;
	struct kind k = { .variable = variable,
		          .site = own_site(t, (uint32_t)(x - t->events)),
		          .lockset = set_held(&c->holding, x->thread),
		          .thread_kind = x->thread * KIND_THREAD +
		                         (op_writes(x->op) ? KIND_WRITES : 0) +
		                         (op_is_atomic(x->op) ? KIND_ATOMIC : 0),
		          .first = (uint32_t)(x - t->events),
		          .count = 1 };

	count_access(&c->table, &c->waiting, &k);
}

/* -- the first pass ------------------------------------------------------------------------ */

static inline bool tells(const struct use *use, const uint32_t *holders, uint32_t thread,
                         uint32_t writes)
{
	uint32_t other = (thread ^ use->thread) & (uint32_t)use->alone;

	return ((holders[use->lock] ^ (thread + 1)) & use->guarded) | other |
	       (writes & use->reads);
}

/* From this access on the variable has no guarding lock. */
static void begin_counting(struct counting *c, struct use *use, uint32_t event)
{
	use->lock = COUNTED;
	use->guarded = UINT32_MAX;
	use->since = c->last = event;
	c->any = true;
}

static void change_use(struct counting *c, struct use *use, const struct event *x)
{
	struct holding *h = &c->holding;
	uint32_t exclusive = set_exclusive(h, x->thread), single;

	if (use->lock == UNUSED) {
		use->thread = x->thread;
		use->common = exclusive;
	}
	if (use->thread != x->thread)
		use->thread = MORE;
	use->alone = use->thread == MORE ? 0 : -1;
	use->reads &= !op_writes(x->op);
	if (use->common != exclusive && use->common != 0)
		use->common = exclusive == 0
		                      ? 0
		                      : lockset_exclusive(h->locksets, use->common, exclusive);
	use->guarded = use->common == 0 ? 0 : UINT32_MAX;
	use->lock = NO_LOCK;
	if (use->common != 0) {
		single = lockset_single(h->locksets, use->common);
		use->lock = single == NONE ? h->several : FIRST_LOCK + single;
	} else if (use->thread == MORE && !use->reads) {
		begin_counting(c, use, (uint32_t)(x - h->t->events));
	}
}

static __attribute__((noinline)) void note(struct counting *c, const struct event *x,
                                           uint32_t variable)
{
	struct use *use = &c->uses[variable];

	if (use->lock != COUNTED)
		change_use(c, use, x);
	if (use->lock == COUNTED)
		count(c, x, variable);
}

/* An event other than a plain access of one variable. */
static __attribute__((noinline)) void use_other(struct counting *c, const struct event *x)
{
	if (event_inert(x))
		return;
	if (op_acquires(x->op) || op_releases(x->op))
		follow(&c->holding, x);
	if (!op_is_access(x->op))
		return;
	struct wide run = event_variables(c->holding.t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		note(c, x, v);
}

static void find_uses(struct counting *c, uint64_t from, uint64_t to)
{
	const struct trace *t = c->holding.t;
	const struct event *x = t->events + from, *end = t->events + to;
	const uint32_t *holders = c->holding.holders;
	const struct use *of = c->uses;
	uint32_t ahead = to + AHEAD <= t->events_count ? AHEAD : 0;

	for (; x < end; x++) {
		/* (For non-accesses the address is wrong, but harmless.) */
		__builtin_prefetch(&of[x[ahead].target]);
		if (G_UNLIKELY(!event_simple(x)))
			use_other(c, x);
		else if (G_UNLIKELY(tells(&of[x->target], holders, x->thread, x->op)))
			note(c, x, x->target);
	}
}

static struct use *uses_new(uint64_t variables)
{
	struct use *of = scattered_new(struct use, variables + 1);

	for (uint64_t v = 0; v <= variables; v++)
		of[v] = (struct use){ .guarded = UINT32_MAX, .alone = -1, .reads = 1 };
	return of;
}

/* -- the second pass ----------------------------------------------------------------------- */

/* A variable's accesses before those that the first pass has counted. */
static inline bool is_before(const struct counting *c, uint32_t variable, uint64_t event)
{
	return c->uses[variable].lock == COUNTED && event < c->uses[variable].since;
}

static __attribute__((noinline)) void count_early(struct counting *c, const struct event *x,
                                                  uint64_t event)
{
	if (event_inert(x))
		return;
	if (op_acquires(x->op) || op_releases(x->op))
		follow(&c->holding, x);
	if (!op_is_access(x->op))
		return;
	struct wide run = event_variables(c->holding.t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (is_before(c, v, event))
			count(c, x, v);
	}
}

static void count_before(struct counting *c, uint64_t from, uint64_t to)
{
	const struct event *events = c->holding.t->events;
	uint64_t ahead = to + AHEAD <= c->holding.t->events_count ? AHEAD : 0;

	for (uint64_t e = from; e < to; e++) {
		const struct event *x = &events[e];

		__builtin_prefetch(&c->uses[x[ahead].target]);
		if (!event_simple(x) || is_before(c, x->target, e))
			count_early(c, x, e);
	}
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

/* One pass in parts, for the progress and for `beside` (or NULL); false when cancelled. */
typedef void part(struct counting *c, uint64_t from, uint64_t to);
static bool pass(struct counting *c, part *run, uint64_t end, struct unexplained_search *beside,
                 const struct progress *progress)
{
	uint64_t length = beside != NULL ? UNEXPLAINED_RUN : TICK;
	bool done = true;

	for (uint64_t e = 0; e < end && done; e += length) {
		uint64_t to = MIN(e + length, end);

		if (e % TICK == 0)
			done = progress_tick(progress, (double)e / (double)end,
			                     "shared variables");
		run(c, e, to);
		unexplained_see(beside, (uint32_t)e, (uint32_t)to);
	}
	return done;
}

bool kinds_collect(struct kinds *k, struct trace *t, struct locksets *locksets,
                   const struct progress *progress)
{
	struct counting c = { 0 };

	*k = (struct kinds){ 0 };
	holding_init(&c.holding, t, locksets);
	c.uses = uses_new(t->variables_count);
	table_grow(&c.table);
	struct unexplained_search *beside = unexplained_begin(t);
	bool done = pass(&c, find_uses, t->events_count, beside, progress);
	unexplained_end(beside);
	if (done && c.any) {
		holding_begin_again(&c.holding);
		done = pass(&c, count_before, c.last, NULL, progress);
	}
	count_waiting(&c.table, &c.waiting);
	if (done)
		take_out(k, &c);
	holding_release(&c.holding);
	g_free(c.uses);
	g_free(c.table.of);
	return done;
}

void kinds_free(struct kinds *k)
{
	g_free(k->of);
}
