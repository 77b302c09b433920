/*
 * cp.c - causally-precedes: edges from a release to a later acquire of the lock whose two
 * critical sections hold (a) conflicting or (b) ordered events.
 *
 * Such an edge depends on what comes after the acquire that it leads to, so no single walk
 * finds them: the trace is walked with the edges found so far, every pair of sections is
 * looked at again, until nothing is added.  Polynomial; for traces of some ten thousands
 * of events.  No better bound is known for CP.
 */
#include "engine/order/order_private.h"

#include <string.h>

struct cp_section {
	uint32_t thread, object;
	bool shared;
	uint32_t acquire, release; /* release NONE: open at the end */
	uint32_t last;             /* its last event: the release, or the thread's last */
	GArray *written, *read;    /* uint32_t variables, ascending, each once */
};
struct cp {
	struct trace *t;
	GArray *sections; /* struct cp_section by acquire */
	GArray *edges;    /* struct forced_edge by `to` */
	struct causality *c;
};

struct lock_sections {
	GArray *sections;  /* struct cp_section *, by acquire */
	GArray *conflicts; /* uint8_t by pair: 0 not looked at, 1 no, 2 yes */
};

static int by_number(gconstpointer p, gconstpointer q)
{
	uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;

	return a < b ? -1 : a > b;
}

static void sort_once(GArray *numbers)
{
	guint kept = 0;

	g_array_sort(numbers, by_number);
	for (guint i = 0; i < numbers->len; i++) {
		uint32_t x = g_array_index(numbers, uint32_t, i);

		if (kept == 0 || g_array_index(numbers, uint32_t, kept - 1) != x)
			g_array_index(numbers, uint32_t, kept++) = x;
	}
	g_array_set_size(numbers, kept);
}

static bool intersect(const GArray *a, const GArray *b)
{
	guint i = 0, j = 0;

	while (i < a->len && j < b->len) {
		uint32_t x = g_array_index(a, uint32_t, i), y = g_array_index(b, uint32_t, j);

		if (x == y)
			return true;
		if (x < y)
			i++;
		else
			j++;
	}
	return false;
}

static struct cp_section section_of(struct trace *t, uint32_t acquire)
{
	const struct event *x = &t->events[acquire];
	struct event_list own = trace_thread_events(t, x->thread);
	struct cp_section s = { .thread = x->thread,
		                .object = x->target,
		                .shared = x->op == OP_RACQ,
		                .acquire = acquire,
		                .release = t->index->partner[acquire] };

	s.written = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s.read = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	s.last = s.release != NONE ? s.release : own.items[own.count - 1];
	for (uint64_t i = t->index->position[acquire]; i < own.count; i++) {
		const struct event *y = &t->events[own.items[i]];
		struct wide run;

		if (own.items[i] > s.last)
			break;
		if (!op_is_access(y->op) || event_inert(y))
			continue;
		run = event_variables(t, y);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			g_array_append_val(op_writes(y->op) ? s.written : s.read, v);
	}
	sort_once(s.written);
	sort_once(s.read);
	return s;
}

static bool exclude(const struct cp_section *a, const struct cp_section *b)
{
	return a->object == b->object && a->thread != b->thread && !(a->shared && b->shared);
}

static bool conflict(const struct cp_section *a, const struct cp_section *b)
{
	return intersect(a->written, b->written) || intersect(a->written, b->read) ||
	       intersect(a->read, b->written);
}

static const uint32_t *own_past(const struct cp *cp, uint32_t event)
{
	const struct stretch *s = causality_stretch(cp->c, event);

	return clocks_row(&cp->c->clocks, s == NULL ? 0 : s->row) + cp->c->clocks.threads;
}

/* Do they hold ordered events? */
static bool hold_ordered(const struct cp *cp, const struct cp_section *a,
                         const struct cp_section *b)
{
	return own_past(cp, b->last)[a->thread] > a->acquire;
}

/* Of one thread's sections the last with an edge stands for the earlier ones, so the pairs
 * are looked at backwards and each thread asked until it has one. */
static void find_edges(struct cp *cp, const struct lock_sections *lock, guint second,
                       GArray *found, uint8_t *settled)
{
	const struct cp_section *b = g_array_index(lock->sections, struct cp_section *, second);

	memset(settled, 0, cp->t->threads_count);
	for (guint first = second; first-- > 0;) {
		const struct cp_section *a =
		        g_array_index(lock->sections, struct cp_section *, first);
		uint64_t pair = (uint64_t)second * (second - 1) / 2 + first;
		uint8_t *conflicts = &g_array_index(lock->conflicts, uint8_t, pair);
		struct forced_edge edge = { a->release, b->acquire, b->object,
			                    STEP_CONFLICT_SECTION };

		if (settled[a->thread] || !exclude(a, b) || a->release > b->acquire)
			continue;
		if (*conflicts == 0)
			*conflicts = conflict(a, b) ? 2 : 1;
		if (*conflicts == 1 && !hold_ordered(cp, a, b))
			continue;
		settled[a->thread] = 1;
		if (*conflicts == 1)
			edge.rule = STEP_ORDERED_SECTION;
		if (own_past(cp, b->acquire)[a->thread] <= a->release)
			g_array_append_val(found, edge);
	}
}

static int by_to(gconstpointer p, gconstpointer q)
{
	const struct forced_edge *a = p, *b = q;

	return a->to < b->to ? -1 : a->to > b->to;
}

static struct lock_sections *group(struct cp *cp)
{
	struct lock_sections *locks = g_new0(struct lock_sections, cp->t->objects_count + 1);

	for (uint64_t o = 0; o < cp->t->objects_count; o++) {
		locks[o].sections = g_array_new(FALSE, FALSE, sizeof(struct cp_section *));
		locks[o].conflicts = g_array_new(FALSE, TRUE, sizeof(uint8_t));
	}
	for (guint i = 0; i < cp->sections->len; i++) {
		struct cp_section *s = &g_array_index(cp->sections, struct cp_section, i);

		g_array_append_val(locks[s->object].sections, s);
	}
	for (uint64_t o = 0; o < cp->t->objects_count; o++) {
		uint64_t n = locks[o].sections->len;

		g_array_set_size(locks[o].conflicts, (guint)(n * n / 2));
	}
	return locks;
}

static bool add_edges(struct cp *cp, struct lock_sections *locks)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct forced_edge));
	uint8_t *settled = g_new(uint8_t, cp->t->threads_count + 1);
	bool any;

	for (uint64_t o = 0; o < cp->t->objects_count; o++) {
		for (guint i = 1; i < locks[o].sections->len; i++)
			find_edges(cp, &locks[o], i, found, settled);
	}
	any = found->len > 0;
	g_array_append_vals(cp->edges, found->data, found->len);
	g_array_sort(cp->edges, by_to);
	g_array_free(found, TRUE);
	g_free(settled);
	return any;
}

static void cp_release(struct cp *cp, struct lock_sections *locks)
{
	for (guint i = 0; i < cp->sections->len; i++) {
		g_array_free(g_array_index(cp->sections, struct cp_section, i).written, TRUE);
		g_array_free(g_array_index(cp->sections, struct cp_section, i).read, TRUE);
	}
	for (uint64_t o = 0; o < cp->t->objects_count; o++) {
		g_array_free(locks[o].sections, TRUE);
		g_array_free(locks[o].conflicts, TRUE);
	}
	g_free(locks);
	g_array_free(cp->sections, TRUE);
	g_array_free(cp->edges, TRUE);
}

struct causality *cp_walk(struct trace *t, const struct progress *progress)
{
	struct cp cp = { .t = t,
		         .sections = g_array_new(FALSE, FALSE, sizeof(struct cp_section)),
		         .edges = g_array_new(FALSE, FALSE, sizeof(struct forced_edge)) };
	struct lock_sections *locks;

	if (!trace_need(t, INDEX_THREADS | INDEX_MATCH | INDEX_MUST, progress)) {
		g_array_free(cp.sections, TRUE);
		g_array_free(cp.edges, TRUE);
		return NULL;
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		struct cp_section section;

		if (!op_acquires(t->events[e].op) || event_inert(&t->events[e]))
			continue;
		section = section_of(t, e);
		g_array_append_val(cp.sections, section);
	}
	locks = group(&cp);
	do {
		causality_free(cp.c);
		cp.c = causality_walk(t, ORDER_KIND_CP, KEEP_EDGES, cp.edges, progress);
	} while (cp.c != NULL && add_edges(&cp, locks));
	cp_release(&cp, locks);
	return cp.c;
}
