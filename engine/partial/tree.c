/*
 * tree.c - leaving out redundant accesses (TREE).  See tree.h.
 *
 * A context is a number: the set of locks held and the sequence of sends and receives so
 * far are interned as chains of nodes, so that equal sets and equal sequences are equal
 * numbers.  An access then is one look-up.
 */
#include "engine/partial/tree.h"
#include "engine/base/hash.h"

#include <string.h>

/* -- a hash table from four numbers to two ------------------------------------------------ */

struct entry {
	uint32_t key[4];
	uint32_t value[2];
	bool used;
};

struct table {
	struct entry *entries;
	uint64_t mask, count;
};

static uint64_t hash_key(const uint32_t key[4])
{
	uint64_t h = hash_pair(key[0], key[1]);
	h = (h ^ h >> 32 ^ ((uint64_t)key[2] << 32 | key[3])) * UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 29;
}

static void table_init(struct table *h)
{
	h->mask = 1023;
	h->count = 0;
	h->entries = g_new0(struct entry, h->mask + 1);
}

static struct entry *table_slot(const struct table *h, const uint32_t key[4])
{
	uint64_t at = hash_key(key) & h->mask;
	while (h->entries[at].used && memcmp(h->entries[at].key, key, 4 * sizeof *key) != 0)
		at = (at + 1) & h->mask;
	return &h->entries[at];
}

static void table_grow(struct table *h)
{
	struct table old = *h;
	h->mask = 2 * old.mask + 1;
	h->entries = g_new0(struct entry, h->mask + 1);
	for (uint64_t i = 0; i <= old.mask; i++)
		if (old.entries[i].used)
			*table_slot(h, old.entries[i].key) = old.entries[i];
	g_free(old.entries);
}

/* The entry of a key; *fresh when it was made now. */
static struct entry *table_at(struct table *h, const uint32_t key[4], bool *fresh)
{
	if (2 * h->count > h->mask)
		table_grow(h);
	struct entry *e = table_slot(h, key);
	*fresh = !e->used;
	if (*fresh) {
		e->used = true;
		memcpy(e->key, key, 4 * sizeof *key);
		h->count++;
	}
	return e;
}

/* -- contexts ------------------------------------------------------------------------------ */

struct held { /* a lock that a thread holds */
	uint32_t object;
	uint32_t shared;
};

struct thread_context {
	GArray *locks;    /* struct held, by object */
	uint32_t lockset; /* node; valid while !stale */
	bool stale;
	uint32_t past;  /* TREE_PAPER: node of the sends and receives so far */
	uint32_t both;  /* TREE_PAPER: number of (lockset, past), or NONE: not asked yet */
	uint32_t epoch; /* TREE_SOUND: releases and sends so far */
};

struct filter {
	const struct trace *t;
	enum tree_rule rule;
	struct table nodes; /* (node, kind, operand, 0) -> node */
	struct table kept;  /* (location, access, context, context) -> threads that kept one */
	struct table pairs; /* (lockset, past) -> number */
	struct thread_context *threads;
};

static uint32_t child_of(struct table *nodes, uint32_t node, uint32_t kind, uint32_t operand)
{
	const uint32_t key[4] = { node, kind, operand, 0 };
	bool fresh;
	struct entry *e = table_at(nodes, key, &fresh);
	if (fresh)
		e->value[0] = (uint32_t)nodes->count; /* 0 is the empty chain */
	return e->value[0];
}

static void take_lock(struct thread_context *c, const struct event *e)
{
	struct held h = { e->target, e->op == OP_RACQ };
	guint i = 0;
	while (i < c->locks->len && g_array_index(c->locks, struct held, i).object < h.object)
		i++;
	g_array_insert_val(c->locks, i, h);
	c->stale = true;
}

static void give_lock(struct thread_context *c, const struct event *e)
{
	for (guint i = 0; i < c->locks->len; i++)
		if (g_array_index(c->locks, struct held, i).object == e->target) {
			g_array_remove_index(c->locks, i);
			break;
		}
	c->stale = true;
}

static uint32_t lockset_of(struct filter *f, struct thread_context *c)
{
	if (!c->stale)
		return c->lockset;
	uint32_t node = 0;
	for (guint i = 0; i < c->locks->len; i++) {
		const struct held *h = &g_array_index(c->locks, struct held, i);
		node = child_of(&f->nodes, node, h->shared ? OP_RACQ : OP_ACQ, h->object);
	}
	c->lockset = node;
	c->stale = false;
	return node;
}

/* Does what the thread does from here on come after something of another thread's, or the
 * other way round?  The paper's sends and receives. */
static bool is_message(enum op op)
{
	switch (op) {
	case OP_FORK:
	case OP_JOIN:
	case OP_WAIT:
	case OP_WAKE:
	case OP_SIGNAL:
	case OP_BROADCAST:
	case OP_ARRIVE:
	case OP_DEPART:
	case OP_POST:
	case OP_TAKE:
	case OP_SND:
	case OP_RCV:
		return true;
	default:
		return false;
	}
}

/*
 * Can an edge of HB or WCP to another thread leave from this event?  Releases, sends, the
 * writing atomics and fences; and what rule 4 and rule 5 make must-edges of: allocations,
 * frees, invocations, a wait, the missing code of barrier pairs.  Too many cost only size.
 */
static bool is_outgoing(enum op op)
{
	switch (op) {
	case OP_REL:
	case OP_RREL:
	case OP_TRYFAIL:
	case OP_TAKETRYFAIL:
	case OP_DESTROY:
	case OP_FENCE:
	case OP_AWRITE:
	case OP_RMW:
	case OP_ALLOC:
	case OP_FREE:
	case OP_ACT:
	case OP_CALL:
	case OP_RET:
	case OP_MISS:
	case OP_BACK:
		return true;
	default:
		return is_message(op) && op != OP_JOIN && op != OP_RCV && op != OP_TAKE &&
		       op != OP_DEPART && op != OP_WAKE;
	}
}

static void note_event(struct filter *f, const struct event *e)
{
	struct thread_context *c = &f->threads[e->thread];
	if (op_acquires(e->op))
		take_lock(c, e);
	else if (op_releases(e->op))
		give_lock(c, e);
	if (f->rule == TREE_PAPER && is_message(e->op))
		c->past = child_of(&f->nodes, c->past, e->op, e->target);
	c->both = NONE;
	if (is_outgoing(e->op))
		c->epoch++;
}

/* -- accesses
 * ---------------------------------------------------------------------------------- */

static uint32_t context_of(struct filter *f, struct thread_context *c)
{
	if (f->rule == TREE_SOUND)
		return lockset_of(f, c);
	if (c->both != NONE)
		return c->both;
	const uint32_t key[4] = { lockset_of(f, c), c->past, 0, 0 };
	bool fresh;
	struct entry *e = table_at(&f->pairs, key, &fresh);
	if (fresh)
		e->value[0] = (uint32_t)f->pairs.count;
	c->both = e->value[0];
	return c->both;
}

/* TREE_PAPER: the threads of kept accesses, at most two (NONE: none). */
static bool said_by_threads(struct entry *kept, bool fresh, uint32_t thread)
{
	if (fresh) {
		kept->value[0] = thread;
		kept->value[1] = NONE;
		return false;
	}
	if (kept->value[0] == thread || kept->value[1] != NONE)
		return true;
	kept->value[1] = thread;
	return false;
}

/* TREE_SOUND: the key holds the thread, the value the epoch of its last kept access. */
static bool said_in_epoch(struct entry *kept, bool fresh, uint32_t epoch)
{
	bool said = !fresh && kept->value[0] == epoch;
	kept->value[0] = epoch;
	return said;
}

static bool is_redundant(struct filter *f, const struct event *e)
{
	struct thread_context *c = &f->threads[e->thread];
	uint32_t kind = e->op | (e->flags & EVENT_WIDE ? 256u : 0);
	uint32_t context = context_of(f, c);
	if (f->rule == TREE_SOUND)
		kind |= (uint32_t)e->thread << 12;
	const uint32_t key[4] = { e->location, e->target, kind, context };
	bool fresh;
	struct entry *kept = table_at(&f->kept, key, &fresh);
	return f->rule == TREE_SOUND ? said_in_epoch(kept, fresh, c->epoch)
	                             : said_by_threads(kept, fresh, e->thread);
}

static bool walk(struct filter *f, uint64_t *keep, uint64_t *dropped,
                 const struct progress *progress)
{
	const struct trace *t = f->t;
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		if ((i & 0xffff) == 0 &&
		    !progress_tick(progress, (double)i / t->events_count, "filtering"))
			return false;
		bool redundant = false;
		if (event_inert(e))
			;
		else if (e->op == OP_READ || e->op == OP_WRITE)
			redundant = is_redundant(f, e);
		else
			note_event(f, e);
		if (redundant)
			++*dropped;
		else
			keep[i / 64] |= UINT64_C(1) << i % 64;
	}
	return true;
}

uint64_t *tree_filter(const struct trace *t, enum tree_rule rule, uint64_t *dropped,
                      const struct progress *progress)
{
	struct filter f = { .t = t, .rule = rule };
	uint64_t *keep = g_new0(uint64_t, t->events_count / 64 + 1);
	table_init(&f.nodes);
	table_init(&f.kept);
	table_init(&f.pairs);
	f.threads = g_new0(struct thread_context, t->threads_count + 1);
	for (uint64_t i = 0; i < t->threads_count; i++) {
		f.threads[i].both = NONE;
		f.threads[i].locks = g_array_new(FALSE, FALSE, sizeof(struct held));
	}
	*dropped = 0;
	if (!walk(&f, keep, dropped, progress)) {
		g_free(keep);
		keep = NULL;
	}
	for (uint64_t i = 0; i < t->threads_count; i++)
		g_array_free(f.threads[i].locks, TRUE);
	g_free(f.threads);
	g_free(f.nodes.entries);
	g_free(f.kept.entries);
	g_free(f.pairs.entries);
	return keep;
}
