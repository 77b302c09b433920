/*
 * reach_races.c - data races by the search over states (reach.c): states in which two threads
 * stand before conflicting accesses, not both atomic.
 *
 * What synchronisation permits in a state follows from its definition, so such a state is a
 * race whichever post, signal or arrival ended the waits of this run. What the two accesses
 * would read does not matter (semantics.md, "Predictable race").
 */
#include "engine/explore/reversals/reach_private.h"
#include "engine/trace/own_site.h"

/* May an access come next? It must not have lost its block. */
static bool may_access(const struct reach *r, const uint32_t *state, uint32_t e)
{
	uint32_t ends[MOST_LIFETIME_ENDS];
	unsigned count = lifetimes_ends(r->x->h->lifetimes, e, ends);
	for (unsigned i = 0; i < count; i++)
		if (is_done(r, state, ends[i]))
			return false;
	return sync_must_hold(r, state, e);
}

static uint32_t site_of(const struct reach *r, uint32_t e)
{
	return own_site(r->t, e);
}

/* An atomic access comes second: as the last step of a schedule it may have any outcome. */
static void add_race(struct reach *r, uint32_t state, uint32_t a, uint32_t b)
{
	uint64_t x = site_of(r, a), y = site_of(r, b);
	uint64_t sites = x < y ? x << 32 | y : y << 32 | x;
	bool turn = op_is_atomic(r->t->events[a].op);
	struct reach_race race = { turn ? b : a, turn ? a : b, state };
	if (g_hash_table_contains(r->raced, &sites) ||
	    !may_access(r, reach_state(r, state), a) ||
	    !may_access(r, reach_state(r, state), b))
		return;
	g_hash_table_add(r->raced, g_memdup2(&sites, sizeof sites));
	g_array_append_val(r->races, race);
}

void reach_look_at_races(struct reach *r, uint32_t s)
{
	uint32_t count = 0;
	for (uint32_t u = 0; u < r->threads && r->x->limits->races; u++) {
		if (!reach_stands(r, s, u))
			continue;
		uint32_t e = reach_next(r, reach_state(r, s), u);
		if (!op_is_access(r->t->events[e].op) || event_inert(&r->t->events[e]))
			continue;
		for (uint32_t i = 0; i < count; i++)
			if (events_race_conflict(r->t, r->accesses[i], e))
				add_race(r, s, r->accesses[i], e);
		r->accesses[count++] = e;
	}
}

void reach_give_races(struct reach *r)
{
	struct search *x = r->x;
	for (guint i = 0; i < r->races->len && !x->stopped; i++) {
		struct reach_race race = g_array_index(r->races, struct reach_race, i);
		reach_sequence_to(r, race.state, x->sequence);
		struct reversal reversal = { .kind = REVERSAL_RACE,
			                     .event = race.second,
			                     .other = race.first,
			                     .thread = r->t->events[race.second].thread,
			                     .sequence = x->sequence };
		x->stopped |= !x->take(x->context, &reversal);
	}
}
