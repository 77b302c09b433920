/*
 * reach_all.c - all reversals of a run by a search over its states, late ones first.
 */
#include "engine/explore/reversals/reach_private.h"

static int late_first(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;
	if (x->event != y->event)
		return x->event > y->event ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static GArray *all_candidates(const struct reach *r)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct candidate));
	GHashTableIter it;
	gpointer list;
	g_hash_table_iter_init(&it, r->candidates);
	while (g_hash_table_iter_next(&it, NULL, &list))
		g_array_append_vals(all, ((GArray *)list)->data, ((GArray *)list)->len);
	g_array_sort(all, late_first);
	return all;
}

/* Visits all states; a signal wakes any of the waiting threads. False when these are more than
 * `most`, or the search was stopped. */
static bool search_all(struct reach *r, uint32_t most)
{
	uint32_t *threads = g_new(uint32_t, r->threads + 1);
	uint32_t *waiters = g_new(uint32_t, r->threads + 1);
	uint32_t s = 0;
	for (; s < r->count && r->count <= most; s++) {
		uint32_t count = reach_look(r, s, threads);
		reach_look_at_races(r, s);
		reach_look_at_early(r, s);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t ways = reach_waiters(r, s, threads[i], waiters);
			for (uint32_t w = 0; w < ways; w++)
				reach_add_next(r, s, threads[i], waiters[w]);
		}
		if (s % 256 == 0 && reach_is_stopped(r))
			break;
	}
	g_free(threads);
	g_free(waiters);
	return s == r->count && !r->x->stopped;
}

bool reach_by_states(struct search *x, uint32_t most)
{
	struct reach r;
	reach_begin(&r, x);
	size_t bytes = r.size * sizeof(uint32_t) + sizeof(struct origin) + 4 * sizeof(uint32_t);
	most = (uint32_t)MIN(most, MOST_STATE_BYTES / bytes);
	bool done = r.barred ? reach_bounded(&r, most) : search_all(&r, most);
	GArray *candidates = done ? all_candidates(&r) : NULL;
	for (guint i = 0; done && i < candidates->len && !x->stopped; i++)
		reach_give(&r, &g_array_index(candidates, struct candidate, i));
	if (done)
		reach_give_races(&r);
	if (done)
		reach_give_early(&r);
	done &= !x->stopped;
	x->races = !done || !x->limits->races || !reach_is_synchronised(&r) ? RACES_UNKNOWN
	           : r.races->len > 0                                       ? RACES_PASSED
	                                                                    : RACES_NONE;
	if (candidates)
		g_array_unref(candidates);
	reach_end(&r);
	return done;
}
