/*
 * reach_observed.c - do a class's outcomes order what they depend on?
 *
 * The accesses of a schedule's first data race, of those that happens-before leaves open, and
 * all that happens before one of the two make a prefix that can be run alone, after which both
 * accesses are next (reach_races.c), if no outcome in it depends on an event outside. Outcomes
 * that may: reads of atomics without acquire, or of writes without release; failed tries; looks
 * at a semaphore's count; a wait whose time was up while others waited at the same condition;
 * reads of a pipe or its kin that found nothing, or with which other threads read from it, too;
 * rounds of a barrier that more threads use than it has room for.
 */
#include "engine/explore/reversals/reach_private.h"

/* May the read see this write of another thread, in the class, without being ordered after it?
 */
static bool is_loose(const struct reach *r, const struct fork_order *forks, uint32_t read,
                     uint32_t write)
{
	const struct event *a = &r->t->events[write], *b = &r->t->events[read];
	bool ordered = order_releases(event_order(a)) && order_acquires(event_order(b));
	if (a->thread == b->thread || ordered || fork_ordered(forks, write, read) ||
	    fork_ordered(forks, read, write))
		return false;
	/* what it saw of a counter may be another sum with this addition in it */
	return event_variables(r->t, b).count > 1 ||
	       (r->counters != NULL && r->counters[event_variables(r->t, b).first].is) ||
	       history_would_see(r->x->h, read, &write) == history_seen(r->x->h, read);
}

/* Do all atomic reads of the variable synchronise with the writes that they may see? */
static bool orders_atomics(const struct reach *r, const struct fork_order *forks,
                           uint32_t variable)
{
	struct event_list list = event_list_at(&r->t->index->variable_events, variable);
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *x = &r->t->events[list.items[i]];
		bool reads = op_is_atomic(x->op) && op_reads(x->op) &&
		             !history_is_unseen(r->x->h, list.items[i]);
		for (uint64_t k = 0; reads && k < list.count; k++) {
			const struct event *y = &r->t->events[list.items[k]];
			if (op_is_atomic(y->op) && op_writes(y->op) &&
			    is_loose(r, forks, list.items[i], list.items[k]))
				return false;
		}
	}
	return true;
}

/* Do several threads wait at the condition? */
static bool is_waited_for_by_others(const struct trace *t, uint32_t wake)
{
	struct event_list list =
	        event_list_at(&t->index->object_events, t->events[wake].target);
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *x = &t->events[list.items[i]];
		if (x->op == OP_WAIT && x->thread != t->events[wake].thread)
			return true;
	}
	return false;
}

/* Is it a barrier to which more threads come than one round has? */
static bool is_crowded(const struct reach *r, uint32_t object)
{
	struct event_list list = event_list_at(&r->t->index->object_events, object);
	g_autofree bool *came = g_new0(bool, r->threads + 1);
	int32_t threads = 0;
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *x = &r->t->events[list.items[i]];
		threads += x->op == OP_ARRIVE && !came[x->thread];
		came[x->thread] |= x->op == OP_ARRIVE;
	}
	return threads > 0 && threads > r->t->objects[object].count;
}

static bool depends_on_others(const struct reach *r, uint32_t e)
{
	const struct event *x = &r->t->events[e];
	if (event_inert(x))
		return false;
	if (channel_steps_has(r->x->h->channels, e))
		return channel_steps_is_loose(r->x->h->channels, e);
	switch (x->op) {
	case OP_WAKE:
		return x->flags & EVENT_TRY && is_waited_for_by_others(r->t, e);
	case OP_SND:
		return x->flags & EVENT_TRY;
	case OP_AREAD:
		return sync_is_count(r, e);
	default:
		return op_fails(x->op);
	}
}

bool reach_is_synchronised(const struct reach *r)
{
	bool all = true;
	for (uint32_t e = 0; e < r->t->events_count && all; e++)
		all = !depends_on_others(r, e);
	for (uint32_t o = 0; o < r->t->objects_count && all; o++)
		all = !is_crowded(r, o);
	struct fork_order *forks = fork_order_new(r->t);
	for (uint32_t v = 0; v < r->t->variables_count && all; v++)
		all = r->slot_of[v] == NONE || orders_atomics(r, forks, v);
	fork_order_free(forks);
	return all;
}
