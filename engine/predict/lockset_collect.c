/*
 * lockset_collect.c - the accesses of the variables that no lock guards, in two passes: the
 * first finds these variables, the second collects.
 *
 * Most accesses tell nothing new about their variable: another one of its threads, under its
 * lock.  Whether an access is such a one is asked of sixteen bytes, and of the lock who holds
 * it.  The set of all locks that a thread holds is looked up only when somebody has to know.
 */
#include "engine/predict/accesses.h"

#include "engine/base/scattered.h"

#include <string.h>

enum { AHEAD = 32, TICK = 1 << 20 };

/* -- who holds what ----------------------------------------------------------------------- */

struct held {            /* by a thread */
	uint32_t *items; /* as lockset_with has them, in the order of their acquires */
	uint32_t count, capacity;
	uint32_t all, exclusive; /* the same as sets; NONE: nobody has asked */
};
/* Places in holders: what is no lock, then the locks, then what is more than one. */
enum { UNUSED, NO_LOCK, FIRST_LOCK };
struct holding {
	const struct trace *t;
	struct locksets *locksets;
	struct held *of; /* by thread */
	/* One more than a thread that holds the lock exclusively for sure; 0: ask its set. */
	uint32_t *holders;
	uint32_t several;
};

static void holding_init(struct holding *h, const struct trace *t, struct locksets *locksets)
{
	*h = (struct holding){ .t = t, .locksets = locksets };
	h->of = g_new0(struct held, t->threads_count + 1);
	h->several = FIRST_LOCK + (uint32_t)t->objects_count;
	h->holders = g_new0(uint32_t, h->several + 1);
}

static void holding_release(struct holding *h)
{
	for (uint64_t u = 0; u < h->t->threads_count; u++)
		g_free(h->of[u].items);
	g_free(h->of);
	g_free(h->holders);
}

static void hold(struct held *held, uint32_t item)
{
	if (held->count == held->capacity) {
		held->capacity = MAX(4, 2 * held->capacity);
		held->items = g_renew(uint32_t, held->items, held->capacity);
	}
	held->items[held->count++] = item;
}

static void let_go(struct held *held, uint32_t item)
{
	uint32_t i = held->count;

	while (i > 0 && held->items[i - 1] != item)
		i--;
	if (i == 0)
		return;
	held->count--;
	memmove(held->items + i - 1, held->items + i, (held->count - i + 1) * sizeof(uint32_t));
}

static void follow(struct holding *h, const struct event *x)
{
	struct held *held = &h->of[x->thread];
	uint32_t *holder = &h->holders[FIRST_LOCK + x->target], own = x->thread + 1;
	bool exclusive = x->op == OP_ACQ || x->op == OP_REL;
	uint32_t item = x->target * 2 + exclusive;

	if (op_acquires(x->op))
		hold(held, item);
	else
		let_go(held, item);
	if (x->op == OP_ACQ)
		*holder = own;
	else if (x->op == OP_REL && *holder == own)
		*holder = 0;
	held->all = held->exclusive = held->count == 0 ? 0 : NONE;
}

static uint32_t set_held(struct holding *h, uint32_t thread)
{
	struct held *held = &h->of[thread];

	if (held->all == NONE) {
		held->all = 0;
		for (uint32_t i = 0; i < held->count; i++)
			held->all = lockset_with(h->locksets, held->all, held->items[i]);
	}
	return held->all;
}

static uint32_t set_exclusive(struct holding *h, uint32_t thread)
{
	struct held *held = &h->of[thread];
	uint32_t all = set_held(h, thread);

	if (held->exclusive == NONE)
		held->exclusive = lockset_exclusive(h->locksets, all, all);
	return held->exclusive;
}

/* -- the first pass ------------------------------------------------------------------------- */

enum { MORE = UINT16_MAX }; /* than one thread */
struct use {                /* of a variable; all zero: none */
	uint32_t lock;   /* a place in holders, for what `common` is */
	uint32_t common; /* the locks that all accesses so far hold exclusively */
	uint32_t count;
	uint16_t thread; /* of all accesses so far, or MORE */
	bool writes;
};
_Static_assert(sizeof(struct use) == 16, "four a cache line");

static inline bool tells(const struct use *use, const uint32_t *holders, uint32_t thread,
                         bool writes)
{
	bool guarded = (holders[use->lock] == thread + 1) | (use->lock == NO_LOCK);
	bool known = (use->thread == thread) | (use->thread == MORE);

	return !(guarded & known & (writes <= use->writes));
}

static __attribute__((noinline)) void note(struct holding *h, struct use *use, uint32_t thread,
                                           bool writes)
{
	uint32_t exclusive = set_exclusive(h, thread), single;

	if (use->lock == UNUSED) {
		use->thread = (uint16_t)thread;
		use->common = exclusive;
	}
	if (use->thread != thread)
		use->thread = MORE;
	use->writes |= writes;
	if (use->common != exclusive && use->common != 0)
		use->common = lockset_exclusive(h->locksets, use->common, exclusive);
	single = lockset_single(h->locksets, use->common);
	use->lock = use->common == 0 ? NO_LOCK
	            : single == NONE ? h->several
	                             : FIRST_LOCK + single;
}

/* What is no plain access of one variable. */
static __attribute__((noinline)) void use_other(struct use *uses, struct holding *h,
                                                const struct event *x)
{
	struct wide run;

	if (event_inert(x))
		return;
	if (op_acquires(x->op) || op_releases(x->op))
		follow(h, x);
	if (!op_is_access(x->op))
		return;
	run = event_variables(h->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uses[v].count++;
		note(h, &uses[v], x->thread, op_writes(x->op));
	}
}

static void find_uses(struct use *uses, struct holding *h, uint32_t from, uint32_t to)
{
	const struct event *x = h->t->events + from, *end = h->t->events + to;
	const uint32_t *holders = h->holders;
	uint32_t ahead = to + AHEAD <= h->t->events_count ? AHEAD : 0;

	for (; x < end; x++) {
		struct use *use = &uses[x->target];

		/* (Of what is no access the address is wrong, which is harmless.) */
		__builtin_prefetch(&uses[x[ahead].target], 1);
		if (G_UNLIKELY(!event_simple(x))) {
			use_other(uses, h, x);
			continue;
		}
		use->count++;
		if (G_UNLIKELY(tells(use, holders, x->thread, x->op == OP_WRITE)))
			note(h, use, x->thread, x->op == OP_WRITE);
	}
}

/* -- the second pass ------------------------------------------------------------------------ */

struct collecting {
	struct accesses *all;
	struct holding holding;
	uint64_t *chosen; /* a bit for each variable */
	uint32_t *index;  /* by variable, of those chosen */
	uint64_t *next;   /* by index: where its next access goes */
};

static inline bool is_chosen(const uint64_t *chosen, uint32_t variable)
{
	return chosen[variable / 64] >> variable % 64 & 1;
}

/* Which variables, and where their accesses go. */
static void choose(struct collecting *c, const struct trace *t, const struct use *uses)
{
	struct accesses *a = c->all;
	uint64_t items = 0;

	c->chosen = g_new0(uint64_t, t->variables_count / 64 + 1);
	c->index = g_new(uint32_t, t->variables_count + 1);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (uses[v].thread != MORE || !uses[v].writes || uses[v].lock != NO_LOCK)
			continue;
		c->chosen[v / 64] |= (uint64_t)1 << v % 64;
		c->index[v] = a->count++;
	}
	a->variables = g_new(uint32_t, a->count + 1);
	a->start = g_new(uint64_t, a->count + 1);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (!is_chosen(c->chosen, v))
			continue;
		a->variables[c->index[v]] = v;
		a->start[c->index[v]] = items;
		items += uses[v].count;
	}
	a->start[a->count] = items;
	a->items = scattered_new(struct access, items + 1);
	c->next = g_memdup2(a->start, (a->count + 1) * sizeof(uint64_t));
}

static __attribute__((noinline)) void collect(struct collecting *c, const struct event *x,
                                              uint32_t variable)
{
	const struct trace *t = c->holding.t;

	c->all->items[c->next[c->index[variable]]++] =
	        (struct access){ .event = (uint32_t)(x - t->events),
		                 .lockset = set_held(&c->holding, x->thread),
		                 .site = t->locations[x->location].site,
		                 .thread = x->thread,
		                 .writes = op_writes(x->op),
		                 .atomic = op_is_atomic(x->op) };
}

/* What is no plain access of one variable. */
static __attribute__((noinline)) void collect_other(struct collecting *c, const struct event *x)
{
	struct wide run;

	if (event_inert(x))
		return;
	if (op_acquires(x->op) || op_releases(x->op))
		follow(&c->holding, x);
	if (!op_is_access(x->op))
		return;
	run = event_variables(c->holding.t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (is_chosen(c->chosen, v))
			collect(c, x, v);
	}
}

static void collect_all(struct collecting *c)
{
	const struct trace *t = c->holding.t;
	const uint64_t *chosen = c->chosen;

	for (const struct event *x = t->events; x < t->events + t->events_count; x++) {
		if (G_UNLIKELY(!event_simple(x)))
			collect_other(c, x);
		else if (is_chosen(chosen, x->target))
			collect(c, x, x->target);
	}
}

bool accesses_collect(struct accesses *a, const struct trace *t, struct locksets *locksets,
                      const struct progress *progress)
{
	struct use *uses = scattered_new0(struct use, t->variables_count + 1);
	struct collecting c = { .all = a };
	uint64_t count = t->events_count;
	bool done = true;

	*a = (struct accesses){ 0 };
	holding_init(&c.holding, t, locksets);
	for (uint64_t e = 0; e < count && done; e += TICK) {
		done = progress_tick(progress, (double)e / (double)count, "shared variables");
		find_uses(uses, &c.holding, (uint32_t)e, (uint32_t)MIN(e + TICK, count));
	}
	holding_release(&c.holding);
	if (done) {
		choose(&c, t, uses);
		holding_init(&c.holding, t, locksets);
		collect_all(&c);
		holding_release(&c.holding);
	}
	g_free(uses);
	g_free(c.chosen);
	g_free(c.index);
	g_free(c.next);
	return done;
}
