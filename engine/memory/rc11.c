/*
 * rc11.c - RC11's consistency (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential
 * consistency in C/C++11, PLDI 2017), with sb for po and rb for fr.
 *
 * Happens-before is kept as the set of predecessors of each event, made in one pass along
 * sb and rf. eco is not kept: whether it relates two events of a location follows from the
 * places in mo of the stores that they are, or read.
 */
#include "engine/memory/models_private.h"

#include <string.h>

/* Sets of events: rows of bits. */
struct relation {
	uint64_t *bits;
	uint32_t words, rows;
};

static struct relation relation_new(uint32_t rows)
{
	uint32_t words = (rows + 63) / 64;
	return (struct relation){ g_new0(uint64_t, (size_t)rows * words + 1), words, rows };
}

static uint64_t *row(const struct relation *r, uint32_t i)
{
	return r->bits + (size_t)i * r->words;
}

static bool has(const struct relation *r, uint32_t from, uint32_t to)
{
	return row(r, from)[to / 64] >> (to % 64) & 1;
}

static void add(struct relation *r, uint32_t from, uint32_t to)
{
	row(r, from)[to / 64] |= 1ull << (to % 64);
}

static void join(uint64_t *into, const uint64_t *from, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		into[i] |= from[i];
}

/* Run the body with `i` each member of the set. */
#define EACH_MEMBER(i, set, words) \
	for (uint32_t word_ = 0; word_ < (words); word_++) \
		for (uint64_t bits_ = (set)[word_]; bits_ != 0; bits_ &= bits_ - 1) \
			for (uint32_t once_ = 1, \
			              i = word_ * 64 + (uint32_t)__builtin_ctzll(bits_); \
			     once_; once_ = 0)

struct rc11 {
	const struct memory_graph *g;
	struct relation before; /* happens-before: by event its predecessors */
	struct relation after;  /* and its successors; empty unless psc is computed */
	/* By store: the events that happen before an acquiring event that reads it: the heads
	 * of release sequences that it is in, with their past. */
	struct relation released;
	/* By store: as `released`, for sequences that continue through its thread alone. */
	struct relation own;
	struct relation
	        read; /* by thread: of the stores that relaxed loads read, for acquire fences */
	uint32_t *rank;       /* by event: place in mo of the store that it is or reads */
	uint32_t *fence;      /* by thread: its last release fence, or NONE */
	uint32_t *last_store; /* by thread and location */
};

/* ---- happens-before ---- */

static void come_after(struct rc11 *m, uint64_t *past, uint32_t event)
{
	if (event == NONE)
		return;
	join(past, row(&m->before, event), m->before.words);
	past[event / 64] |= 1ull << (event % 64);
}

static void add_store(struct rc11 *m, uint32_t i)
{
	const struct memory_event *e = &m->g->events[i];
	uint64_t *own = row(&m->own, i);
	uint32_t *last = &m->last_store[(size_t)e->thread * m->g->locations + e->location];
	if (*last != NONE)
		join(own, row(&m->own, *last), m->own.words);
	if (memory_releases(e))
		come_after(m, own, i);
	if (!(e->flags & MEMORY_LIBRARY)) /* fences are for atomics */
		come_after(m, own, m->fence[e->thread]);
	*last = i;
	join(row(&m->released, i), own, m->own.words);
	if (e->flags & MEMORY_EXCLUSIVE)
		join(row(&m->released, i), row(&m->released, m->g->events[e->po_prev].rf),
		     m->own.words);
}

/* The last write-unlock, which a read-lock acquires: the only store of the lock that is no
 * update. */
static uint32_t write_unlock(const struct memory_graph *g, uint32_t store)
{
	while (g->events[store].flags & MEMORY_EXCLUSIVE)
		store = g->events[g->events[store].po_prev].rf;
	return store;
}

static void add_load(struct rc11 *m, uint32_t i, uint64_t *past)
{
	const struct memory_event *e = &m->g->events[i];
	if (!memory_acquires(e) && (e->flags & MEMORY_LIBRARY))
		return;
	uint32_t from = e->flags & MEMORY_SHARED ? write_unlock(m->g, e->rf) : e->rf;
	join(memory_acquires(e) ? past : row(&m->read, e->thread), row(&m->released, from),
	     m->before.words);
}

static void add_event(struct rc11 *m, uint32_t i)
{
	const struct memory_event *e = &m->g->events[i];
	uint64_t *past = row(&m->before, i);
	for (uint32_t l = 0; l < m->g->locations; l++)
		if (m->g->init[l] != NONE)
			past[m->g->init[l] / 64] |= 1ull << (m->g->init[l] % 64);
	come_after(m, past, e->po_prev);
	switch (e->kind) {
	case MEMORY_BEGIN:
	case MEMORY_JOIN:
		come_after(m, past, e->rf);
		break;
	case MEMORY_DEPART:
		for (uint32_t a = 0; a < m->g->count; a++)
			if (memory_same_round(&m->g->events[a], e))
				come_after(m, past, a);
		break;
	case MEMORY_LOAD:
		add_load(m, i, past);
		break;
	case MEMORY_WAKE:
		if (memory_acquires(e))
			join(past, row(&m->released, e->rf), m->before.words);
		break;
	case MEMORY_FENCE:
		if (memory_acquires(e))
			join(past, row(&m->read, e->thread), m->before.words);
		if (memory_releases(e))
			m->fence[e->thread] = i;
		break;
	case MEMORY_STORE:
		add_store(m, i);
		break;
	default:
		break;
	}
}

/* Does the event wait for one that is not done: an arrival of its departure's round, or the
 * store it reads? */
static bool is_early(const struct memory_graph *g, uint32_t event, const uint8_t *done)
{
	const struct memory_event *e = &g->events[event];
	for (uint32_t a = 0; e->kind == MEMORY_DEPART && a < g->count; a++)
		if (memory_same_round(&g->events[a], e) && !done[a])
			return true;
	return e->rf != NONE && !done[e->rf];
}

/* Visits each event after its predecessors by sb and rf; false: they have a cycle. */
static bool make_happens_before(struct rc11 *m)
{
	const struct memory_graph *g = m->g;
	uint32_t *next = g_new(uint32_t, g->threads + 1), added = 0;
	uint8_t *done = g_new0(uint8_t, g->count + 1);
	bool progress = true;
	for (uint32_t i = 0; i < g->count; i++)
		done[i] = g->events[i].kind == MEMORY_INIT;
	if (g->threads > 0)
		memcpy(next, g->first, g->threads * sizeof *next);
	while (progress) {
		progress = false;
		for (uint32_t t = 0; t < g->threads; t++) {
			for (uint32_t i; (i = next[t]) != NONE;
			     next[t] = g->events[i].po_next) {
				if (is_early(g, i, done))
					break;
				add_event(m, i);
				done[i] = 1;
				added++;
				progress = true;
			}
		}
	}
	for (uint32_t t = 0; t < g->threads; t++)
		progress |= next[t] != NONE;
	g_free(next);
	g_free(done);
	return !progress;
}

static bool sb_and_rf_acyclic(const struct memory_graph *g, struct memory_why *why)
{
	struct memory_edges edges;
	memory_edges_init(&edges, g);
	for (uint32_t i = 0; i < g->count; i++) {
		memory_edge_add(&edges, g->events[i].po_prev, i, "po");
		memory_edge_add(&edges, g->events[i].rf, i, "rf");
		if (g->events[i].kind == MEMORY_DEPART)
			memory_round_edges_add(&edges, g, i);
	}
	bool good = memory_edges_acyclic(&edges, "no load before its store", why);
	memory_edges_release(&edges);
	return good;
}

/* ---- coherence ---- */

static void rank_stores(struct rc11 *m)
{
	const struct memory_graph *g = m->g;
	for (uint32_t l = 0; l < g->locations; l++) {
		uint32_t rank = 0;
		for (uint32_t i = g->init[l]; i != NONE; i = g->events[i].mo_next)
			m->rank[i] = rank++;
	}
	for (uint32_t i = 0; i < g->count; i++)
		if (memory_reads(&g->events[i]))
			m->rank[i] = m->rank[g->events[i].rf];
}

/* For events of one location: the relation of eco from a to b, or NULL. */
static const char *eco(const struct rc11 *m, uint32_t a, uint32_t b)
{
	bool from_store = memory_writes(&m->g->events[a]);
	bool to_store = memory_writes(&m->g->events[b]);
	if (m->rank[a] < m->rank[b])
		return from_store ? to_store ? "mo" : "mo;rf" : to_store ? "fr" : "fr;rf";
	return from_store && !to_store && m->rank[a] == m->rank[b] ? "rf" : NULL;
}

static bool is_coherent(const struct rc11 *m, struct memory_why *why)
{
	const struct memory_graph *g = m->g;
	for (uint32_t b = 0; b < g->count; b++) {
		uint32_t location = g->events[b].location;
		if (location == NONE)
			continue;
		EACH_MEMBER(a, row(&m->before, b), m->before.words)
		{
			if (g->events[a].location != location || eco(m, b, a) == NULL)
				continue;
			memory_violates(why, "coherence");
			memory_why_add(why, a, b, "hb");
			memory_why_add(why, b, a, eco(m, b, a));
			return false;
		}
	}
	return true;
}

/* ---- the partial order of sequentially consistent operations (psc) ---- */

static bool is_sc(const struct memory_event *e)
{
	return e->order == ORDER_SEQ_CST && e->kind != MEMORY_INIT;
}

static bool is_sc_fence(const struct memory_event *e)
{
	return is_sc(e) && e->kind == MEMORY_FENCE;
}

static void make_after(struct rc11 *m)
{
	for (uint32_t b = 0; b < m->g->count; b++)
		EACH_MEMBER(a, row(&m->before, b), m->before.words)
		{
			add(&m->after, a, b);
		}
}

/* Are the two ordered by sb, and not accesses of one location? */
static bool sb_elsewhere(const struct memory_graph *g, uint32_t a, uint32_t b)
{
	const struct memory_event *x = &g->events[a], *y = &g->events[b];
	if (y->kind == MEMORY_INIT || (x->kind != MEMORY_INIT && x->thread != y->thread))
		return false;
	return (x->kind == MEMORY_INIT || x->index < y->index) &&
	       (x->location == NONE || x->location != y->location);
}

/* scb = sb + sb_elsewhere;hb;sb_elsewhere + hb of one location + mo + fr. */
static struct relation make_scb(const struct rc11 *m)
{
	const struct memory_graph *g = m->g;
	uint32_t n = g->count, words = m->before.words;
	struct relation elsewhere = relation_new(n), tail = relation_new(n);
	struct relation scb = relation_new(n);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			if (sb_elsewhere(g, a, b))
				add(&elsewhere, a, b);
	for (uint32_t a = 0; a < n; a++)
		EACH_MEMBER(b, row(&m->after, a), words)
		{
			join(row(&tail, a), row(&elsewhere, b), words);
		}
	for (uint32_t a = 0; a < n; a++) {
		const struct memory_event *x = &g->events[a];
		join(row(&scb, a), row(&elsewhere, a), words);
		EACH_MEMBER(b, row(&elsewhere, a), words)
		{
			join(row(&scb, a), row(&tail, b), words);
		}
		for (uint32_t b = 0; b < n; b++) {
			if (x->location == NONE || g->events[b].location != x->location)
				continue;
			bool later_store =
			        memory_writes(&g->events[b]) && m->rank[a] < m->rank[b];
			if (has(&m->after, a, b) || later_store)
				add(&scb, a, b);
		}
	}
	g_free(elsewhere.bits);
	g_free(tail.bits);
	return scb;
}

/* psc_F from a fence: SC fences that hb, or hb;eco;hb, leads to. */
static void add_fence_edges(const struct rc11 *m, uint32_t from, uint64_t *set)
{
	uint32_t n = m->g->count;
	EACH_MEMBER(x, row(&m->after, from), m->before.words)
	{
		set[x / 64] |= 1ull << (x % 64);
		uint32_t location = m->g->events[x].location;
		for (uint32_t y = 0; location != NONE && y < n; y++)
			if (m->g->events[y].location == location && eco(m, x, y) != NULL)
				join(set, row(&m->after, y), m->before.words);
	}
}

/* Add the edges of psc from the event, to SC events. */
static void psc_from(const struct rc11 *m, const struct relation *scb, uint32_t from,
                     struct memory_edges *edges, uint64_t *scratch)
{
	const struct memory_graph *g = m->g;
	uint32_t words = m->before.words;
	bool fence = is_sc_fence(&g->events[from]);
	uint64_t *reached = scratch, *fences = scratch + words;
	memset(scratch, 0, 2 * words * sizeof *scratch);
	join(reached, row(scb, from), words);
	if (fence) {
		EACH_MEMBER(x, row(&m->after, from), words)
		{
			join(reached, row(scb, x), words);
		}
		add_fence_edges(m, from, fences);
	}
	/* a fence is also reached through hb */
	EACH_MEMBER(x, reached, words)
	{
		fences[x / 64] |= 1ull << (x % 64);
		join(fences, row(&m->after, x), words);
	}
	for (uint32_t to = 0; to < g->count; to++) {
		const uint64_t *set = is_sc_fence(&g->events[to]) ? fences : reached;
		if (is_sc(&g->events[to]) && set[to / 64] >> (to % 64) & 1)
			memory_edge_add(edges, from, to, "psc");
	}
}

static bool psc_acyclic(struct rc11 *m, struct memory_why *why)
{
	const struct memory_graph *g = m->g;
	uint32_t ordered = 0;
	for (uint32_t i = 0; i < g->count; i++)
		ordered += is_sc(&g->events[i]);
	if (ordered == 0)
		return true;
	m->after = relation_new(g->count);
	make_after(m);
	struct relation scb = make_scb(m);
	uint64_t *scratch = g_new(uint64_t, 2 * (size_t)m->before.words);
	struct memory_edges edges;
	memory_edges_init(&edges, g);
	for (uint32_t i = 0; i < g->count; i++)
		if (is_sc(&g->events[i]))
			psc_from(m, &scb, i, &edges, scratch);
	bool good = memory_edges_acyclic(&edges, "order of seq_cst operations", why);
	memory_edges_release(&edges);
	g_free(scratch);
	g_free(scb.bits);
	return good;
}

bool memory_consistent_rc11(const struct memory_graph *g, struct memory_why *why)
{
	size_t places = (size_t)g->threads * g->locations;
	struct rc11 m = { .g = g,
		          .before = relation_new(g->count),
		          .released = relation_new(g->count),
		          .own = relation_new(g->count),
		          .read = relation_new(MAX(g->threads, g->count)),
		          .rank = g_new0(uint32_t, g->count + 1),
		          .fence = g_new(uint32_t, g->threads + 1),
		          .last_store = g_new(uint32_t, places + 1) };
	memset(m.fence, 0xff, g->threads * sizeof *m.fence);
	memset(m.last_store, 0xff, places * sizeof *m.last_store);
	bool good = make_happens_before(&m) || sb_and_rf_acyclic(g, why);
	rank_stores(&m);
	good = good && memory_is_atomic(g, why) && is_coherent(&m, why) && psc_acyclic(&m, why);
	g_free(m.before.bits);
	g_free(m.after.bits);
	g_free(m.released.bits);
	g_free(m.own.bits);
	g_free(m.read.bits);
	g_free(m.rank);
	g_free(m.fence);
	g_free(m.last_store);
	return good;
}
