/*
 * m2_linear.c - linearisations of a closed order: the window in recorded order as far as P
 * permits, and the paper's max-min linearisation, which succeeds when all conflicts outside one
 * thread are ordered.
 *
 * P leaves most writes and sections unordered. So a run counts outstanding readings of each
 * variable's value and holders of locks: it takes no step against rules 2 or 3, and may get
 * stuck instead. The checker validates the result.
 */
#include "engine/base/search.h"
#include "engine/predict/m2/m2_private.h"

#include <string.h>

struct linear {
	struct m2 *m;
	uint32_t *next; /* by thread: its next position */
	GArray *into;   /* struct step, by target */
	uint32_t *wait; /* by thread: the event its next one waits for, or NONE */
	/* Outstanding readings: of each write (index of window.writes), and of the current
	 * value of each variable (local). */
	uint32_t *readings_of, *readings_left;
};

/* -- values of variables, holders of locks ------------------------------------------------- */

/* Index in window.writes of a write to a kept variable. */
static uint32_t write_index(const struct m2 *m, uint32_t local, uint32_t e)
{
	const struct window *w = &m->w;
	uint32_t end = g_array_index(w->write_start, uint32_t, local + 1);

	for (uint32_t i = g_array_index(w->write_start, uint32_t, local); i < end; i++) {
		const struct run *run = &g_array_index(w->write_runs, struct run, i);

		if (run->thread == m->t->events[e].thread)
			return run->first +
			       window_run_before(w->writes, run, m2_position(m, e));
	}
	BUG("event %u writes no variable of the window", e);
}

static void expect_readings(struct linear *l)
{
	const struct window *w = &l->m->w;

	l->readings_of = g_new0(uint32_t, w->writes->len + 1);
	l->readings_left = g_new0(uint32_t, w->run_start->len + 1);
	for (guint i = 0; i < w->readings->len; i++) {
		const struct reading *r = &g_array_index(w->readings, struct reading, i);

		if (r->writer == NONE || r->writer < w->cut)
			l->readings_left[r->local]++;
		else
			l->readings_of[write_index(l->m, r->local, r->writer)]++;
	}
}

/* Set or clear locks held by sections that the head leaves open. */
static void hold_locks_of_head(struct m2 *m, bool hold)
{
	g_autoptr(GArray) here = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t u = 0; u < m->threads; u++) {
		const uint32_t *open = cones_open(m->cones, u, m->w.base[u], here);

		for (uint32_t i = 0; i < here->len; i++) {
			const struct lock_section *s = cones_section(m->cones, open[i]);
			uint32_t object = m->t->events[s->acquire].target;

			m->w.owner[object] = hold && s->exclusive;
			m->w.sharers[object] = hold ? m->w.sharers[object] + !s->exclusive : 0;
		}
	}
}

static void forget_locks(struct m2 *m)
{
	hold_locks_of_head(m, false);
	for (guint i = 0; i < m->w.locks->len; i++) {
		uint32_t object = g_array_index(m->w.locks, uint32_t, i);

		m->w.owner[object] = m->w.sharers[object] = 0;
	}
}

/* Would the event overwrite a value still to be read, or overlap sections? */
static bool breaks(const struct linear *l, uint32_t e)
{
	const struct window *w = &l->m->w;
	const struct event *x = &l->m->t->events[e];

	if (event_inert(x))
		return false;
	if (op_acquires(x->op))
		return w->owner[x->target] || (x->op == OP_ACQ && w->sharers[x->target] > 0);
	if (!op_is_access(x->op) || !op_writes(x->op))
		return false;
	struct wide run = event_variables(l->m->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (w->local[v] != NONE &&
		    l->readings_left[w->local[v]] > (op_reads(x->op) ? 1 : 0))
			return true;
	}
	return false;
}

static void account_access(struct linear *l, uint32_t e)
{
	const struct window *w = &l->m->w;
	const struct event *x = &l->m->t->events[e];
	struct wide run = event_variables(l->m->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t local = w->local[v];

		if (local == NONE)
			continue;
		if (op_reads(x->op))
			l->readings_left[local]--;
		if (op_writes(x->op))
			l->readings_left[local] = l->readings_of[write_index(l->m, local, e)];
	}
}

static void account(struct linear *l, uint32_t e)
{
	struct window *w = &l->m->w;
	const struct event *x = &l->m->t->events[e];
	bool of_nothing = op_releases(x->op) && l->m->t->index->partner[e] == NONE;

	if (event_inert(x) || of_nothing)
		return;
	if (op_is_access(x->op))
		account_access(l, e);
	else if (x->op == OP_ACQ || x->op == OP_REL)
		w->owner[x->target] = x->op == OP_ACQ;
	else if (x->op == OP_RACQ)
		w->sharers[x->target]++;
	else if (x->op == OP_RREL)
		w->sharers[x->target]--;
}

/* -- running along P ----------------------------------------------------------------------- */

static int by_target(gconstpointer a, gconstpointer b)
{
	const struct step *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

static void linear_init(struct linear *l, struct m2 *m)
{
	l->m = m;
	l->next = g_memdup2(m->w.base, (m->threads + 1) * sizeof(uint32_t));
	l->wait = g_new(uint32_t, m->threads + 1);
	memset(l->wait, 0xff, (m->threads + 1) * sizeof(uint32_t));
	l->into = g_array_new(FALSE, FALSE, sizeof(struct step));
	g_array_append_vals(l->into, m->edges->data, m->edges->len);
	g_array_sort(l->into, by_target);
	g_array_set_size(m->tail, 0);
	expect_readings(l);
	hold_locks_of_head(m, true);
}

static void linear_release(struct linear *l)
{
	forget_locks(l->m);
	g_free(l->next);
	g_free(l->wait);
	g_free(l->readings_of);
	g_free(l->readings_left);
	g_array_unref(l->into);
}

static bool done(const struct linear *l, uint32_t e)
{
	return m2_position(l->m, e) < l->next[l->m->t->events[e].thread];
}

static uint32_t missing_edge(const struct linear *l, uint32_t e)
{
	guint low =
	        search_end(i, 0, l->into->len, g_array_index(l->into, struct step, i).to < e);
	for (; low < l->into->len && g_array_index(l->into, struct step, low).to == e; low++) {
		uint32_t from = g_array_index(l->into, struct step, low).from;

		if (!done(l, from))
			return from;
	}
	return NONE;
}

/* An event that must precede `e` and has not run; NONE when `e` can run. */
static uint32_t missing(const struct linear *l, uint32_t e)
{
	const struct trace *t = l->m->t;
	const struct event *x = &t->events[e];
	struct must_sources must = must_sources(t, e);
	struct must_edge edge;
	struct event_list tried;

	while (must_sources_next(&must, &edge)) {
		if (edge.condition == NONE && !done(l, edge.before))
			return edge.before;
	}
	if (event_inert(x))
		return missing_edge(l, e);
	if (op_is_access(x->op) && op_reads(x->op)) {
		struct event_list writers = trace_writers(t, e);

		for (uint64_t i = 0; i < writers.count; i++) {
			if (writers.items[i] != NONE && !done(l, writers.items[i]))
				return writers.items[i];
		}
	}
	if (op_fails(x->op)) {
		tried = cones_tried(l->m->cones, e);
		for (uint64_t i = 0; i < tried.count; i++) {
			if (!done(l, tried.items[i]))
				return tried.items[i];
		}
	}
	return missing_edge(l, e);
}

static void take(struct linear *l, uint32_t thread)
{
	uint32_t e = m2_event(l->m, thread, l->next[thread]++);

	account(l, e);
	g_array_append_val(l->m->tail, e);
}

/* The earliest runnable next event of the threads, in recorded order. */
static uint32_t earliest(struct linear *l)
{
	const GArray *threads = l->m->w.threads;
	uint32_t best = NONE, thread = NONE;

	for (guint i = 0; i < threads->len; i++) {
		uint32_t u = g_array_index(threads, uint32_t, i), e;

		if (l->next[u] >= l->m->cone.prefix[u])
			continue;
		if (l->wait[u] != NONE && !done(l, l->wait[u]))
			continue;
		e = m2_event(l->m, u, l->next[u]);
		if (e >= best)
			continue;
		l->wait[u] = missing(l, e);
		if (l->wait[u] != NONE || breaks(l, e))
			continue;
		best = e;
		thread = u;
	}
	return thread;
}

static bool all_done(const struct linear *l)
{
	return l->m->tail->len == l->m->w.size;
}

bool linear_recorded(struct m2 *m)
{
	struct linear l;
	uint32_t thread;

	linear_init(&l, m);
	while ((thread = earliest(&l)) != NONE)
		take(&l, thread);
	bool good = all_done(&l);
	linear_release(&l);
	return good;
}

/* Run other threads only as far as `e` needs. */
static bool bring(struct linear *l, GArray *stack, uint32_t e)
{
	g_array_set_size(stack, 0);
	g_array_append_val(stack, e);
	while (stack->len > 0) {
		uint32_t goal = g_array_index(stack, uint32_t, stack->len - 1), next, needed;
		uint32_t thread = l->m->t->events[goal].thread;

		if (done(l, goal)) {
			g_array_set_size(stack, stack->len - 1);
			continue;
		}
		next = m2_event(l->m, thread, l->next[thread]);
		needed = missing(l, next);
		if (needed == NONE && !breaks(l, next)) {
			take(l, thread);
			continue;
		}
		if (needed == NONE || stack->len > l->m->w.size)
			return false; /* impossible for a closed, acyclic P */
		g_array_append_val(stack, needed);
	}
	return true;
}

bool linear_max_min(struct m2 *m, uint32_t thread)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct linear l;
	uint32_t u;
	bool good = true;

	linear_init(&l, m);
	while (good && l.next[thread] < m->cone.prefix[thread])
		good = bring(&l, stack, m2_event(m, thread, l.next[thread]));
	while (good && (u = earliest(&l)) != NONE)
		take(&l, u);
	good = good && all_done(&l);
	linear_release(&l);
	return good;
}

/* -- ordering the other threads ------------------------------------------------------------ */

static enum outcome order_pair(struct m2 *m, uint32_t from, uint32_t to)
{
	enum outcome o = closure_edge(m, from, to, STEP_TRACE_ORDER, NONE);

	return o == DONE && m->changes->len > 0 ? closure_run(m) : o;
}

/* Order conflicting accesses of one other thread before `b`, latest first, until one is ordered
 * already. */
static enum outcome order_with_run(struct m2 *m, const struct run *run, const struct access *b)
{
	bool writes = op_writes(m->t->events[b->event].op);

	for (uint32_t k = run->count; k-- > 0;) {
		const struct access *a =
		        &g_array_index(m->w.accesses, struct access, run->first + k);

		m->work++;
		if (a->event > b->event || (!writes && !op_writes(m->t->events[a->event].op)))
			continue;
		if (m2_reaches(m, a->event, b->event))
			return DONE;
		if (!m2_reaches(m, b->event, a->event))
			return order_pair(m, a->event, b->event);
	}
	return DONE;
}

static enum outcome order_accesses(struct m2 *m, uint32_t thread)
{
	struct window *w = &m->w;
	enum outcome o = DONE;

	for (guint i = 0; i < w->accesses->len && o == DONE; i++) {
		const struct access *b = &g_array_index(w->accesses, struct access, i);
		uint32_t end = g_array_index(w->run_start, uint32_t, b->local + 1);

		for (uint32_t k = g_array_index(w->run_start, uint32_t, b->local);
		     k < end && o == DONE && b->thread != thread; k++) {
			const struct run *run = &g_array_index(w->runs, struct run, k);

			if (run->thread != thread && run->thread != b->thread)
				o = order_with_run(m, run, b);
		}
		if (o == DONE && m2_too_much(m, 400000000))
			o = TOO_MUCH;
	}
	return o;
}

static enum outcome order_with_use(struct m2 *m, const struct lock_user *use,
                                   const struct lock_section *s2)
{
	uint32_t before = trace_events_before(m->t, use->thread, s2->acquire);

	for (uint32_t k = cones_begun(m->cones, use, MIN(before, m->cone.prefix[use->thread]));
	     k-- > 0;) {
		const struct lock_section *s1 = cones_section(m->cones, use->first + k);

		if (!s1->exclusive && !s2->exclusive)
			continue;
		if (s1->release == NONE || s1->q >= m->cone.prefix[use->thread])
			continue; /* an open section comes after all others anyway */
		if (s1->release < m->w.cut || m2_reaches(m, s1->release, s2->acquire))
			return DONE;
		if (s2->release == NONE || !m2_in_cone(m, s2->release) ||
		    !m2_reaches(m, s2->release, s1->acquire))
			return order_pair(m, s1->release, s2->acquire);
	}
	return DONE;
}

static enum outcome order_lock(struct m2 *m, uint32_t object, uint32_t thread)
{
	uint32_t users;
	const struct lock_user *use = cones_lock(m->cones, object, &users);
	enum outcome o = DONE;

	for (uint32_t j = 0; j < users && o == DONE; j++) {
		if (use[j].thread == thread)
			continue;
		uint32_t k = cones_begun(m->cones, &use[j], m->w.base[use[j].thread]);

		for (; k < use[j].count && o == DONE; k++) {
			const struct lock_section *s2 =
			        cones_section(m->cones, use[j].first + k);

			if (s2->p >= m->cone.prefix[use[j].thread])
				break;
			for (uint32_t i = 0; i < users && o == DONE; i++) {
				if (i != j && use[i].thread != thread)
					o = order_with_use(m, &use[i], s2);
			}
		}
	}
	return o;
}

enum outcome linear_order_others(struct m2 *m, uint32_t thread)
{
	enum outcome o = DONE;

	g_array_set_size(m->changes, 0);
	for (guint i = 0; i < m->w.locks->len && o == DONE; i++)
		o = order_lock(m, g_array_index(m->w.locks, uint32_t, i), thread);
	return o == DONE ? order_accesses(m, thread) : o;
}
