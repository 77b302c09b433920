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
	struct change {
		uint32_t event, item;
	} * changes; /* all acquires and releases, for the second pass */
	uint64_t changes_count, changes_capacity;
	uint64_t next; /* in the second pass: of changes */
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
	for (uint64_t u = 0; u < h->t->threads_count; u++) {
		g_free(h->of[u].items);
		g_free(h->of[u].changes);
	}
	g_free(h->of);
	g_free(h->holders);
}

/* Where none of a thread's locks is held any more. */
static void holding_begin_again(struct holding *h)
{
	for (uint64_t u = 0; u < h->t->threads_count; u++) {
		struct held *held = &h->of[u];

		held->count = held->all = held->exclusive = 0;
	}
}

static inline void hold(struct held *held, uint32_t item)
{
	if (G_UNLIKELY(held->count == held->capacity)) {
		held->capacity = MAX(4, 2 * held->capacity);
		held->items = g_renew(uint32_t, held->items, held->capacity);
	}
	held->items[held->count++] = item;
}

static inline void let_go(struct held *held, uint32_t item)
{
	uint32_t i = held->count;

	while (i > 0 && held->items[i - 1] != item)
		i--;
	if (i == 0)
		return;
	held->count--;
	for (; G_UNLIKELY(i <= held->count); i++)
		held->items[i - 1] = held->items[i];
}

/* An event that did not come to the second pass keeps its thread's locks as they are: a change
 * is taken when somebody asks. */
static inline void change(struct held *held, uint32_t item, bool acquires)
{
	if (acquires)
		hold(held, item);
	else
		let_go(held, item);
	held->all = held->exclusive = held->count == 0 ? 0 : NONE;
}

static void keep_change(struct held *held, uint32_t event, uint32_t item)
{
	if (held->changes_count == held->changes_capacity) {
		held->changes_capacity = MAX(256, 2 * held->changes_capacity);
		held->changes = g_renew(struct change, held->changes, held->changes_capacity);
	}
	held->changes[held->changes_count++] = (struct change){ event, item };
}

static void follow(struct holding *h, const struct event *x)
{
	struct held *held = &h->of[x->thread];
	uint32_t *holder = &h->holders[FIRST_LOCK + x->target], own = x->thread + 1;
	uint32_t item = x->target * 2 + (x->op == OP_ACQ || x->op == OP_REL);

	keep_change(held, (uint32_t)(x - h->t->events), item);
	change(held, item, op_acquires(x->op));
	if (x->op == OP_ACQ)
		*holder = own;
	else if (x->op == OP_REL && *holder == own)
		*holder = 0;
}

/* In the second pass: what the thread held just before the event. */
static void catch_up(struct holding *h, uint32_t thread, uint32_t event)
{
	struct held *held = &h->of[thread];

	for (; held->next < held->changes_count; held->next++) {
		struct change at = held->changes[held->next];

		if (at.event > event)
			break;
		change(held, at.item, op_acquires(h->t->events[at.event].op));
	}
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

/* -- the first pass -------------------------------------------------------------------------
 */

enum { MORE = UINT16_MAX }; /* than one thread */
/* Of a variable; all zero: none.  What is all ones where a question has to be asked, and 0
 * where its answer does not matter any more, is so for the sake of the processor, which
 * foresees no branch here. */
struct use {
	uint32_t lock;    /* a place in holders: what all accesses so far hold exclusively */
	uint32_t guarded; /* mask: there is such a lock, or nobody knows yet */
	uint32_t count;
	uint16_t thread; /* of all accesses so far, or MORE */
	int8_t alone;    /* mask: there is one thread */
	uint8_t reads;   /* bit: no access so far has written */
};
_Static_assert(sizeof(struct use) == 16, "four a cache line");
struct uses {
	struct use *of;   /* by variable; for a new one the lock is UNUSED, all is asked */
	uint32_t *common; /* by variable: the set that all accesses so far hold exclusively */
};

static inline bool tells(const struct use *use, const uint32_t *holders, uint32_t thread,
                         uint32_t writes)
{
	uint32_t other = (thread ^ use->thread) & (uint32_t)use->alone;

	return ((holders[use->lock] ^ (thread + 1)) & use->guarded) | other |
	       (writes & use->reads);
}

static __attribute__((noinline)) void note(struct holding *h, const struct uses *uses,
                                           uint32_t variable, uint32_t thread, bool writes)
{
	struct use *use = &uses->of[variable];
	uint32_t *common = &uses->common[variable];
	uint32_t exclusive = set_exclusive(h, thread), single;

	if (use->lock == UNUSED) {
		use->thread = (uint16_t)thread;
		*common = exclusive;
	}
	if (use->thread != thread)
		use->thread = MORE;
	use->alone = use->thread == MORE ? 0 : -1;
	use->reads &= !writes;
	if (*common != exclusive && *common != 0)
		*common = lockset_exclusive(h->locksets, *common, exclusive);
	single = lockset_single(h->locksets, *common);
	use->guarded = *common == 0 ? 0 : UINT32_MAX;
	use->lock = *common == 0 ? NO_LOCK : single == NONE ? h->several : FIRST_LOCK + single;
}

/* What is no plain access of one variable. */
static __attribute__((noinline)) void use_other(const struct uses *uses, struct holding *h,
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
		uses->of[v].count++;
		note(h, uses, v, x->thread, op_writes(x->op));
	}
}

static void find_uses(const struct uses *uses, struct holding *h, uint32_t from, uint32_t to)
{
	const struct event *x = h->t->events + from, *end = h->t->events + to;
	const uint32_t *holders = h->holders;
	struct use *of = uses->of;
	uint32_t ahead = to + AHEAD <= h->t->events_count ? AHEAD : 0;

	for (; x < end; x++) {
		struct use *use = &of[x->target];

		/* (Of what is no access the address is wrong, which is harmless.) */
		__builtin_prefetch(&of[x[ahead].target], 1);
		if (G_UNLIKELY(!event_simple(x))) {
			use_other(uses, h, x);
			continue;
		}
		use->count++;
		if (G_UNLIKELY(tells(use, holders, x->thread, x->op)))
			note(h, uses, x->target, x->thread, x->op == OP_WRITE);
	}
}

/* -- the second pass ------------------------------------------------------------------------
 */

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
static void choose(struct collecting *c, const struct trace *t, const struct use *of)
{
	struct accesses *a = c->all;
	uint64_t items = 0;

	c->chosen = g_new0(uint64_t, t->variables_count / 64 + 1);
	c->index = g_new(uint32_t, t->variables_count + 1);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (of[v].thread != MORE || of[v].reads || of[v].lock != NO_LOCK)
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
		items += of[v].count;
	}
	a->start[a->count] = items;
	a->items = scattered_new(struct access, items + 1);
	c->next = g_memdup2(a->start, (a->count + 1) * sizeof(uint64_t));
}

static void collect(struct collecting *c, const struct event *x, uint32_t variable)
{
	const struct trace *t = c->holding.t;

	catch_up(&c->holding, x->thread, (uint32_t)(x - t->events));
	c->all->items[c->next[c->index[variable]]++] =
	        (struct access){ .event = (uint32_t)(x - t->events),
		                 .lockset = set_held(&c->holding, x->thread),
		                 .site = t->locations[x->location].site,
		                 .thread = x->thread,
		                 .writes = op_writes(x->op),
		                 .atomic = op_is_atomic(x->op) };
}

static __attribute__((noinline)) void collect_any(struct collecting *c, const struct event *x)
{
	struct wide run;

	if (event_inert(x) || !op_is_access(x->op))
		return;
	run = event_variables(c->holding.t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (is_chosen(c->chosen, v))
			collect(c, x, v);
	}
}

/* (What is no access is asked as if it were one, so that there is one branch only.) */
static void collect_all(struct collecting *c)
{
	const struct trace *t = c->holding.t;
	const uint64_t *chosen = c->chosen;
	uint32_t none = (uint32_t)t->variables_count;

	for (const struct event *x = t->events; x < t->events + t->events_count; x++) {
		bool wide = x->flags & EVENT_WIDE;

		if (G_UNLIKELY(is_chosen(chosen, MIN(x->target, none)) | wide))
			collect_any(c, x);
	}
}

static struct uses uses_new(uint64_t variables)
{
	struct uses uses = { scattered_new(struct use, variables + 1),
		             g_new(uint32_t, variables + 1) };

	for (uint64_t v = 0; v <= variables; v++)
		uses.of[v] = (struct use){ .guarded = UINT32_MAX, .alone = -1, .reads = 1 };
	return uses;
}

bool accesses_collect(struct accesses *a, const struct trace *t, struct locksets *locksets,
                      const struct progress *progress)
{
	struct uses uses = uses_new(t->variables_count);
	struct collecting c = { .all = a };
	uint64_t count = t->events_count;
	bool done = true;

	*a = (struct accesses){ 0 };
	holding_init(&c.holding, t, locksets);
	for (uint64_t e = 0; e < count && done; e += TICK) {
		done = progress_tick(progress, (double)e / (double)count, "shared variables");
		find_uses(&uses, &c.holding, (uint32_t)e, (uint32_t)MIN(e + TICK, count));
	}
	if (done) {
		choose(&c, t, uses.of);
		holding_begin_again(&c.holding);
		collect_all(&c);
	}
	holding_release(&c.holding);
	g_free(uses.of);
	g_free(uses.common);
	g_free(c.chosen);
	g_free(c.index);
	g_free(c.next);
	return done;
}
