/*
 * ladder_proofs.c - proofs shared between pairs; see ladder_proofs.h.
 */
#include "engine/predict/ladder/ladder_proofs.h"

#include "engine/trace/index.h"
#include "engine/base/hash.h"

/* A pair of events that cannot both be next. */
struct point {
	uint32_t e1, e2;
	struct proof *proof; /* owned */
};

struct ladder_proofs {
	const struct trace *t;
	bool use_values;
	uint32_t *region;   /* by event: its region; NULL: not made yet */
	GHashTable *points; /* pair of regions -> GArray of struct point */
};

guint ladder_key_hash(gconstpointer key)
{
	return hash_top(hash_word(*(const uint64_t *)key));
}

/* Does the event end a region, because it may matter to other threads? `needed`: events that a
 * read or must-order of another thread needs. */
static bool ends_region(const struct trace *t, const uint64_t *needed, const bool *tried,
                        uint32_t e)
{
	const struct event *x = &t->events[e];

	if (needed[e / 64] >> (e % 64) & 1)
		return true;
	if (event_inert(x) || op_is_access(x->op) || op_table[x->op].class == OP_CLASS_MARKER ||
	    op_table[x->op].class == OP_CLASS_SCOPE)
		return false;
	return !op_acquires(x->op) || tried[x->target];
}

/* Number the synchronisation-free regions: consecutive events of a thread of which only the
 * last may matter to other threads. If two places in two regions can be reached together, so
 * can all earlier places, since the rest can be dropped. */
void ladder_proofs_make_regions(struct ladder_proofs *l, const struct progress *progress)
{
	enum { AHEAD = 16, TICK = 1 << 20 };
	const struct trace *t = l->t;
	g_autofree uint64_t *needed = g_new0(uint64_t, t->events_count / 64 + 1);
	g_autofree bool *tried = g_new0(bool, t->objects_count + 1);
	g_autofree uint32_t *now = g_new(uint32_t, t->threads_count + 1);
	uint32_t next = 0;

	for (uint64_t i = 0; i < t->index->must_count; i++) {
		uint32_t e = t->index->must[i].before;

		needed[e / 64] |= (uint64_t)1 << (e % 64);
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (e % TICK == 0 && !progress_tick(progress, 0, "regions"))
			return;
		if (G_LIKELY(e + AHEAD < t->events_count))
			__builtin_prefetch(
			        &t->events[MIN(t->index->writer[e + AHEAD], t->events_count)]);
		if (x->op == OP_TRYFAIL && !event_inert(x))
			tried[x->target] = true;
		if (!op_is_access(x->op) || !op_reads(x->op) || event_inert(x))
			continue;
		struct event_list writers = trace_writers(t, e);
		for (uint64_t i = 0; i < writers.count; i++) {
			uint32_t w = writers.items[i];

			if (w != NONE && t->events[w].thread != x->thread)
				needed[w / 64] |= (uint64_t)1 << (w % 64);
		}
	}
	l->region = g_new(uint32_t, t->events_count + 1);
	for (uint32_t u = 0; u < t->threads_count; u++)
		now[u] = next++;
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t u = t->events[e].thread;

		l->region[e] = now[u];
		/* with --values another thread may read any write */
		if (ends_region(t, needed, tried, e) ||
		    (l->use_values && op_is_access(t->events[e].op) &&
		     op_writes(t->events[e].op)))
			now[u] = next++;
	}
}

static void free_points(gpointer p)
{
	GArray *points = p;

	for (guint i = 0; i < points->len; i++)
		proof_free(g_array_index(points, struct point, i).proof);
	g_array_free(points, TRUE);
}

static uint64_t regions_of(const struct ladder_proofs *l, uint32_t *e1, uint32_t *e2)
{
	if (l->region[*e1] > l->region[*e2]) {
		uint32_t e = *e1;

		*e1 = *e2;
		*e2 = e;
	}
	return (uint64_t)l->region[*e1] << 32 | l->region[*e2];
}

const struct proof *ladder_proofs_find(const struct ladder_proofs *l, uint32_t e1, uint32_t e2)
{
	/* (until one is kept another thread may make the regions) */
	if (g_hash_table_size(l->points) == 0)
		return NULL;
	uint64_t key = regions_of(l, &e1, &e2);
	GArray *points = g_hash_table_lookup(l->points, &key);

	for (guint i = 0; points != NULL && i < points->len; i++) {
		const struct point *p = &g_array_index(points, struct point, i);

		if (p->e1 <= e1 && p->e2 <= e2)
			return p->proof;
	}
	return NULL;
}

struct proof *ladder_proof_copy(const struct proof *p)
{
	struct proof *copy = proof_new(p->method);

	copy->same_pairing = p->same_pairing;
	for (guint i = 0; p->cycle.steps != NULL && i < p->cycle.steps->len; i++) {
		const struct step *s = &g_array_index(p->cycle.steps, struct step, i);

		path_add(&copy->cycle, s->from, s->to, (enum step_rule)s->rule, s->detail);
	}
	return copy;
}

void ladder_proofs_keep(struct ladder_proofs *l, uint32_t e1, uint32_t e2,
                        const struct proof *proof)
{
	if (l->region == NULL)
		ladder_proofs_make_regions(l, NULL);
	uint64_t key = regions_of(l, &e1, &e2);
	GArray *points = g_hash_table_lookup(l->points, &key);
	struct point p = { e1, e2, ladder_proof_copy(proof) };

	if (points == NULL) {
		points = g_array_new(FALSE, FALSE, sizeof(struct point));
		g_hash_table_insert(l->points, g_memdup2(&key, sizeof(key)), points);
	}
	g_array_append_val(points, p);
}

/* The acquire of `lock` whose section contains `e`: the lock's list is searched, since the
 * thread's may have many events in between. */
static uint32_t acquire_of(const struct ladder_proofs *l, uint32_t e, uint32_t lock)
{
	const struct trace *t = l->t;
	struct event_list list = event_list_at(&t->index->object_events, lock);

	for (uint64_t i = event_list_before(list, e); i-- > 0;) {
		const struct event *x = &t->events[list.items[i]];

		if (x->thread != t->events[e].thread)
			continue;
		if (op_acquires(x->op))
			return list.items[i];
		if (op_releases(x->op))
			break;
	}
	return NONE;
}

struct proof *ladder_proofs_by_lock(const struct ladder_proofs *l, uint32_t e1, uint32_t e2,
                                    uint32_t lock)
{
	struct proof *p = proof_new(PROOF_CLOSURE);
	uint32_t a1 = acquire_of(l, e1, lock), a2 = acquire_of(l, e2, lock);

	if (a1 == NONE || a2 == NONE)
		return p;
	path_add(&p->cycle, a1, e1, STEP_PROGRAM, NONE);
	path_add(&p->cycle, e1, e2, STEP_ASSUMED, NONE);
	path_add(&p->cycle, a2, e2, STEP_PROGRAM, NONE);
	path_add(&p->cycle, a1, a2, STEP_CLOSURE_LOCK, lock);
	return p;
}

struct ladder_proofs *ladder_proofs_new(const struct trace *t, bool use_values)
{
	struct ladder_proofs *l = g_new0(struct ladder_proofs, 1);

	l->t = t;
	l->points = g_hash_table_new_full(ladder_key_hash, g_int64_equal, g_free, free_points);
	l->use_values = use_values;
	return l;
}

void ladder_proofs_free(struct ladder_proofs *l)
{
	if (l == NULL)
		return;
	g_hash_table_destroy(l->points);
	g_free(l->region);
	g_free(l);
}
