/*
 * reach_walk.c - some reversals of a run, at far less cost than the search over states.
 *
 * A walk takes events as in the run until no thread can continue, and examines all threads in
 * each state, as the search does. Threads have priorities, some of which change on the way
 * (Burckhardt et al., ASPLOS 2010), so that a thread is far ahead in one walk and behind in
 * another. A thread before a reversal does not move, and the prefix grows by other threads'
 * steps while its outcome stays the same: no query is needed to maximise it.
 */
#include "engine/explore/reversals/reach_private.h"
#include "engine/base/hash.h"
#include "engine/base/random.h"

enum {
	MOST_WALKS = 24,
	MOST_GIVEN = 200, /* bound on reversals of a run */
	CHANGES = 16      /* one step in this many changes a priority */
};

static uint64_t next_random(uint64_t *random)
{
	return random_next(random) >> 11;
}

/* ^A walk; threads in order of priority. */
struct walk {
	struct reach *r;
	uint64_t random;
	uint32_t *order, *waiters, *scratch;
	uint64_t *kinds;            /* by thread: equal for equal behaviour */
	uint64_t looks, most_looks; /* examined threads, in all walks */
	uint64_t number;            /* random number of the walk */
};

/* Identifies the thread's behaviour by places and operations. */
static uint64_t kind_of(const struct trace *t, uint32_t thread)
{
	struct event_list mine = trace_thread_events(t, thread);
	uint64_t kind = 1;
	for (uint64_t i = 0; i < mine.count; i++) {
		const struct event *e = &t->events[mine.items[i]];
		kind = hash_join(kind, e->op) + e->location;
	}
	return kind;
}

static void move(uint32_t *order, uint32_t from, uint32_t to)
{
	uint32_t thread = order[from];
	for (; from > to; from--)
		order[from] = order[from - 1];
	for (; from < to; from++)
		order[from] = order[from + 1];
	order[to] = thread;
}

/* Random order; but each behaviour is first equally often, since equivalent threads are
 * interchangeable. */
static void shuffle(struct walk *w)
{
	uint32_t threads = w->r->threads, same = 0;
	for (uint32_t i = threads - 1; i > 0; i--)
		move(w->order, (uint32_t)(next_random(&w->random) % (i + 1)), i);
	uint64_t best = 0, kind = 0;
	for (uint32_t u = 0; u < threads; u++) {
		uint64_t mixed = (w->kinds[u] ^ w->random) * 0xbf58476d1ce4e5b9u;
		if (mixed >= best) {
			best = mixed;
			kind = w->kinds[u];
		}
	}
	while (same < threads && w->kinds[w->order[same]] != kind)
		same++;
	move(w->order, same, 0);
}

/* Half of the sections, different ones in each walk, are not begun before their reads would
 * have their recorded outcome: else the thread waits there with the lock, which blocks the
 * writers. */
static bool is_patient(const struct walk *w, uint32_t s, uint32_t thread)
{
	uint64_t place = (uint64_t)reach_state(w->r, s)[thread] << 32 | thread;
	return ((place ^ w->number) * 0xbf58476d1ce4e5b9u) >> 63;
}

/* Index of the next thread in the order; NONE: none can continue. */
static uint32_t next_thread(struct walk *w, uint32_t s)
{
	uint32_t hasty = NONE;
	for (uint32_t i = 0; i < w->r->threads; i++) {
		uint32_t u = w->order[i];
		if (!reach_stands(w->r, s, u))
			continue;
		enum answer answer = reach_look_at(w->r, s, u);
		w->looks++;
		if (!reach_may_go(w->r, s, u, answer))
			continue;
		if (!is_patient(w, s, u) || !reach_is_premature(w->r, s, u))
			return i;
		if (hasty == NONE)
			hasty = i;
	}
	return hasty;
}

static void walk(struct walk *w)
{
	enum { CLOCK_EVERY = 64, /* steps */ SHARES = 8 };
	uint32_t s = 0, at, steps = 0;
	/* with many threads a walk reaches only the beginning: several beginnings are tried */
	uint64_t most = MIN(w->looks + w->most_looks / SHARES + 1, w->most_looks);
	shuffle(w);
	while (w->looks < most && (steps++ % CLOCK_EVERY != 0 || !reach_is_stopped(w->r)) &&
	       (at = next_thread(w, s)) != NONE) {
		uint32_t ways = reach_waiters(w->r, s, w->order[at], w->waiters);
		uint32_t woken = w->waiters[next_random(&w->random) % ways];
		s = reach_add_next(w->r, s, w->order[at], woken);
		if (next_random(&w->random) % CHANGES == 0)
			move(w->order, at, (uint32_t)(next_random(&w->random) % w->r->threads));
	}
	reach_look(w->r, s, w->scratch);
}

static uint64_t steps_in(const struct reach *r, uint32_t state)
{
	uint64_t steps = 0;
	for (uint32_t u = 0; u < r->threads; u++)
		steps += reach_state(r, state)[u];
	return steps;
}

static int by_event(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;
	if (x->event != y->event)
		return x->event > y->event ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Selects for each reversal the candidate with the maximal prefix, in an order determined by
 * the walks. */
static GArray *largest(const struct reach *r)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct candidate));
	GHashTableIter it;
	gpointer value;
	g_hash_table_iter_init(&it, r->candidates);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		const GArray *list = value;
		const struct candidate *best = &g_array_index(list, struct candidate, 0);
		for (guint i = 1; i < list->len; i++) {
			const struct candidate *c = &g_array_index(list, struct candidate, i);
			if (steps_in(r, c->state) > steps_in(r, best->state))
				best = c;
		}
		g_array_append_vals(all, best, 1);
	}
	g_array_sort(all, by_event);
	return all;
}

static void walk_often(struct reach *r, uint64_t *random, uint64_t looks)
{
	struct walk w = { .r = r,
		          .random = *random,
		          .most_looks = looks,
		          .order = g_new(uint32_t, r->threads + 1),
		          .waiters = g_new(uint32_t, r->threads + 1),
		          .scratch = g_new(uint32_t, r->threads + 1),
		          .kinds = g_new(uint64_t, r->threads + 1) };
	for (uint32_t u = 0; u < r->threads; u++) {
		w.order[u] = u;
		w.kinds[u] = kind_of(r->t, u);
	}
	for (int i = 0; i < MOST_WALKS && w.looks < looks && !r->x->stopped; i++) {
		w.number = next_random(&w.random);
		walk(&w);
	}
	*random = w.random;
	g_free(w.order);
	g_free(w.waiters);
	g_free(w.scratch);
	g_free(w.kinds);
}

void reach_by_walks(struct search *x, uint64_t seed, uint64_t looks)
{
	struct reach r;
	uint64_t random = (seed + 1) * HASH_FACTOR | 1;
	reach_begin(&r, x);
	walk_often(&r, &random, looks);
	GArray *found = largest(&r);
	for (guint given = 0; given < MOST_GIVEN && found->len > 0 && !x->stopped; given++) {
		guint at = (guint)(next_random(&random) % found->len);
		reach_give(&r, &g_array_index(found, struct candidate, at));
		g_array_remove_index(found, at);
	}
	g_array_unref(found);
	reach_end(&r);
}
