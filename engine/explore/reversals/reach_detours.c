/*
 * reach_detours.c - detours (pasts.h) in the search over states.
 *
 * A state has a bit for each detour that the run may have: has another thread looked at the
 * memory that it changes, from its first addition to its last? With the bit set the thread
 * goes on; else the schedule without the detour has the same outcomes.
 */
#include "engine/explore/awaits/pasts.h"
#include "engine/explore/reversals/reach_private.h"

enum { MOST_DETOURS = 64 }; /* in a run; further ones are followed whoever looked */

/* Adds the detours that begin with an event of the thread. */
static void find_from(struct reach *r, uint32_t thread, guint step)
{
	const struct thread_history *th = &r->x->h->threads[thread];
	uint64_t number = g_array_index(th->prefixes, uint64_t, step + 1);
	const GArray *known = pasts_detours_from(r->x->limits->pasts, number);
	for (guint k = 0; known != NULL && k < known->len; k++) {
		const struct detour *d = &g_array_index(known, struct detour, k);
		struct reach_detour own = { .detour = *d,
			                    .thread = thread,
			                    .first = g_array_index(th->events, uint32_t, step),
			                    .last = NONE };
		for (guint i = step; i < th->events->len && own.last == NONE; i++)
			if (g_array_index(th->prefixes, uint64_t, i + 1) == d->last)
				own.last = g_array_index(th->events, uint32_t, i);
		if (own.last != NONE && r->detours->len < MOST_DETOURS)
			g_array_append_val(r->detours, own);
	}
}

void detours_find(struct reach *r)
{
	const struct reversal_limits *l = r->x->limits;
	r->detours = g_array_new(FALSE, FALSE, sizeof(struct reach_detour));
	if (!pasts_know_detours(l->pasts) || l->preemptions != NONE || r->x->show_calls != NULL)
		return;
	for (uint32_t u = 0; u < r->threads; u++)
		for (guint i = 0; i < r->x->h->threads[u].events->len; i++)
			find_from(r, u, i);
}

static void set_looked(const struct reach *r, uint32_t *state, guint detour, bool on)
{
	uint32_t *word = &state[r->looked + detour / 32], mask = UINT32_C(1) << detour % 32;
	*word = on ? *word | mask : *word & ~mask;
}

void detours_take(const struct reach *r, uint32_t *state, uint32_t e)
{
	for (guint i = 0; i < r->detours->len; i++) {
		const struct reach_detour *d =
		        &g_array_index(r->detours, struct reach_detour, i);
		if (e == d->first)
			set_looked(r, state, i, false);
		else if (is_done(r, state, d->first) && !is_done(r, state, d->last) &&
		         pasts_looks_at(r->x->h, d->first, d->last, e))
			set_looked(r, state, i, true);
	}
}

bool detours_end(const struct reach *r, const uint32_t *state, uint32_t e, uint64_t prefix)
{
	if (r->detours->len == 0)
		return false;
	const GArray *made = pasts_detours(r->x->limits->pasts, prefix);
	for (guint k = 0; made != NULL && k < made->len; k++) {
		const struct detour *d = &g_array_index(made, struct detour, k);
		for (guint i = 0; i < r->detours->len; i++) {
			const struct reach_detour *own =
			        &g_array_index(r->detours, struct reach_detour, i);
			bool looked = state[r->looked + i / 32] >> i % 32 & 1;
			if (own->thread == r->t->events[e].thread && !looked &&
			    own->detour.first == d->first && own->detour.last == d->last &&
			    is_done(r, state, own->last))
				return true;
		}
	}
	return false;
}
