/*
 * tree.c - removes redundant accesses (TREE); see tree.h.
 *
 * A context is a number: the lockset and the sequence of sends and receives are interned as
 * chains of nodes, so equal contexts have equal numbers, and an access costs one look-up.
 */
#include "engine/partial/tree.h"
#include "engine/base/hash.h"

#include <string.h>

/* -- a hash table from four numbers to two ----------------------------------------------- */

struct tree_entry {
	uint32_t key[4];
	uint32_t value[2];
	bool used;
};

struct tree_table {
	struct tree_entry *entries;
	uint64_t mask, count;
};

static uint64_t hash_key(const uint32_t key[4])
{
	uint64_t h = hash_pair(key[0], key[1]);
	h = (h ^ h >> 32 ^ ((uint64_t)key[2] << 32 | key[3])) * UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 29;
}

static void table_init(struct tree_table *h)
{
	h->mask = 1023;
	h->count = 0;
	h->entries = g_new0(struct tree_entry, h->mask + 1);
}

static struct tree_entry *table_slot(const struct tree_table *h, const uint32_t key[4])
{
	uint64_t at = hash_key(key) & h->mask;
	while (h->entries[at].used && memcmp(h->entries[at].key, key, 4 * sizeof *key) != 0)
		at = (at + 1) & h->mask;
	return &h->entries[at];
}

static void table_grow(struct tree_table *h)
{
	struct tree_table old = *h;
	h->mask = 2 * old.mask + 1;
	h->entries = g_new0(struct tree_entry, h->mask + 1);
	for (uint64_t i = 0; i <= old.mask; i++)
		if (old.entries[i].used)
			*table_slot(h, old.entries[i].key) = old.entries[i];
	g_free(old.entries);
}

/* The entry of a key; *fresh when it is new. */
static struct tree_entry *table_at(struct tree_table *h, const uint32_t key[4], bool *fresh)
{
	if (2 * h->count > h->mask)
		table_grow(h);
	struct tree_entry *e = table_slot(h, key);
	*fresh = !e->used;
	if (*fresh) {
		e->used = true;
		memcpy(e->key, key, 4 * sizeof *key);
		h->count++;
	}
	return e;
}

/* -- contexts ------------------------------------------------------------------------------ */

/* A lock held by a thread. */
struct tree_lock {
	uint32_t object;
	uint32_t shared;
};

struct thread_context {
	GArray *locks;    /* struct tree_lock, by object */
	uint32_t lockset; /* node; valid unless stale */
	bool stale;
	uint32_t past;  /* TREE_PAPER: node of the sends and receives so far */
	uint32_t both;  /* TREE_PAPER: number of (lockset, past), or NONE: not computed */
	uint32_t epoch; /* TREE_SOUND: number of releases and sends */
};

struct tree_filter_state {
	const struct trace *t;
	enum tree_rule rule;
	struct tree_table nodes; /* (node, kind, operand, 0) -> node */
	struct tree_table
	        kept; /* (location, access, context, context) -> threads with a kept access */
	struct tree_table pairs; /* (lockset, past) -> number */
	struct thread_context *threads;
	uint32_t atomic_writes; /* so far */
};

static uint32_t child_of(struct tree_table *nodes, uint32_t node, uint32_t kind,
                         uint32_t operand)
{
	const uint32_t key[4] = { node, kind, operand, 0 };
	bool fresh;
	struct tree_entry *e = table_at(nodes, key, &fresh);
	if (fresh)
		e->value[0] = (uint32_t)nodes->count; /* 0 is the empty chain */
	return e->value[0];
}

static void take_lock(struct thread_context *c, const struct event *e)
{
	struct tree_lock h = { e->target, e->op == OP_RACQ };
	guint i = 0;
	while (i < c->locks->len &&
	       g_array_index(c->locks, struct tree_lock, i).object < h.object)
		i++;
	g_array_insert_val(c->locks, i, h);
	c->stale = true;
}

static void give_lock(struct thread_context *c, const struct event *e)
{
	for (guint i = 0; i < c->locks->len; i++)
		if (g_array_index(c->locks, struct tree_lock, i).object == e->target) {
			g_array_remove_index(c->locks, i);
			break;
		}
	c->stale = true;
}

static uint32_t lockset_of(struct tree_filter_state *f, struct thread_context *c)
{
	if (!c->stale)
		return c->lockset;
	uint32_t node = 0;
	for (guint i = 0; i < c->locks->len; i++) {
		const struct tree_lock *h = &g_array_index(c->locks, struct tree_lock, i);
		node = child_of(&f->nodes, node, h->shared ? OP_RACQ : OP_ACQ, h->object);
	}
	c->lockset = node;
	c->stale = false;
	return node;
}

/* Does the operation order the thread with another, in either direction? The paper's sends and
 * receives. */
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

/* May an edge of HB or WCP to another thread start here? Releases, sends, atomic writes and
 * fences; and sources of must-orders: allocations, frees, invocations, waits, barrier pairs. An
 * operation too many costs only size. */
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

static void note_event(struct tree_filter_state *f, const struct event *e)
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
	if (op_is_atomic(e->op) && op_writes(e->op))
		f->atomic_writes++;
}

/* -- accesses ----------------------------------------------------------------------------- */

static uint32_t context_of(struct tree_filter_state *f, struct thread_context *c)
{
	if (f->rule == TREE_SOUND)
		return lockset_of(f, c);
	if (c->both != NONE)
		return c->both;
	const uint32_t key[4] = { lockset_of(f, c), c->past, 0, 0 };
	bool fresh;
	struct tree_entry *e = table_at(&f->pairs, key, &fresh);
	if (fresh)
		e->value[0] = (uint32_t)f->pairs.count;
	c->both = e->value[0];
	return c->both;
}

/* TREE_PAPER: is the access redundant? Values: the threads of kept accesses, at most two. */
static bool redundant_by_threads(struct tree_entry *kept, bool fresh, uint32_t thread)
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

/* TREE_SOUND: is the access redundant? The key has the thread, the value the epoch of its last
 * kept access. A plain write of an atomic ends what later reads of it synchronise with: it is
 * none where an atomic was written, by any thread, since the one that it repeats. */
static bool redundant_in_epoch(const struct tree_filter_state *f, struct tree_entry *kept,
                               bool fresh, const struct event *e)
{
	const uint32_t now[2] = { f->threads[e->thread].epoch,
		                  e->op == OP_WRITE ? f->atomic_writes : 0 };
	bool said = !fresh && memcmp(kept->value, now, sizeof now) == 0;
	memcpy(kept->value, now, sizeof now);
	return said;
}

static bool is_redundant(struct tree_filter_state *f, const struct event *e)
{
	struct thread_context *c = &f->threads[e->thread];
	uint32_t kind = e->op | (e->flags & EVENT_WIDE ? 256u : 0);
	uint32_t context = context_of(f, c);
	if (f->rule == TREE_SOUND)
		kind |= (uint32_t)e->thread << 12;
	const uint32_t key[4] = { e->location, e->target, kind, context };
	bool fresh;
	struct tree_entry *kept = table_at(&f->kept, key, &fresh);
	return f->rule == TREE_SOUND ? redundant_in_epoch(f, kept, fresh, e)
	                             : redundant_by_threads(kept, fresh, e->thread);
}

static bool tree_walk(struct tree_filter_state *f, uint64_t *keep, uint64_t *dropped,
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
	struct tree_filter_state f = { .t = t, .rule = rule };
	uint64_t *keep = g_new0(uint64_t, t->events_count / 64 + 1);
	table_init(&f.nodes);
	table_init(&f.kept);
	table_init(&f.pairs);
	f.threads = g_new0(struct thread_context, t->threads_count + 1);
	for (uint64_t i = 0; i < t->threads_count; i++) {
		f.threads[i].both = NONE;
		f.threads[i].locks = g_array_new(FALSE, FALSE, sizeof(struct tree_lock));
	}
	*dropped = 0;
	if (!tree_walk(&f, keep, dropped, progress)) {
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
