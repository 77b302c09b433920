/*
 * reach_early.c - uses of objects before another thread initialises them, by the search over
 * states (reach.c): states in which a thread stands before such a use, and the initialisation
 * need not have come.
 */
#include "engine/explore/reversals/reach_private.h"

void reach_look_at_early(struct reach *r, uint32_t s)
{
	const uint32_t *state = reach_state(r, s);
	for (guint i = 0; i < r->early->len; i++) {
		const struct early *y = &g_array_index(r->x->limits->early, struct early, i);
		uint32_t *found = &g_array_index(r->early, uint32_t, i);
		uint32_t thread = r->t->events[y->use].thread;
		if (*found == NONE && reach_stands(r, s, thread) &&
		    reach_next(r, state, thread) == y->use &&
		    (y->after == NONE || !is_done(r, state, y->after)))
			*found = s;
	}
}

void reach_give_early(struct reach *r)
{
	struct search *x = r->x;
	for (guint i = 0; i < r->early->len && !x->stopped; i++) {
		const struct early *y = &g_array_index(x->limits->early, struct early, i);
		uint32_t state = g_array_index(r->early, uint32_t, i);
		if (state == NONE)
			continue;
		reach_sequence_to(r, state, x->sequence);
		struct reversal reversal = { .kind = REVERSAL_EARLY,
			                     .event = y->use,
			                     .other = y->after,
			                     .thread = r->t->events[y->use].thread,
			                     .text = y->text,
			                     .sequence = x->sequence };
		x->stopped |= !x->take(x->context, &reversal);
	}
}
