/*
 * pairs.c - all pairs that an order leaves unordered, by variable.
 *
 * A variable's accesses are kept by thread and kind, in trace order. The events ordered before
 * an access are a prefix of each other thread, so its unordered partners are the tails of the
 * lists, and walking these costs only the output.
 */
#include "engine/predict/pairs/pairs.h"

enum { KIND_WRITES = 1, KIND_ATOMIC = 2, KINDS = 4 };

static uint32_t kind_of(const struct event *x)
{
	return (op_writes(x->op) ? KIND_WRITES : 0) | (op_is_atomic(x->op) ? KIND_ATOMIC : 0);
}

static bool kinds_conflict(uint32_t a, uint32_t b)
{
	return ((a | b) & KIND_WRITES) && !(a & b & KIND_ATOMIC);
}

/* Accesses of one thread to the current variable. */
struct lane {
	uint32_t thread;
	GArray *events[KINDS]; /* uint32_t */
};
struct lanes {
	GArray *used;    /* struct lane; emptied and reused for the next variable */
	uint32_t count;  /* number in use */
	uint32_t *of;    /* by thread: its lane, if stamped */
	uint32_t *stamp; /* by thread: variable */
};

static struct lane *lane_of(struct lanes *l, uint32_t thread, uint32_t variable)
{
	struct lane *lane;

	if (l->stamp[thread] == variable + 1)
		return &g_array_index(l->used, struct lane, l->of[thread]);
	l->stamp[thread] = variable + 1;
	l->of[thread] = l->count++;
	if (l->count > l->used->len) {
		struct lane fresh;

		for (int k = 0; k < KINDS; k++)
			fresh.events[k] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(l->used, fresh);
	}
	lane = &g_array_index(l->used, struct lane, l->count - 1);
	lane->thread = thread;
	for (int k = 0; k < KINDS; k++)
		g_array_set_size(lane->events[k], 0);
	return lane;
}

struct pass {
	struct trace *t;
	const struct order *order;
	bool unobserved;
	pair_found *found;
	void *context;
	struct lanes lanes;
};

static bool tail(struct pass *p, const GArray *events, uint32_t limit, uint32_t e2,
                 uint32_t variable)
{
	for (guint i = events->len; i-- > 0;) {
		uint32_t e1 = g_array_index(events, uint32_t, i);

		if (e1 < limit)
			break;
		/* accesses that share several variables meet at each */
		if (race_variable(p->t, e1, e2) == variable && !p->found(p->context, e1, e2))
			return false;
	}
	return true;
}

static bool variable_pairs(struct pass *p, uint32_t variable)
{
	struct event_list accesses = event_list_at(&p->t->index->variable_events, variable);

	p->lanes.count = 0;
	for (uint64_t i = 0; i < accesses.count; i++) {
		uint32_t e2 = accesses.items[i];
		const struct event *x = &p->t->events[e2];
		uint32_t kind = kind_of(x);
		struct lane *own = lane_of(&p->lanes, x->thread, variable);
		struct clock_view past;
		bool asked = false;

		for (uint32_t j = 0; j < p->lanes.count; j++) {
			struct lane *lane = &g_array_index(p->lanes.used, struct lane, j);

			if (lane->thread == x->thread)
				continue;
			if (!asked)
				past = order_past(p->order, e2, p->unobserved);
			asked = true;
			for (uint32_t k = 0; k < KINDS; k++) {
				if (kinds_conflict(k, kind) &&
				    !tail(p, lane->events[k], view_time(past, lane->thread), e2,
				          variable))
					return false;
			}
		}
		g_array_append_val(own->events[kind], e2);
	}
	return true;
}

bool pairs_unordered(struct trace *t, const struct order *order, bool unobserved,
                     pair_found *found, void *context, const struct progress *progress)
{
	struct pass p = { t, order, unobserved, found, context };
	bool goes_on = trace_need(t, INDEX_VARIABLES, progress);

	p.lanes.used = g_array_new(FALSE, FALSE, sizeof(struct lane));
	p.lanes.of = g_new(uint32_t, t->threads_count + 1);
	p.lanes.stamp = g_new0(uint32_t, t->threads_count + 1);
	for (uint32_t v = 0; v < t->variables_count && goes_on; v++) {
		if ((v & 0xfff) == 0)
			goes_on = progress_tick(progress, (double)v / t->variables_count,
			                        "unordered pairs");
		goes_on = goes_on && variable_pairs(&p, v);
	}
	for (guint i = 0; i < p.lanes.used->len; i++) {
		for (int k = 0; k < KINDS; k++)
			g_array_free(g_array_index(p.lanes.used, struct lane, i).events[k],
			             TRUE);
	}
	g_array_free(p.lanes.used, TRUE);
	g_free(p.lanes.of);
	g_free(p.lanes.stamp);
	return goes_on;
}
