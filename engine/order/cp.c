/*
 * cp.c - causally-precedes (semantics.md, "The partial orders"): edges from a release to a
 * later acquire of the lock whose two critical sections contain (a) conflicting or (b)
 * CP-ordered events.
 *
 * Such an edge depends on events after its target, so the trace is walked with the edges found
 * so far and all pairs of sections are tested again, until no edge is new. Memory is linear,
 * time quadratic in the sections of a lock that do not conflict; no better bound is known for
 * CP.
 */
#include "engine/base/compare.h"
#include "engine/order/order_private.h"

#include <string.h>

struct cp_section {
	uint32_t thread, object;
	bool shared;
	uint32_t acquire, release; /* NONE: still open at the end */
	uint32_t last;             /* the release, or the thread's last event */
	GArray *written, *read;    /* uint32_t variables, sorted, without duplicates */
	uint64_t writes, touches;  /* Bloom filters of these: variable mod 64 */
};
struct cp {
	struct trace *t;
	GArray *sections; /* struct cp_section by acquire */
	GArray *edges;    /* struct forced_edge by `to` */
	struct causality *c;
	uint32_t *floor;  /* by pair of threads: sections below this need no search
	                   * (find_edges) */
	uint8_t *settled; /* by thread */
};

struct lock_sections {
	GArray *sections;        /* struct cp_section *, by acquire */
	uint32_t threads_before; /* threads with a section up to the current one */
};

static void sort_once(GArray *numbers)
{
	guint kept = 0;

	g_array_sort(numbers, compare_u32);
	for (guint i = 0; i < numbers->len; i++) {
		uint32_t x = g_array_index(numbers, uint32_t, i);

		if (kept == 0 || g_array_index(numbers, uint32_t, kept - 1) != x)
			g_array_index(numbers, uint32_t, kept++) = x;
	}
	g_array_set_size(numbers, kept);
}

static bool variables_intersect(const GArray *a, const GArray *b)
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

static uint64_t bits_of(const GArray *variables)
{
	uint64_t bits = 0;

	for (guint i = 0; i < variables->len; i++)
		bits |= (uint64_t)1 << (g_array_index(variables, uint32_t, i) % 64);
	return bits;
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

		if (own.items[i] > s.last)
			break;
		if (!op_is_access(y->op) || event_inert(y))
			continue;
		struct wide run = event_variables(t, y);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			g_array_append_val(op_writes(y->op) ? s.written : s.read, v);
	}
	sort_once(s.written);
	sort_once(s.read);
	s.writes = bits_of(s.written);
	s.touches = s.writes | bits_of(s.read);
	return s;
}

static bool sections_exclude(const struct cp_section *a, const struct cp_section *b)
{
	return a->object == b->object && a->thread != b->thread && !(a->shared && b->shared);
}

static bool sections_conflict(const struct cp_section *a, const struct cp_section *b)
{
	if ((a->writes & b->touches) == 0 && (a->touches & b->writes) == 0)
		return false;
	return variables_intersect(a->written, b->written) ||
	       variables_intersect(a->written, b->read) ||
	       variables_intersect(a->read, b->written);
}

static struct clock_view own_past(const struct cp *cp, uint32_t event)
{
	const struct sync_region *s = causality_region(cp->c, event);

	return clocks_view(&cp->c->clocks, s == NULL ? 0 : s->clock);
}

/* Rule (b): is the acquire of `a` before the end of `b`? */
static bool hold_ordered(const struct cp *cp, const struct cp_section *a,
                         const struct cp_section *b)
{
	return view_time(own_past(cp, b->last), a->thread) > a->acquire;
}

/*
 * Edges into the acquire of one section from earlier sections of its lock, the latest first.
 * For each thread one source is enough: its last section with an edge covers the earlier ones.
 * So does a section that this thread already has an edge from (`floor`), or that is ordered
 * before the acquire. Stops when every thread is settled.
 */
static void find_edges(struct cp *cp, const struct lock_sections *lock, guint second,
                       GArray *found)
{
	const struct cp_section *b = g_array_index(lock->sections, struct cp_section *, second);
	uint32_t threads = (uint32_t)cp->t->threads_count, left = lock->threads_before - 1;
	uint32_t *floor = cp->floor + (size_t)b->thread * threads;
	struct clock_view known = own_past(cp, b->acquire);

	memset(cp->settled, 0, threads);
	cp->settled[b->thread] = 1;
	for (guint first = second; first-- > 0 && left > 0;) {
		const struct cp_section *a =
		        g_array_index(lock->sections, struct cp_section *, first);
		struct forced_edge edge = { a->release, b->acquire, b->object,
			                    STEP_CONFLICT_SECTION };

		if (cp->settled[a->thread])
			continue;
		if (a->release < MAX(floor[a->thread], view_time(known, a->thread))) {
			cp->settled[a->thread] = 1;
			left--;
			continue;
		}
		if (!sections_exclude(a, b) || a->release > b->acquire)
			continue;
		if (!sections_conflict(a, b)) {
			if (!hold_ordered(cp, a, b))
				continue;
			edge.rule = STEP_ORDERED_SECTION;
		}
		cp->settled[a->thread] = 1;
		left--;
		floor[a->thread] = a->release + 1;
		g_array_append_val(found, edge);
	}
}

static int by_to(gconstpointer p, gconstpointer q)
{
	const struct forced_edge *a = p, *b = q;

	return a->to < b->to ? -1 : a->to > b->to;
}

static struct lock_sections *group_by_lock(struct cp *cp)
{
	struct lock_sections *locks = g_new0(struct lock_sections, cp->t->objects_count + 1);

	for (uint64_t o = 0; o < cp->t->objects_count; o++)
		locks[o].sections = g_array_new(FALSE, FALSE, sizeof(struct cp_section *));
	for (guint i = 0; i < cp->sections->len; i++) {
		struct cp_section *s = &g_array_index(cp->sections, struct cp_section, i);

		g_array_append_val(locks[s->object].sections, s);
	}
	return locks;
}

static bool lock_edges(struct cp *cp, struct lock_sections *lock, GArray *found,
                       const struct progress *progress)
{
	uint64_t threads = cp->t->threads_count;
	bool *seen = g_new0(bool, threads + 1), going = true;

	memset(cp->floor, 0, threads * threads * sizeof(uint32_t));
	lock->threads_before = 0;
	for (guint i = 0; i < lock->sections->len && going; i++) {
		uint32_t u = g_array_index(lock->sections, struct cp_section *, i)->thread;

		lock->threads_before += !seen[u];
		seen[u] = true;
		find_edges(cp, lock, i, found);
		going = (i & 0xff) != 0 ||
		        progress_tick(progress, (double)i / lock->sections->len,
		                      "pairs of critical sections");
	}
	g_free(seen);
	return going;
}

/* False when no edge is new or when cancelled; cp->c is NULL in the latter case. */
static bool add_edges(struct cp *cp, struct lock_sections *locks,
                      const struct progress *progress)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct forced_edge));
	bool any, going = true;

	for (uint64_t o = 0; o < cp->t->objects_count && going; o++)
		going = lock_edges(cp, &locks[o], found, progress);
	any = found->len > 0;
	g_array_append_vals(cp->edges, found->data, found->len);
	g_array_sort(cp->edges, by_to);
	g_array_free(found, TRUE);
	if (!going) {
		causality_free(cp->c);
		cp->c = NULL;
	}
	return going && any;
}

static void cp_release(struct cp *cp, struct lock_sections *locks)
{
	for (guint i = 0; i < cp->sections->len; i++) {
		g_array_free(g_array_index(cp->sections, struct cp_section, i).written, TRUE);
		g_array_free(g_array_index(cp->sections, struct cp_section, i).read, TRUE);
	}
	for (uint64_t o = 0; o < cp->t->objects_count; o++) {
		g_array_free(locks[o].sections, TRUE);
	}
	g_free(locks);
	g_array_free(cp->sections, TRUE);
	g_array_free(cp->edges, TRUE);
	g_free(cp->floor);
	g_free(cp->settled);
}

struct causality *cp_walk(struct trace *t, const struct progress *progress)
{
	struct cp cp = { .t = t,
		         .sections = g_array_new(FALSE, FALSE, sizeof(struct cp_section)),
		         .edges = g_array_new(FALSE, FALSE, sizeof(struct forced_edge)) };

	if (!trace_need(t, INDEX_THREADS | INDEX_MATCH | INDEX_MUST, progress)) {
		g_array_free(cp.sections, TRUE);
		g_array_free(cp.edges, TRUE);
		return NULL;
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (!op_acquires(t->events[e].op) || event_inert(&t->events[e]))
			continue;
		struct cp_section section = section_of(t, e);
		g_array_append_val(cp.sections, section);
	}
	cp.floor = g_new(uint32_t, t->threads_count * t->threads_count + 1);
	cp.settled = g_new(uint8_t, t->threads_count + 1);
	struct lock_sections *locks = group_by_lock(&cp);
	do {
		causality_free(cp.c);
		cp.c = causality_walk(t, ORDER_KIND_CP, KEEP_EDGES, cp.edges, progress);
	} while (cp.c != NULL && add_edges(&cp, locks, progress));
	cp_release(&cp, locks);
	return cp.c;
}
