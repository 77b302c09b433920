/* graphs_marks.c - pasts as numbers: see graphs.h. */
#include "engine/base/hash.h"
#include "engine/explore/graphs/graphs.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ (b + HASH_FACTOR + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
	x ^= x >> 29;
	return x | 1; /* 0: not known yet */
}

uint64_t graphs_root(uint32_t thread)
{
	return mix(1, thread);
}

/* The values that the loads of a thread up to `last` read, for an acquire fence. */
static uint64_t acquired_up_to(struct memory_graph *g, uint32_t last)
{
	uint64_t all = 0;
	for (uint32_t i = last; i != NONE; i = g->events[i].po_prev)
		if (g->events[i].kind == MEMORY_LOAD)
			all += mix(2, graphs_mark(g, g->events[i].rf));
	return all;
}

/* The pasts of the arrivals of a barrier's round. */
static uint64_t arrivals_of(struct memory_graph *g, const struct memory_event *departure)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < g->count; i++)
		if (memory_same_round(&g->events[i], departure))
			all += mix(11, graphs_mark(g, i));
	return all;
}

/* Does the thread see that its arrival was the last? */
static bool sees_last(const struct memory_graph *g, const struct memory_event *departure)
{
	return departure->rf != NONE && departure->rf == departure->po_prev &&
	       !(g->events[departure->rf].flags & MEMORY_UNSEEN);
}

static bool is_failed_try(const struct memory_event *e)
{
	return (e->flags & MEMORY_TRIES) && !(e->flags & MEMORY_EXCLUSIVE);
}

/* A past consists of the values read and, where a load acquires, the past of the store it
 * reads; `acquired`: by an acquire fence. */
static uint64_t own_mark(struct memory_graph *g, const struct memory_event *e,
                         uint64_t acquired)
{
	switch (e->kind) {
	case MEMORY_INIT:
		return mix(3, e->location);
	case MEMORY_LOAD: {
		if (is_failed_try(e)) /* a failed try shows nothing else */
			return mix(8, e->site);
		/* the value read may decide whether an update acquires */
		bool acquires =
		        memory_acquires(e) || ((e->flags & (MEMORY_LIBRARY | MEMORY_LOCKED)) &&
		                               !(e->flags & MEMORY_UNORDERED));
		uint64_t store = acquires && e->rf != NONE ? graphs_mark(g, e->rf) : 0;
		return mix(mix(mix(4, e->value), store), e->choice);
	}
	case MEMORY_FENCE:
		return mix(5, acquired);
	case MEMORY_DEPART:
		return mix(mix(10, arrivals_of(g, e)), sees_last(g, e));
	case MEMORY_WAKE:
		if (!memory_acquires(e))
			return mix(9, 0);
		/* fall through */
	case MEMORY_BEGIN:
	case MEMORY_JOIN:
		return mix(6, e->rf != NONE ? graphs_mark(g, e->rf) : 0);
	default:
		return mix(7, e->kind);
	}
}

static bool acquires_by_fence(const struct memory_event *e)
{
	return e->kind == MEMORY_FENCE && memory_acquires(e);
}

uint64_t graphs_mark(struct memory_graph *g, uint32_t event)
{
	const struct memory_event *e = &g->events[event];
	if (e->mark != 0)
		return e->mark;
	uint32_t first = event;
	if (e->kind == MEMORY_INIT)
		return g->events[event].mark = own_mark(g, e, 0);
	while (g->events[first].po_prev != NONE &&
	       g->events[g->events[first].po_prev].mark == 0)
		first = g->events[first].po_prev;
	uint32_t before = g->events[first].po_prev;
	uint64_t mark =
	        before != NONE ? g->events[before].mark : graphs_root(g->events[first].thread);
	for (uint32_t i = first;; i = g->events[i].po_next) {
		const struct memory_event *at = &g->events[i];
		uint64_t acquired = acquires_by_fence(at) ? acquired_up_to(g, at->po_prev) : 0;
		mark = mix(mark, own_mark(g, at, acquired));
		g->events[i].mark = mark;
		if (i == event)
			return mark;
	}
}

uint64_t graphs_mark_as(struct memory_graph *g, uint64_t before,
                        const struct memory_event *load, const struct memory_event *other)
{
	struct memory_event e = *load;
	e.value = other->value;
	e.rf = other->rf;
	return mix(before, own_mark(g, &e, 0));
}

uint64_t graphs_mark_look(struct memory_graph *g, const GArray *looks, uint32_t look,
                          uint64_t before)
{
	const struct memory_look *l = &g_array_index(looks, struct memory_look, look), *p = l;
	uint64_t acquired = 0;
	if (acquires_by_fence(&l->e)) {
		acquired = acquired_up_to(g, l->after);
		while (p->before != NONE) {
			p = &g_array_index(looks, struct memory_look, p->before);
			if (p->e.kind == MEMORY_LOAD)
				acquired += mix(2, graphs_mark(g, p->e.rf));
		}
	}
	return mix(before, own_mark(g, &l->e, acquired));
}

uint64_t graphs_last(struct memory_graph *g, uint32_t thread)
{
	uint32_t last = thread < g->threads ? g->last[thread] : NONE;
	return last == NONE ? graphs_root(thread) : graphs_mark(g, last);
}

uint64_t graphs_class(struct memory_graph *g)
{
	uint64_t all = 0;
	for (uint32_t t = 0; t < g->threads; t++)
		if (g->last[t] != NONE)
			all = mix(all, graphs_last(g, t));
	return all;
}
