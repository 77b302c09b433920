/*
 * minimise.c - see minimise.h.
 */
#include "engine/witness/minimise.h"
#include "engine/witness/regroup.h"
#include "engine/witness/witness.h"

struct minimiser {
	const struct trace *t;
	struct checker *checker;
	struct claimed claimed;
	uint32_t fixed; /* number of events at the end that stay: the pair */
	GArray *events, *trial;
	/* The claim names its required events: others may be dropped, and conflicting ones may
	 * change places. */
	bool drops;
	uint64_t steps, limit; /* work: events checked so far, and their bound */
};

static uint32_t switches_of(const struct trace *t, const GArray *events)
{
	return witness_count_switches(t, (const uint32_t *)(void *)events->data, events->len);
}

static bool still_good(struct minimiser *z)
{
	z->steps += z->trial->len;
	return checker_claim(z->checker, event_list_of(z->trial), z->claimed, NULL);
}

/* Move the events [from, from + count) to index `to` of the remaining ones. */
static bool move_run(struct minimiser *z, uint32_t from, uint32_t count, uint32_t to)
{
	const uint32_t *events = (const uint32_t *)z->events->data;
	uint32_t rest = z->events->len - count, k = 0;

	g_array_set_size(z->trial, 0);
	for (uint32_t i = 0; i <= rest; i++) {
		if (i == to)
			g_array_append_vals(z->trial, events + from, count);
		if (i == rest)
			break;
		if (k == from)
			k += count;
		g_array_append_vals(z->trial, events + k++, 1);
	}
	if (switches_of(z->t, z->trial) >= switches_of(z->t, z->events))
		return false;
	if (!still_good(z))
		return false;
	g_array_set_size(z->events, 0);
	g_array_append_vals(z->events, z->trial->data, z->trial->len);
	return true;
}

static uint32_t run_end(const struct minimiser *z, uint32_t from)
{
	const uint32_t *e = (const uint32_t *)z->events->data;
	uint32_t end = from + 1;

	while (end < z->events->len - z->fixed &&
	       z->t->events[e[end]].thread == z->t->events[e[from]].thread)
		end++;
	return end;
}

/* Drop the end of one thread if the claim still holds. */
static bool drop_run(struct minimiser *z, uint32_t from, uint32_t count)
{
	g_array_set_size(z->trial, 0);
	g_array_append_vals(z->trial, z->events->data, from);
	g_array_append_vals(z->trial, (const uint32_t *)z->events->data + from + count,
	                    z->events->len - from - count);
	if (!still_good(z))
		return false;
	g_array_set_size(z->events, 0);
	g_array_append_vals(z->events, z->trial->data, z->trial->len);
	return true;
}

/* Join the run that begins at `from` to the thread's run before or after it. */
static bool join_run(struct minimiser *z, uint32_t from)
{
	const uint32_t *e = (const uint32_t *)z->events->data;
	uint32_t end = run_end(z, from), last = z->events->len - z->fixed;
	uint32_t thread = z->t->events[e[from]].thread;

	for (uint32_t i = from; i-- > 0;) {
		if (z->t->events[e[i]].thread != thread)
			continue;
		if (move_run(z, from, end - from, i + 1))
			return true;
		break;
	}
	for (uint32_t i = end; i < last; i++) {
		if (z->t->events[e[i]].thread != thread)
			continue;
		return move_run(z, from, end - from, i - (end - from));
	}
	return false;
}

enum { MINIMISE_STEPS = 4000000 }; /* checked events, about a second */

static bool minimise_once(struct minimiser *z)
{
	uint32_t from = 0;
	bool better = false;

	while (from < z->events->len - z->fixed && z->steps < z->limit) {
		uint32_t end = run_end(z, from);

		if ((z->drops && drop_run(z, from, end - from)) || join_run(z, from))
			better = true; /* continue from the improved order */
		else
			from = end;
	}
	return better;
}

/* Reorder all events at once, before single moves. */
static void minimise_regroup(struct minimiser *z)
{
	g_array_set_size(z->trial, 0);
	g_array_append_vals(z->trial, z->events->data, z->events->len);
	if (!witness_regroup(z->t, z->trial, z->fixed) || !still_good(z))
		return;
	g_array_set_size(z->events, 0);
	g_array_append_vals(z->events, z->trial->data, z->trial->len);
}

/* Minimises until about `limit` events have been checked. */
static void minimise_within(struct checker *checker, uint64_t limit, const struct trace *t,
                            struct claimed claimed, GArray *events)
{
	enum claim claim = claimed.claim;
	struct minimiser z = {
		.t = t,
		.checker = checker,
		.claimed = claimed,
		.fixed = claim == CLAIM_RACE ? 2
		         : claim == CLAIM_COV || claim == CLAIM_C11_RACE || claim == CLAIM_REACH
		                 ? 1
		                 : 0,
		.drops = claim != CLAIM_ATOMIC && claim != CLAIM_PREFIX && claim != CLAIM_REACH,
		.events = events,
		.trial = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.limit = limit,
	};

	if (claim_waits(claim) && events->len >= claimed.of.count)
		z.fixed = (uint32_t)claimed.of.count;
	minimise_regroup(&z);
	while (z.drops && events->len > z.fixed && z.steps < z.limit && minimise_once(&z))
		;
	g_array_unref(z.trial);
}

GArray *witness_minimised(struct checker *checker, const struct trace *t,
                          struct claimed claimed, const GArray *events)
{
	enum { STEPS = 1 << 17, LONGEST = 1 << 17 };
	GArray *better = g_array_copy((GArray *)events);

	if (events->len <= LONGEST)
		minimise_within(checker, STEPS, t, claimed, better);
	return better;
}

void witness_minimise(const struct trace *t, struct claimed claimed,
                      const struct check_options *options, GArray *events)
{
	struct checker *checker = checker_new(t, options);

	minimise_within(checker, MINIMISE_STEPS, t, claimed, events);
	checker_free(checker);
}
