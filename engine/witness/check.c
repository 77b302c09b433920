/*
 * check.c - the independent checker: does a sequence of events show what it claims?
 *
 * The checker (check*.c) applies the rules of semantics.md ("Correct reorderings") to the trace
 * and the sequence. It shares only the event model with the predictors: reads-from, must-order
 * and lock holders are computed again, from the events alone. Every reported race has passed
 * it.
 *
 * This file: the claims, and the entries of check.h.
 */
#include "engine/witness/check_private.h"

#include <string.h>

static uint32_t *new_cells(uint64_t count, uint32_t value)
{
	uint32_t *array = g_new(uint32_t, count + 1);

	for (uint64_t i = 0; i <= count; i++)
		array[i] = value;
	return array;
}

struct checker *checker_new(const struct trace *t, const struct check_options *options)
{
	struct checker *c = g_new0(struct checker, 1);

	c->t = trace_recorded(t); /* the trace as recorded, so that a mistake in a view of it
	                           * cannot hide here */
	if (options != NULL)
		c->options = *options;
	facts_make(c);
	if (c->options.use_missing)
		facts_missing(c);
	if (c->options.semantics != NULL)
		facts_invocations(c);
	facts_sort(c);
	c->taken = new_cells(c->t->threads_count, 0);
	c->last = new_cells(c->t->variables_count, NONE);
	c->owner = new_cells(c->t->objects_count, NONE);
	c->readers = new_cells(c->t->objects_count, 0);
	c->life = new_cells(c->t->blocks_count, 0);
	c->taken_before = new_cells(c->t->threads_count, 0);
	c->count = new_cells(c->t->objects_count, 0);
	c->waker_too_early = new_cells(c->f.wakes->len, 0);
	c->busy = new_cells(c->t->instances_count, NONE);
	c->abstract = g_new0(void *, c->t->instances_count + 1);
	c->invoked = g_new0(GArray *, c->t->instances_count + 1);
	checker_clear(c);
	return c;
}

void checker_free(struct checker *c)
{
	if (c == NULL)
		return;
	void *arrays[] = { c->taken,           c->last, c->owner,    c->readers, c->count,
		           c->waker_too_early, c->busy, c->abstract, c->invoked, c->life,
		           c->taken_before };

	checker_clear(c);
	for (uint32_t i = 0; i < c->t->instances_count; i++) {
		if (c->invoked[i] != NULL)
			g_array_unref(c->invoked[i]);
	}
	facts_release(&c->f);
	waits_free(c->waits);
	g_free(c->lacking);
	g_free(c->changes.of);
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_free(arrays[i]);
	g_free(c);
}

/* -- claims -------------------------------------------------------------------------------- */

/* Claim: a thread stands before the event, which it can execute or must wait for. */
static bool claim_reach(struct checker *c, const uint32_t *sequence, size_t length,
                        uint32_t target, GString *reason)
{
	if (target >= c->t->events_count) {
		g_string_append_printf(reason, "the place: no such event as %u", target);
		return false;
	}
	if (length == 0 || sequence[length - 1] != target) {
		g_string_append_printf(reason, "the place: the last event is not %u", target);
		return false;
	}
	if (!claim_prefix(c, sequence, length - 1, reason))
		return false;
	return c->f.place[target] == c->taken[at(c, target)->thread] ||
	       check_refuse(c, reason, "the place", target, "is not next in its thread");
}

/* Is the request `e` blocked by the thread of request `other`? A thread blocks itself when it
 * requests a lock that it holds and the recording says that it waits. */
static bool request_blocks(const struct checker *c, uint32_t e, bool exclusive, uint32_t other)
{
	const struct event *x = at(c, e);
	uint32_t u = at(c, other)->thread;

	if (x->op == OP_WANTJOIN)
		return x->target == u;
	if (u == x->thread && x->op != OP_WANT)
		return false;
	return c->owner[x->target] == u || (exclusive && holds_shared(c, u, x->target));
}

/* A request of the cycle: next in its thread, and blocked by a thread of the cycle. */
static bool claim_request(const struct checker *c, uint32_t e, const uint32_t *requests,
                          size_t count, GString *reason)
{
	const struct event *x = at(c, e);
	bool exclusive = asks_exclusive(c, e), blocked = false;

	if (!event_is_request(x) && x->op != OP_WANTJOIN) {
		bool tried = op_acquires(x->op) && !event_inert(x);

		return check_refuse(
		        c, reason, "the cycle", e, "is %s",
		        tried ? "a try, or limited in time: it waits for no other thread"
		              : "no acquire");
	}
	if (c->f.place[e] != c->taken[at(c, e)->thread])
		return check_refuse(c, reason, "the cycle", e, "is not next in its thread");
	if (!rule_must(c, e, reason))
		return false;
	for (size_t k = 0; k < count; k++)
		blocked |= request_blocks(c, e, exclusive, requests[k]);
	return blocked || check_refuse(c, reason, "the cycle", e,
	                               "is not blocked by another thread of the cycle");
}

static bool claim_cycle(struct checker *c, const uint32_t *sequence, size_t length,
                        const uint32_t *requests, size_t count, GString *reason)
{
	if (!claim_prefix(c, sequence, length, reason))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!claim_request(c, requests[i], requests, count, reason))
			return false;
	}
	return true;
}

/* A cycle of requests for locks in a correct reordering; or requests among waits that never
 * end. */
static bool claim_deadlock(struct checker *c, struct event_list sequence,
                           struct claimed claimed, GString *reason)
{
	const uint32_t *requests = claimed.of.items;
	size_t count = claimed.of.count, length = sequence.count;
	g_autoptr(GString) other = g_string_new(NULL);
	size_t at_end = 0;
	bool good;

	for (size_t i = 0; i < count; i++) {
		if (requests[i] >= c->t->events_count) {
			g_string_append_printf(reason, "the cycle: event %u is no acquire",
			                       requests[i]);
			return false;
		}
	}
	for (size_t i = 0; i < length && i < count; i++) {
		for (size_t k = 0; k < count; k++)
			at_end += sequence.items[length - 1 - i] == requests[k];
	}
	if (at_end == count) /* appended to the reordering, as in a race's witness */
		length -= count;
	good = claimed.claim == CLAIM_DEADLOCK &&
	       claim_cycle(c, sequence.items, length, requests, count, reason);
	if (!good) {
		checker_clear(c);
		good = claim_stuck(c, sequence.items, length, requests, count,
		                   claimed.claim == CLAIM_STUCK ? reason : other);
	}
	return good;
}

static bool claim_check(struct checker *c, struct event_list list, struct claimed claimed,
                        GString *reason)
{
	enum claim claim = claimed.claim;
	const uint32_t *sequence = list.items, *pair = claimed.of.items;
	size_t length = list.count, count = claimed.of.count;
	bool of_two = claim == CLAIM_RACE || claim == CLAIM_C11_RACE || claim == CLAIM_COV;

	if (count < 2 &&
	    (of_two || (claim != CLAIM_ATOMIC && claim != CLAIM_PREFIX && count == 0))) {
		g_string_append(reason, claim == CLAIM_REACH
		                                ? "the place: an event is needed"
		                                : "the pair: two events are needed");
		return false;
	}
	switch (claim) {
	case CLAIM_RACE:
		return claim_race(c, sequence, length, pair, reason);
	case CLAIM_C11_RACE:
		return claim_c11(c, sequence, length, pair, reason);
	case CLAIM_COV:
		return claim_cov(c, sequence, length, pair, reason);
	case CLAIM_DEADLOCK:
	case CLAIM_STUCK:
		return claim_deadlock(c, list, claimed, reason);
	case CLAIM_REACH:
		return claim_reach(c, sequence, length, pair[0], reason);
	default:
		return claim_prefix(c, sequence, length, reason);
	}
}

bool checker_claim(struct checker *c, struct event_list sequence, struct claimed claimed,
                   GString *reason)
{
	g_autoptr(GString) scratch = reason == NULL ? g_string_new(NULL) : NULL;

	checker_clear(c);
	bool good = claim_check(c, sequence, claimed, reason == NULL ? scratch : reason);
	c->prefix = NONE;
	return good;
}

/* Is a fresh state cheaper than logging and undoing the changes of a tail? */
static bool cheaper_anew(const struct checker *c, uint32_t prefix, size_t length)
{
	return length > 2 * (uint64_t)prefix + c->t->variables_count / 8 + c->t->objects_count;
}

bool checker_race_after(struct checker *c, uint32_t prefix, const uint32_t *tail, size_t length,
                        const uint32_t *pair, GString *reason)
{
	uint64_t threads = c->t->threads_count;

	BUG_ON(c->options.semantics != NULL);
	if (c->prefix != NONE && c->prefix > prefix)
		checker_rewind(c, prefix);
	if (c->prefix == NONE || c->prefix > prefix)
		checker_clear(c);
	bool good = checker_take_recorded(c, prefix, reason);
	c->undoing = !cheaper_anew(c, prefix, length);
	c->by_event = c->undoing && length < threads;
	uint32_t before = c->changes.count;
	memcpy(c->taken_before, c->taken, (c->by_event ? 0 : threads) * sizeof *c->taken);
	if (good)
		good = claim_race(c, tail, length, pair, reason);
	if (c->undoing)
		checker_undo(c, before);
	else
		checker_clear(c);
	if (c->undoing && !c->by_event)
		memcpy(c->taken, c->taken_before, threads * sizeof *c->taken);
	return good;
}

bool witness_check(const struct trace *t, struct event_list sequence, struct claimed claimed,
                   const struct check_options *options, GString *reason)
{
	struct checker *c = checker_new(t, options);
	bool good = checker_claim(c, sequence, claimed, reason);

	checker_free(c);
	return good;
}
