/*
 * check_race.c - the claim that two accesses race: a reordering after which both are next.
 */
#include "engine/witness/check_private.h"

bool claim_conflicts(const struct checker *c, const uint32_t *pair, GString *reason)
{
	if (pair[0] >= c->t->events_count || pair[1] >= c->t->events_count) {
		if (reason != NULL)
			g_string_append(reason, "the pair: no such event");
		return false;
	}
	const struct event *x = at(c, pair[0]);
	const struct event *y = at(c, pair[1]);
	if (op_is_access(x->op) && op_is_access(y->op) && !event_inert(x) && !event_inert(y) &&
	    x->thread != y->thread && (op_writes(x->op) || op_writes(y->op)) &&
	    !(op_is_atomic(x->op) && op_is_atomic(y->op)) && events_overlap(c->t, x, y))
		return true;
	return check_refuse_by(c, reason, "the pair", pair[0], "and", pair[1],
	                       " do not conflict");
}

bool claim_ends_with(const uint32_t *a, const uint32_t *b)
{
	return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

/* One event of the pair is next in its thread, with its must-order satisfied. */
static bool next_of_pair(struct checker *c, uint32_t e, GString *reason)
{
	return rules_allow(c, e, (struct requirements){ .observation = false, .freed = false },
	                   reason);
}

bool claim_race(struct checker *c, const uint32_t *sequence, size_t length,
                const uint32_t *pair, GString *reason)
{
	if (!claim_conflicts(c, pair, reason))
		return false;
	if (length < 2 || !claim_ends_with(sequence + length - 2, pair)) {
		if (reason != NULL)
			g_string_append_printf(
			        reason, "the pair: the last two events are not %u and %u",
			        pair[0], pair[1]);
		return false;
	}
	return checker_take_all(c, sequence, length - 2, reason) &&
	       next_of_pair(c, pair[0], reason) && next_of_pair(c, pair[1], reason);
}
