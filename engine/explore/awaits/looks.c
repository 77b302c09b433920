/* looks.c - see looks.h. */
#include "engine/explore/awaits/looks.h"

enum { LONGEST = 64 }; /* steps of a round */

/* Are two steps of a thread equal, when the later one has outcome `seen` (0: as recorded)? */
static bool same_step(const struct history *h, uint32_t thread, uint32_t a, uint32_t b,
                      uint64_t seen)
{
	const struct trace *t = h->trace;
	const GArray *events = h->threads[thread].events;
	uint32_t one = g_array_index(events, uint32_t, a);
	uint32_t two = g_array_index(events, uint32_t, b);
	const struct event *x = &t->events[one], *y = &t->events[two];
	if (x->op != y->op || x->location != y->location)
		return false;
	if (!op_is_access(x->op))
		return x->target == y->target;
	if (event_variables(t, x).first != event_variables(t, y).first)
		return false;
	return !op_reads(x->op) || history_seen(h, one) == (seen ? seen : history_seen(h, two));
}

bool looks_in_vain(const struct history *h, uint32_t read, uint64_t seen)
{
	uint32_t thread = h->trace->events[read].thread;
	uint32_t last = g_array_index(h->step_of, uint32_t, read);
	/* MOST_LOOKS rounds are each compared with the one before, so one more is needed */
	for (uint32_t period = 1; period <= LONGEST && period * (MOST_LOOKS + 1) <= last + 1;
	     period++) {
		uint32_t same = 0;
		while (same < period * MOST_LOOKS &&
		       same_step(h, thread, last - same - period, last - same,
		                 same == 0 ? seen : 0))
			same++;
		if (same == period * MOST_LOOKS)
			return true;
	}
	return false;
}
