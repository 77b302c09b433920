/*
 * must.c - the must-order between threads: semantics.md, rule 4, and the order of invocations
 * used as rule 5's fallback.
 *
 * One pass in trace order for each kind of synchronisation; edges follow the sentences of the
 * rule, without those implied by program order. Critical sections and reads-from are no
 * must-orders.
 */
#include "engine/base/arrays.h"
#include "engine/trace/index.h"
#include "engine/trace/index_private.h"
#include "engine/base/search.h"

#include <stdlib.h>

struct maker {
	const struct trace *t;
	GArray *edges; /* struct must_edge */
};

static void add(struct maker *m, uint32_t before, uint32_t after, enum must_rule rule,
                uint32_t condition)
{
	struct must_edge edge = { before, after, condition, rule };

	/* Program order is implied; edges never lead back in time. */
	if (before < after && m->t->events[before].thread != m->t->events[after].thread)
		g_array_append_val(m->edges, edge);
}

/* -- threads ------------------------------------------------------------------------ */

/* Forks and joins, resolved at the end of the pass. */
struct lives {
	GArray *ends;           /* uint32_t */
	uint32_t *first, *last; /* by thread: event, or NONE */
};

static inline void live(struct lives *l, uint32_t thread, uint32_t e)
{
	if (G_UNLIKELY(l->first[thread] == NONE))
		l->first[thread] = e;
	l->last[thread] = e;
}

static void add_ends(struct maker *m, const struct lives *l)
{
	for (guint i = 0; i < l->ends->len; i++) {
		uint32_t e = g_array_index(l->ends, uint32_t, i);
		uint32_t thread = m->t->events[e].target;

		if (l->first[thread] == NONE)
			continue;
		if (m->t->events[e].op == OP_FORK)
			add(m, e, l->first[thread], MUST_FORK, NONE);
		else if (l->last[thread] < e)
			add(m, l->last[thread], e, MUST_JOIN, NONE);
	}
}

/* -- synchronisation objects --------------------------------------------------------------- */

/* Messages and barrier rounds order all of one set before all of another; of a thread's events
 * the last (first) suffices. Replaces the entry of e's thread or appends one. */
static void keep_last(const struct trace *t, GArray *events, uint32_t e)
{
	for (guint i = events->len; i-- > 0;) {
		uint32_t *other = &g_array_index(events, uint32_t, i);

		if (t->events[*other].thread == t->events[e].thread) {
			*other = e;
			return;
		}
	}
	g_array_append_val(events, e);
}

static void add_all(struct maker *m, const GArray *before, uint32_t after, enum must_rule rule)
{
	for (guint i = 0; i < before->len; i++)
		add(m, g_array_index(before, uint32_t, i), after, rule, NONE);
}

/* Lists created on demand: array of GArray *. */
static GArray *list_at(GArray **lists, uint32_t i)
{
	if (lists[i] == NULL)
		lists[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return lists[i];
}

/* The n-th take comes after the (n-k)-th post of a semaphore. */
struct semaphore {
	GArray *posts;
	uint32_t takes;
};

static void add_take(struct maker *m, struct semaphore *s, uint32_t e)
{
	int64_t nth = (int64_t)++s->takes - m->t->objects[m->t->events[e].target].count;

	if (s->posts != NULL && nth >= 1 && nth <= s->posts->len)
		add(m, g_array_index(s->posts, uint32_t, nth - 1), e, MUST_SEMAPHORE, NONE);
}

/* Rounds of a barrier. A thread departs from the round of its arrival, which need not be the
 * latest: others may have arrived again. */
struct barrier {
	GPtrArray *rounds;    /* GArray of uint32_t: the arrives of each round */
	GHashTable *round_of; /* thread -> round of its last arrive */
	GArray *departs;      /* struct depart */
	bool departed;        /* a thread has left the open round */
};
struct depart {
	uint32_t event, round;
};

static struct barrier *barrier_at(struct barrier **barriers, uint32_t i)
{
	if (barriers[i] == NULL) {
		barriers[i] = g_new0(struct barrier, 1);
		barriers[i]->rounds = g_ptr_array_new();
		barriers[i]->round_of = g_hash_table_new(NULL, NULL);
		barriers[i]->departs = g_array_new(FALSE, FALSE, sizeof(struct depart));
		g_ptr_array_add(barriers[i]->rounds,
		                g_array_new(FALSE, FALSE, sizeof(uint32_t)));
	}
	return barriers[i];
}

static void barrier_arrive(const struct trace *t, struct barrier *b, uint32_t e)
{
	gpointer thread = GUINT_TO_POINTER((guint)t->events[e].thread);

	if (b->departed) {
		g_ptr_array_add(b->rounds, g_array_new(FALSE, FALSE, sizeof(uint32_t)));
		b->departed = false;
	}
	keep_last(t, g_ptr_array_index(b->rounds, b->rounds->len - 1), e);
	g_hash_table_insert(b->round_of, thread, GUINT_TO_POINTER(b->rounds->len - 1));
}

static void barrier_depart(const struct trace *t, struct barrier *b, uint32_t e)
{
	gpointer thread = GUINT_TO_POINTER((guint)t->events[e].thread), round;
	struct depart depart = { e, b->rounds->len - 1 };

	if (g_hash_table_lookup_extended(b->round_of, thread, NULL, &round))
		depart.round = GPOINTER_TO_UINT(round);
	if (depart.round == b->rounds->len - 1)
		b->departed = true;
	g_array_append_val(b->departs, depart);
}

/* An arrival after a departure of its round (by a thread that never arrived) cannot be before
 * it. */
static void barrier_edges(struct maker *m, struct barrier *b)
{
	for (guint i = 0; i < b->departs->len; i++) {
		struct depart d = g_array_index(b->departs, struct depart, i);
		GArray *arrives = g_ptr_array_index(b->rounds, d.round);

		for (guint j = 0; j < arrives->len; j++) {
			uint32_t arrive = g_array_index(arrives, uint32_t, j);

			if (arrive < d.event)
				add(m, arrive, d.event, MUST_BARRIER, NONE);
		}
	}
}

static void barriers_free(struct maker *m, struct barrier **barriers, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		struct barrier *b = barriers[i];

		if (b == NULL)
			continue;
		barrier_edges(m, b);
		for (guint j = 0; j < b->rounds->len; j++)
			g_array_free(g_ptr_array_index(b->rounds, j), TRUE);
		g_ptr_array_free(b->rounds, TRUE);
		g_hash_table_destroy(b->round_of);
		g_array_free(b->departs, TRUE);
		g_free(b);
	}
	g_free(barriers);
}

/* Conditions. Signals and broadcasts in trace order; `next` skips used signals (union-find with
 * path halving). */
struct condition {
	GArray *wakers;      /* struct waker */
	GHashTable *waiting; /* thread -> its last wait */
};
struct waker {
	uint32_t event, next; /* index of itself, or of a later one when used */
};

static uint32_t waker_free(GArray *wakers, uint32_t i)
{
	struct waker *w = (struct waker *)wakers->data;

	while (i < wakers->len && w[i].next != i) {
		if (w[i].next < wakers->len)
			w[i].next = w[w[i].next].next;
		i = w[i].next;
	}
	return i;
}

/* The first waker after an event. */
static uint32_t waker_after(const GArray *wakers, uint32_t event)
{
	return search_end(i, 0, wakers->len,
	                  g_array_index(wakers, struct waker, i).event < event);
}

static void add_wake(struct maker *m, struct condition *c, uint32_t e)
{
	gpointer wait;

	if (m->t->events[e].flags & EVENT_TRY)
		return; /* recorded as timed out */
	if (!g_hash_table_lookup_extended(
	            c->waiting, GUINT_TO_POINTER((guint)m->t->events[e].thread), NULL, &wait))
		return;
	uint32_t i = waker_free(c->wakers, waker_after(c->wakers, GPOINTER_TO_UINT(wait)));
	if (i == c->wakers->len)
		return; /* spurious or timed out */
	struct waker *w = &g_array_index(c->wakers, struct waker, i);
	if (m->t->events[w->event].op == OP_SIGNAL)
		w->next = i + 1;
	add(m, w->event, e, MUST_WAKER, NONE);
	add(m, GPOINTER_TO_UINT(wait), w->event, MUST_WAIT, e);
}

static struct condition *condition_at(struct condition **conditions, uint32_t i)
{
	if (conditions[i] == NULL) {
		conditions[i] = g_new0(struct condition, 1);
		conditions[i]->wakers = g_array_new(FALSE, FALSE, sizeof(struct waker));
		conditions[i]->waiting = g_hash_table_new(NULL, NULL);
	}
	return conditions[i];
}

static void conditions_free(struct condition **conditions, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (conditions[i] == NULL)
			continue;
		g_array_free(conditions[i]->wakers, TRUE);
		g_hash_table_destroy(conditions[i]->waiting);
		g_free(conditions[i]);
	}
	g_free(conditions);
}

/* -- synchronisation and invocations ------------------------------------------------------- */

struct objects {
	struct semaphore *semaphores;
	struct barrier **barriers;
	struct condition **conditions;
	GArray **sends;      /* by message */
	uint32_t *last_call; /* by instance: the last ACT or RET, or NONE */
	struct lives lives;
};

static void object_event(struct maker *m, struct objects *o, uint32_t e)
{
	const struct event *x = &m->t->events[e];
	struct semaphore *s;

	switch (x->op) {
	case OP_POST:
		s = &o->semaphores[x->target];
		if (s->posts == NULL)
			s->posts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(s->posts, e);
		break;
	case OP_TAKE:
		add_take(m, &o->semaphores[x->target], e);
		break;
	case OP_ARRIVE:
		barrier_arrive(m->t, barrier_at(o->barriers, x->target), e);
		break;
	case OP_DEPART:
		barrier_depart(m->t, barrier_at(o->barriers, x->target), e);
		break;
	case OP_WAIT:
		g_hash_table_insert(condition_at(o->conditions, x->target)->waiting,
		                    GUINT_TO_POINTER((guint)x->thread), GUINT_TO_POINTER(e));
		break;
	case OP_SIGNAL:
	case OP_BROADCAST: {
		GArray *wakers = condition_at(o->conditions, x->target)->wakers;

		g_array_append_val(wakers, ((struct waker){ e, wakers->len }));
		break;
	}
	case OP_WAKE:
		add_wake(m, condition_at(o->conditions, x->target), e);
		break;
	default:
		break;
	}
}

/* Operations handled by the pass below; tested at once, as operations are unpredictable. */
#define ONE(op) (UINT64_C(1) << OP_##op)
static const uint64_t looked_at = ONE(FORK) | ONE(JOIN) | ONE(SND) | ONE(RCV) | ONE(ACT) |
                                  ONE(RET) | ONE(POST) | ONE(TAKE) | ONE(ARRIVE) | ONE(DEPART) |
                                  ONE(WAIT) | ONE(WAKE) | ONE(SIGNAL) | ONE(BROADCAST);
#undef ONE
_Static_assert(OP_COUNT <= 64, "a bit for each operation");

/* Returns false when cancelled. */
static bool add_synchronisation(struct maker *m, const struct progress *progress)
{
	const struct trace *t = m->t;
	bool goes_on = true;
	struct objects o = {
		.semaphores = g_new0(struct semaphore, t->objects_count + 1),
		.barriers = g_new0(struct barrier *, t->objects_count + 1),
		.conditions = g_new0(struct condition *, t->objects_count + 1),
		.sends = g_new0(GArray *, t->messages_count + 1),
		.last_call = g_new(uint32_t, t->instances_count + 1),
		.lives = { g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		           g_new(uint32_t, t->threads_count + 1),
		           g_new(uint32_t, t->threads_count + 1) },
	};

	for (uint64_t i = 0; i < t->instances_count; i++)
		o.last_call[i] = NONE;
	for (uint64_t i = 0; i < t->threads_count; i++)
		o.lives.first[i] = NONE;
	for (uint32_t e = 0; e < t->events_count && goes_on; e++) {
		const struct event *x = &t->events[e];

		if (G_UNLIKELY((e & 0xfffff) == 0))
			goes_on = progress_tick(progress, (double)e / t->events_count,
			                        "must-order");
		live(&o.lives, x->thread, e);
		if (G_LIKELY(!(looked_at >> x->op & 1)) || event_inert(x))
			continue;
		if (x->op == OP_FORK || x->op == OP_JOIN)
			g_array_append_val(o.lives.ends, e);
		else if (x->op == OP_SND)
			keep_last(t, list_at(o.sends, x->target), e);
		else if (x->op == OP_RCV && o.sends[x->target] != NULL)
			add_all(m, o.sends[x->target], e, MUST_MESSAGE);
		else if (x->op == OP_ACT || x->op == OP_RET) {
			/* Without a specification no invocations commute; edges between
			 * neighbours imply the rest. */
			if (o.last_call[x->target] != NONE)
				add(m, o.last_call[x->target], e, MUST_INVOCATION, NONE);
			o.last_call[x->target] = e;
		} else
			object_event(m, &o, e);
	}
	add_ends(m, &o.lives);
	g_array_free(o.lives.ends, TRUE);
	g_free(o.lives.first);
	g_free(o.lives.last);
	for (uint64_t i = 0; i < t->objects_count; i++) {
		if (o.semaphores[i].posts != NULL)
			g_array_free(o.semaphores[i].posts, TRUE);
	}
	g_free(o.semaphores);
	barriers_free(m, o.barriers, t->objects_count);
	conditions_free(o.conditions, t->objects_count);
	arrays_free(o.sends, t->messages_count);
	g_free(o.last_call);
	return goes_on;
}

/* -- blocks --------------------------------------------------------------------------- */

/* Lives of one block are consecutive: free before the next alloc. */
static guint block_hash(gconstpointer p)
{
	const struct block *b = p;

	return b->name * 2654435761u ^ (guint)(b->address >> 4);
}

static gboolean block_equal(gconstpointer p, gconstpointer q)
{
	const struct block *a = p, *b = q;

	return a->name == b->name && a->address == b->address;
}

static int by_alloc(gconstpointer p, gconstpointer q, gpointer blocks)
{
	const struct block *a = (const struct block *)blocks + *(const uint32_t *)p;
	const struct block *b = (const struct block *)blocks + *(const uint32_t *)q;

	return a->alloc < b->alloc ? -1 : a->alloc > b->alloc;
}

static void add_lives(struct maker *m)
{
	const struct trace *t = m->t;
	g_autoptr(GHashTable) last_free = g_hash_table_new(block_hash, block_equal);
	g_autofree uint32_t *order = g_new(uint32_t, t->blocks_count + 1);

	for (uint32_t i = 0; i < t->blocks_count; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)t->blocks_count, sizeof(*order), by_alloc,
	                  (gpointer)t->blocks);
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		const struct block *b = &t->blocks[order[i]];
		const struct block *earlier = g_hash_table_lookup(last_free, b);

		if (earlier != NULL && b->alloc != NONE && earlier->free < b->alloc)
			add(m, earlier->free, b->alloc, MUST_FREE, NONE);
		if (b->alloc != NONE && b->free != NONE)
			add(m, b->alloc, b->free, MUST_ALLOC, NONE);
		if (b->free != NONE)
			g_hash_table_replace(last_free, (gpointer)b, (gpointer)b);
	}
}

/* The threads that accessed a block, as a bit set created at the first access by another thread
 * than the allocating one. */
struct visitors {
	uint32_t *start; /* by block: index into words, NONE: none yet */
	GArray *words;   /* uint64_t */
	uint32_t width;  /* words for each block */
};

static void visit(struct maker *m, struct visitors *v, uint32_t block, uint32_t e)
{
	uint32_t alloc = m->t->blocks[block].alloc;
	uint32_t thread = m->t->events[e].thread;

	if (alloc == NONE || alloc > e || m->t->events[alloc].thread == thread)
		return;
	if (v->start[block] == NONE) {
		v->start[block] = v->words->len;
		g_array_set_size(v->words, v->words->len + v->width);
	}
	uint64_t *word = &g_array_index(v->words, uint64_t, v->start[block] + thread / 64);
	if (*word >> (thread % 64) & 1)
		return;
	*word |= (uint64_t)1 << (thread % 64);
	add(m, alloc, e, MUST_ALLOC, NONE);
}

/* An event without effect uses no block, but a thread can wait for a lock, or misuse it, only
 * after the allocation of the block that it lies in. */
static void visit_named(struct maker *m, struct visitors *v, uint32_t e)
{
	const struct event *x = &m->t->events[e];
	uint32_t block = op_table[x->op].operand == OPERAND_OBJECT
	                         ? m->t->objects[x->target].block
	                         : NONE;

	if (block != NONE)
		visit(m, v, block, e);
}

static bool add_blocks(struct maker *m, const struct progress *progress)
{
	const struct trace *t = m->t;
	struct visitors v = { .width = (uint32_t)(t->threads_count + 63) / 64 };
	bool goes_on = true;

	if (t->blocks_count == 0)
		return true;
	add_lives(m);
	v.start = g_new(uint32_t, t->blocks_count);
	for (uint64_t i = 0; i < t->blocks_count; i++)
		v.start[i] = NONE;
	v.words = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	for (uint32_t e = 0; e < t->events_count && goes_on; e++) {
		const struct event *x = &t->events[e];

		if (G_UNLIKELY((e & 0xfffff) == 0))
			goes_on = progress_tick(progress, (double)e / t->events_count,
			                        "must-order of blocks");
		if (event_inert(x)) {
			visit_named(m, &v, e);
			continue;
		}
		if (!op_is_access(x->op)) {
			if (event_block_used(t, x) != NONE)
				visit(m, &v, event_block_used(t, x), e);
			continue;
		}
		struct wide run = event_variables(t, x);
		for (uint32_t i = run.first; i < run.first + run.count; i++) {
			if (t->variables[i].block != NONE)
				visit(m, &v, t->variables[i].block, e);
		}
	}
	g_free(v.start);
	g_array_free(v.words, TRUE);
	return goes_on;
}

/* -- the part of the index ------------------------------------------------------------ */

static int by_after(gconstpointer p, gconstpointer q)
{
	const struct must_edge *a = p, *b = q;

	if (a->after != b->after)
		return a->after < b->after ? -1 : 1;
	if (a->before != b->before)
		return a->before < b->before ? -1 : 1;
	return a->rule < b->rule ? -1 : a->rule > b->rule;
}

static int by_before(gconstpointer p, gconstpointer q, gpointer edges)
{
	const struct must_edge *a = (const struct must_edge *)edges + *(const uint32_t *)p;
	const struct must_edge *b = (const struct must_edge *)edges + *(const uint32_t *)q;

	return a->before < b->before ? -1 : a->before > b->before;
}

static void keep_edges(struct trace_index *ix, GArray *edges)
{
	g_array_sort(edges, by_after);
	ix->must_count = edges->len;
	ix->must = (struct must_edge *)g_array_free(edges, FALSE);
	uint32_t *order = g_new(uint32_t, ix->must_count + 1);
	for (uint32_t i = 0; i < ix->must_count; i++)
		order[i] = i;
	/* The sort is stable, so edges out of an event stay ordered by `after`. */
	g_qsort_with_data(order, (gint)ix->must_count, sizeof(*order), by_before,
	                  (gpointer)ix->must);
	ix->must_by_before = order;
}

bool index_build_must(struct trace *t, struct trace_index *ix, const struct progress *progress)
{
	struct maker m = { t, g_array_new(FALSE, FALSE, sizeof(struct must_edge)) };

	if (!add_synchronisation(&m, progress) || !add_blocks(&m, progress)) {
		g_array_free(m.edges, TRUE);
		return false;
	}
	keep_edges(ix, m.edges);
	return true;
}

void trace_replace_must(struct trace *t, GArray *edges)
{
	struct trace_index *ix = t->index;

	g_free((void *)ix->must);
	g_free((void *)ix->must_by_before);
	keep_edges(ix, edges);
}
