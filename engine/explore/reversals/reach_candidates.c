/*
 * reach_candidates.c - reversals found in states: of equal ones those whose states have done
 * most.
 */
#include "engine/base/hash.h"
#include "engine/explore/reversals/reach_private.h"

static bool covers(const struct reach *r, uint32_t big, uint32_t small)
{
	const uint32_t *a = reach_state(r, big), *b = reach_state(r, small);
	for (uint32_t u = 0; u < r->threads; u++)
		if (a[u] < b[u])
			return false;
	return true;
}

/* The candidates with the same event and outcome. */
static GArray *candidates_like(struct reach *r, const struct candidate *c)
{
	uint64_t key = (hash_word(c->key) + c->event) * 31 + c->kind;
	key = key * 31 + c->thread;
	GArray *list = g_hash_table_lookup(r->candidates, &key);
	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(struct candidate));
		g_hash_table_insert(r->candidates, g_memdup2(&key, sizeof key), list);
	}
	return list;
}

bool reach_is_end(enum reversal_kind kind)
{
	return kind == REVERSAL_STUCK || kind == REVERSAL_IDLE;
}

void reach_add_candidate(struct reach *r, struct candidate c)
{
	if (c.event != NONE)
		c.thread = r->t->events[c.event].thread;
	if (r->barred != NULL && r->barred[c.thread] && !reach_is_end(c.kind) &&
	    c.kind != REVERSAL_FINAL) {
		r->x->bounded = true;
		return;
	}
	GArray *list = candidates_like(r, &c);
	for (guint i = 0; i < list->len; i++) {
		uint32_t known = g_array_index(list, struct candidate, i).state;
		if (covers(r, known, c.state))
			return;
		if (covers(r, c.state, known))
			g_array_remove_index_fast(list, i--);
	}
	g_array_append_val(list, c);
}

void reach_look_at_wait(struct reach *r, uint32_t state, uint32_t wait, uint32_t wake)
{
	if (wait == NONE || !sync_may_end_early(r, reach_state(r, state), wait))
		return;
	reach_add_candidate(r, (struct candidate){ .event = wake,
	                                           .thread = r->t->events[wait].thread,
	                                           .state = state,
	                                           .other = wake == NONE ? wait : NONE,
	                                           .key = true,
	                                           .kind = REVERSAL_SPURIOUS,
	                                           .op = OP_WAKE });
}

/* The number of the thread's history up to the state. */
static uint64_t prefix_at(const struct reach *r, const uint32_t *state, uint32_t thread)
{
	const struct history *h = r->x->h;
	struct event_list mine = trace_thread_events(r->t, thread);
	uint32_t steps = 0;
	for (uint64_t i = state[thread]; i-- > 0 && steps == 0;) {
		uint32_t step = g_array_index(h->step_of, uint32_t, mine.items[i]);
		steps = step == NONE ? 0 : step + 1;
	}
	return g_array_index(h->threads[thread].prefixes, uint64_t, steps);
}

/* Is another signal with this one's handler on its way to the thread, so that they may be one?
 */
static bool may_merge(const struct reach *r, const uint32_t *state, uint32_t receipt)
{
	const struct event *x = &r->t->events[receipt];
	for (guint i = 0; i < r->receipts->len; i++) {
		uint32_t other = g_array_index(r->receipts, uint32_t, i);
		const struct event *y = &r->t->events[other];
		if (other != receipt && y->thread == x->thread && y->location == x->location &&
		    !is_done(r, state, other) && sync_must_hold(r, state, other))
			return true;
	}
	return false;
}

bool reach_look_at_handlers(struct reach *r, uint32_t state, uint32_t thread)
{
	const uint32_t *at = reach_state(r, state);
	uint32_t next = reach_next(r, at, thread);
	bool any = false;
	for (guint i = 0; i < r->receipts->len; i++) {
		uint32_t e = g_array_index(r->receipts, uint32_t, i);
		bool sent = sync_must_hold(r, at, e);
		struct candidate c = { .event = e,
			               .thread = thread,
			               .state = state,
			               .other = NONE,
			               .kind = REVERSAL_HANDLED,
			               .op = OP_RCV };
		if (r->t->events[e].thread != thread || is_done(r, at, e) ||
		    !reach_has_begun(r, at, e) || (next != e && (!sent || next == NONE)))
			continue;
		r->x->merges |= sent && may_merge(r, at, e);
		if (next == e)
			c = (struct candidate){ .event = NONE,
				                .thread = thread,
				                .state = state,
				                .other = e,
				                .kind = REVERSAL_LATER,
				                .op = sent ? OP_RCV : OP_SND };
		c.key = prefix_at(r, at, thread);
		if (next == e) /* before it is sent its thread may end without it */
			c.key = history_later(c.key) + !sent;
		reach_add_candidate(r, c);
		any = true;
	}
	return any;
}
