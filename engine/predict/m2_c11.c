/*
 * m2_c11.c - races that only C11's happens-before shows: the observation of a relaxed
 * atomic forces the two accesses apart in every reordering, and yet orders nothing
 * (semantics.md, "visible only as a C11 race").
 *
 * Only what relaxed observations leave apart is reported: an observation of a plain access
 * counts as an order here, or every pair after a race would follow from it.
 */
#include "engine/predict/m2_private.h"

#include <string.h>

/* What comes after e1 in a sequence, by everything but relaxed observations. */
struct after {
	const struct m2 *m;
	bool *thread;  /* what the thread does next comes after */
	bool *fenced;  /* by thread: it had a release fence */
	bool *seen;    /* by thread: it has read an atomic whose store came after */
	bool *event;   /* by event */
	bool *lock;    /* by object: some release came after */
	bool *plain;   /* by variable: the last write did */
	bool *carried; /* by variable: a store that may release did */
};

static void after_atomic(struct after *a, const struct event *x)
{
	struct wide run = event_variables(a->m->t, x);
	enum memory_order_kind order = event_order(x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (op_reads(x->op)) {
			a->seen[x->thread] |= a->carried[v];
			a->thread[x->thread] |=
				a->plain[v] || (a->carried[v] && order_acquires(order));
		}
		if (op_writes(x->op)) {
			a->plain[v] = false;
			a->carried[v] |= a->thread[x->thread] &&
					 (order_releases(order) || a->fenced[x->thread]);
		}
	}
}

static void after_plain(struct after *a, const struct event *x)
{
	struct wide run = event_variables(a->m->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (op_reads(x->op))
			a->thread[x->thread] |= a->plain[v] || a->carried[v];
		else
			a->plain[v] = a->thread[x->thread];
	}
}

static void after_event(struct after *a, uint32_t e)
{
	const struct trace *t = a->m->t;
	const struct event *x = &t->events[e];
	struct must_run must = trace_must_into(t, e);
	bool *now = &a->thread[x->thread];

	for (uint64_t i = must.first; i < must.first + must.count; i++) {
		if (t->index->must[i].condition == NONE)
			*now |= a->event[t->index->must[i].before];
	}
	if (!event_inert(x)) {
		if (op_acquires(x->op))
			*now |= a->lock[x->target];
		if (op_releases(x->op))
			a->lock[x->target] |= *now;
		if (x->op == OP_FENCE) {
			*now |= order_acquires(event_order(x)) && a->seen[x->thread];
			a->fenced[x->thread] |= order_releases(event_order(x));
		}
		if (op_is_access(x->op) && op_is_atomic(x->op))
			after_atomic(a, x);
		else if (op_is_access(x->op))
			after_plain(a, x);
	}
	a->event[e] = *now;
}

/* Does the last event of the sequence come after e1? */
static bool comes_after(const struct m2 *m, const GArray *sequence, uint32_t e1)
{
	const struct trace *t = m->t;
	struct after a = {
		.m = m,
		.thread = g_new0(bool, t->threads_count + 1),
		.fenced = g_new0(bool, t->threads_count + 1),
		.seen = g_new0(bool, t->threads_count + 1),
		.event = g_new0(bool, t->events_count + 1),
		.lock = g_new0(bool, t->objects_count + 1),
		.plain = g_new0(bool, t->variables_count + 1),
		.carried = g_new0(bool, t->variables_count + 1),
	};
	void *arrays[] = { a.thread, a.fenced, a.seen, a.event, a.lock, a.plain, a.carried };
	bool result;

	for (guint i = 0; i + 1 < sequence->len; i++) {
		uint32_t e = g_array_index(sequence, uint32_t, i);

		/* of e1 itself, only program order leads on: what it wrote is the pair's own */
		after_event(&a, e);
		if (e == e1)
			a.thread[t->events[e].thread] = a.event[e] = true;
	}
	/* the last one's own observation is not asked */
	result = a.thread[t->events[g_array_index(sequence, uint32_t, sequence->len - 1)].thread];
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_free(arrays[i]);
	return result;
}

/* What the two need, and they themselves, as recorded; e2 last. */
static void both_as_recorded(struct m2 *m, uint32_t e1, uint32_t e2, GArray *sequence)
{
	const struct trace *t = m->t;

	cone_make(m->cones, e1, e2, &m->cone);
	for (uint32_t u = 0; u < m->threads; u++) {
		m->cone.prefix[u] = MAX(m->cone.prefix[u], cones_before(m->cones, e1, u));
		if (u != t->events[e2].thread)
			m->cone.prefix[u] = MAX(m->cone.prefix[u], cones_before(m->cones, e2, u));
	}
	cone_close(m->cones, t->events[e1].thread, t->events[e2].thread, &m->cone);
	g_array_set_size(sequence, 0);
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (m2_in_cone(m, e) && e != e2)
			g_array_append_val(sequence, e);
	}
	g_array_append_val(sequence, e2);
}

bool m2_c11_race(struct m2 *m, uint32_t e1, uint32_t e2, GArray *witness)
{
	const uint32_t pair[] = { e1, e2 };

	both_as_recorded(m, e1, e2, witness);
	return !m2_in_cone(m, e2) && !comes_after(m, witness, e1) &&
	       checker_claim(m->checker, (const uint32_t *)witness->data, witness->len,
			     CLAIM_C11_RACE, pair, 2, NULL);
}

bool m2_has_relaxed(const struct trace *t)
{
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (op_is_access(x->op) && op_is_atomic(x->op) && !event_inert(x) &&
		    (op_writes(x->op) ? !order_releases(event_order(x))
				      : !order_acquires(event_order(x))))
			return true;
	}
	return false;
}
