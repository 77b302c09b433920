/*
 * m2_closure.c - the order P of a cone and its closure (semantics.md, "M2", Order and Closure),
 * on the window.
 *
 * Rules are applied in rounds until nothing changes. A round examines only possible changes:
 * insertions record, for each pair of threads, the position from which more is ordered.
 */
#include "engine/base/search.h"
#include "engine/predict/m2/m2_private.h"

bool m2_reaches(const struct m2 *m, uint32_t e, uint32_t f)
{
	return chain_reaches(m->order, m->t->events[e].thread, m2_position(m, e),
	                     m->t->events[f].thread, m2_position(m, f));
}

enum outcome closure_edge(struct m2 *m, uint32_t from, uint32_t to, enum step_rule rule,
                          uint32_t detail)
{
	struct step step = { from, to, rule, detail };

	m->work += m->threads;
	if (m2_reaches(m, from, to) && from != to)
		return DONE;
	if (to < m->w.cut) { /* the edge is not in the recorded order */
		m->reach = to;
		return REACHES_BACK;
	}
	if (!chain_insert(m->order, m->t->events[from].thread, m2_position(m, from),
	                  m->t->events[to].thread, m2_position(m, to), m->changes)) {
		m->failed = step;
		return CYCLE;
	}
	g_array_append_val(m->edges, step);
	return DONE;
}

/* -- initial edges ------------------------------------------------------------------------- */

/* A thread's last section of a lock that begins before `prefix`, exclusive or any; or NULL. */
static const struct lock_section *last_section(const struct m2 *m, const struct lock_user *use,
                                               uint32_t prefix, bool exclusive)
{
	uint32_t low = cones_begun(m->cones, use, prefix);
	for (; low > 0; low--) {
		const struct lock_section *s = cones_section(m->cones, use->first + low - 1);

		if (!exclusive || s->exclusive)
			return s;
	}
	return NULL;
}

static bool closed(const struct m2 *m, const struct lock_section *s, uint32_t thread)
{
	return s->release != NONE && s->q < m->cone.prefix[thread];
}

/* Order every closed section of a lock before an open one. */
static enum outcome open_section(struct m2 *m, uint32_t thread, const struct lock_section *open)
{
	uint32_t object = m->t->events[open->acquire].target, users;
	const struct lock_user *use = cones_lock(m->cones, object, &users);
	enum outcome o = DONE;

	for (uint32_t i = 0; i < users && o == DONE; i++) {
		if (use[i].thread == thread || m->cone.prefix[use[i].thread] == 0)
			continue;
		const struct lock_section *s = last_section(
		        m, &use[i], m->cone.prefix[use[i].thread], !open->exclusive);
		if (s == NULL || !closed(m, s, use[i].thread) ||
		    (s->release < m->w.cut && open->acquire >= m->w.cut) ||
		    (s->release < m->w.cut && s->release < open->acquire))
			continue;
		o = closure_edge(m, s->release, open->acquire, STEP_OPEN_SECTION, object);
	}
	return o;
}

static enum outcome open_sections(struct m2 *m)
{
	g_autoptr(GArray) here = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	enum outcome o = DONE;

	for (uint32_t u = 0; u < m->threads && o == DONE; u++) {
		const uint32_t *open = cones_open(m->cones, u, m->cone.prefix[u], here);

		for (uint32_t i = 0; i < here->len && o == DONE; i++)
			o = open_section(m, u, cones_section(m->cones, open[i]));
	}
	return o;
}

/* "wait before waker", if the wake is in the cone. */
static enum outcome edges_of_waker(struct m2 *m, uint32_t e)
{
	struct must_run must = trace_must_into(m->t, e);
	enum outcome o = DONE;

	for (uint64_t i = must.first; i < must.first + must.count && o == DONE; i++) {
		const struct must_edge *edge = &m->t->index->must[i];

		if (edge->condition != NONE && m2_in_cone(m, edge->condition) &&
		    edge->before >= m->w.cut)
			o = closure_edge(m, edge->before, e, STEP_MUST, edge->rule);
	}
	return o;
}

/* Order a tryfail before the ends of the sections that held the lock. */
static enum outcome edges_of_tryfail(struct m2 *m, uint32_t e)
{
	struct event_list held = cones_tried(m->cones, e);
	enum outcome o = DONE;

	for (uint64_t i = 0; i < held.count && o == DONE; i++) {
		uint32_t release = m->t->index->partner[held.items[i]];

		if (release != NONE && m2_in_cone(m, release))
			o = closure_edge(m, e, release, STEP_OBSERVATION, NONE);
	}
	return o;
}

/* Order an event before, or after, other threads' operations on its object in the window. */
static enum outcome edges_of_object(struct m2 *m, uint32_t e, bool before)
{
	struct event_list list =
	        event_list_at(&m->t->index->object_events, m->t->events[e].target);
	enum outcome o = DONE;

	if (before && cones_tried(m->cones, e).count == 0)
		return DONE;
	for (uint64_t i = 0; i < list.count && o == DONE; i++) {
		uint32_t f = list.items[i];

		if (f < m->w.cut || f == e || !m2_in_cone(m, f))
			continue;
		if (before && f > e && m->t->events[f].op == OP_POST)
			o = closure_edge(m, e, f, STEP_OBSERVATION, NONE);
		if (!before && f < e)
			o = closure_edge(m, f, e, STEP_MUST, MUST_FREE);
	}
	return o;
}

/* Order every access to a block in the window before its free. */
static enum outcome edges_of_frees(struct m2 *m)
{
	enum outcome o = DONE;

	for (guint i = 0; i < m->w.block_uses->len && o == DONE; i++) {
		const struct block_use *u =
		        &g_array_index(m->w.block_uses, struct block_use, i);

		o = closure_edge(m, u->event, m->t->blocks[u->block].free, STEP_MUST,
		                 MUST_FREE);
	}
	return o;
}

static enum outcome odd_edges(struct m2 *m, uint32_t e)
{
	switch (m->t->events[e].op) {
	case OP_TRYFAIL:
		return edges_of_tryfail(m, e);
	case OP_TAKETRYFAIL:
		return edges_of_object(m, e, true);
	case OP_DESTROY:
		return edges_of_object(m, e, false);
	default:
		return edges_of_waker(m, e);
	}
}

/* Edges for accesses recorded after their block's free. */
static enum outcome late_edges(struct m2 *m)
{
	const GArray *late = cones_late(m->cones);
	enum outcome o = DONE;

	for (guint i = 0; i < late->len && o == DONE; i++) {
		const struct late_access *l = &g_array_index(late, struct late_access, i);

		if (m2_in_cone(m, l->access) && m2_in_cone(m, l->free))
			o = closure_edge(m, l->access, l->free, STEP_MUST, MUST_FREE);
	}
	return o;
}

enum outcome closure_start(struct m2 *m)
{
	chain_graph_clear(m->order);
	g_array_set_size(m->edges, 0);
	g_array_set_size(m->changes, 0);
	m->all_fresh = true;
	m->head_first = false;
	enum outcome o = open_sections(m);
	if (o == DONE)
		o = late_edges(m);
	for (guint i = 0; i < m->w.odd->len && o == DONE; i++)
		o = odd_edges(m, g_array_index(m->w.odd, uint32_t, i));
	if (o == DONE)
		o = edges_of_frees(m);
	return o;
}

/* ---- Closure ---- */

/* May predecessors of (j, position) in thread i have changed since the last round? */
static bool fresh_into(const struct m2 *m, uint32_t i, uint32_t j, uint32_t position)
{
	return m->all_fresh || (i != j && m->fresh_q[i * m->threads + j] <= position);
}

/* May successors of (i, position) in thread j have changed since the last round? */
static bool fresh_from(const struct m2 *m, uint32_t i, uint32_t position, uint32_t j)
{
	return m->all_fresh || (i != j && m->fresh_p[i * m->threads + j] > position);
}

/* w' <P r implies w' <P w. */
static enum outcome earlier_write(struct m2 *m, const struct reading *r, const struct run *run)
{
	uint32_t before =
	        run->thread == r->thread
	                ? r->position
	                : chain_predecessors(m->order, r->thread, r->position, run->thread);
	uint32_t n = window_run_before(m->w.writes, run, before), other;

	if (n == 0)
		return DONE;
	other = g_array_index(m->w.writes, struct access, run->first + n - 1).event;
	if (other == r->writer)
		return DONE;
	if (r->writer == NONE) /* initial value: r must be before `other` */
		return closure_edge(m, r->event, other, STEP_CLOSURE_READ, NONE);
	return closure_edge(m, other, r->writer, STEP_CLOSURE_WRITE, r->event);
}

/* w <P w' implies r <P w'. */
static enum outcome later_write(struct m2 *m, const struct reading *r, const struct run *run)
{
	uint32_t from = 0, n;

	if (r->writer != NONE && !(m->head_first && r->writer < m->w.cut)) {
		uint32_t thread = m->t->events[r->writer].thread;
		uint32_t position = m2_position(m, r->writer);

		from = thread == run->thread
		               ? position + 1
		               : chain_successor(m->order, thread, position, run->thread);
		if (from == NONE)
			return DONE;
	}
	n = window_run_before(m->w.writes, run, from);
	if (n == run->count)
		return DONE;
	const struct access *other = &g_array_index(m->w.writes, struct access, run->first + n);
	if (other->event == r->event)
		return DONE;
	return closure_edge(m, r->event, other->event, STEP_CLOSURE_READ, r->writer);
}

static enum outcome close_reading(struct m2 *m, const struct reading *r)
{
	const struct window *w = &m->w;
	uint32_t first = g_array_index(w->write_start, uint32_t, r->local);
	uint32_t end = g_array_index(w->write_start, uint32_t, r->local + 1);
	enum outcome o = DONE;

	for (uint32_t i = first; i < end && o == DONE; i++) {
		const struct run *run = &g_array_index(w->write_runs, struct run, i);
		bool from_head = r->writer == NONE || (m->head_first && r->writer < w->cut);

		m->work++;
		if (fresh_into(m, run->thread, r->thread, r->position))
			o = earlier_write(m, r, run);
		if (o != DONE || run->thread == r->thread)
			continue;
		if (from_head ? m->all_fresh
		              : fresh_from(m, m->t->events[r->writer].thread,
		                           m2_position(m, r->writer), run->thread))
			o = later_write(m, r, run);
	}
	return o;
}

/* a1 <P r2 implies r1 <P a2. */
static enum outcome close_section(struct m2 *m, uint32_t object, const struct lock_section *s2,
                                  uint32_t thread, const struct lock_user *use)
{
	uint32_t before = chain_predecessors(m->order, thread, s2->q, use->thread);
	const struct lock_section *s1 = last_section(m, use, before, !s2->exclusive);

	if (s1 == NULL)
		return DONE;
	if (!closed(m, s1, use->thread)) /* must be after the closed one */
		return closure_edge(m, s2->release, s1->acquire, STEP_OPEN_SECTION, object);
	if (s1->release < m->w.cut)
		return DONE;
	return closure_edge(m, s1->release, s2->acquire, STEP_CLOSURE_LOCK, object);
}

static enum outcome close_lock(struct m2 *m, uint32_t object)
{
	uint32_t users;
	const struct lock_user *use = cones_lock(m->cones, object, &users);
	enum outcome o = DONE;

	for (uint32_t j = 0; j < users && o == DONE; j++) {
		uint32_t thread = use[j].thread;
		uint32_t in_cone = cones_begun(m->cones, &use[j], m->cone.prefix[thread]);

		for (uint32_t k = in_cone; k-- > 0 && o == DONE;) {
			const struct lock_section *s2 =
			        cones_section(m->cones, use[j].first + k);

			if (!closed(m, s2, thread))
				continue;
			if (s2->q < m->w.base[thread])
				break;
			for (uint32_t i = 0; i < users && o == DONE; i++) {
				m->work++;
				if (i != j && fresh_into(m, use[i].thread, thread, s2->q))
					o = close_section(m, object, s2, thread, &use[i]);
			}
		}
	}
	return o;
}

/* Start a round: take over the changes since the last one. */
static void begin_round(struct m2 *m)
{
	if (m->threads > TRACKED_THREADS) {
		m->all_fresh = true;
		g_array_set_size(m->changes, 0);
		return;
	}
	for (guint i = 0; i < m->changes->len; i++) {
		const struct chain_change *c =
		        &g_array_index(m->changes, struct chain_change, i);
		uint32_t pair = c->i * m->threads + c->j;

		m->fresh_q[pair] = MIN(m->fresh_q[pair], c->q);
		m->fresh_p[pair] = MAX(m->fresh_p[pair], c->p + 1);
	}
}

static void clear_fresh(struct m2 *m, GArray *changes)
{
	if (m->threads > TRACKED_THREADS)
		return;
	for (guint i = 0; i < changes->len; i++) {
		const struct chain_change *c = &g_array_index(changes, struct chain_change, i);
		uint32_t pair = c->i * m->threads + c->j;

		m->fresh_q[pair] = NONE;
		m->fresh_p[pair] = 0;
	}
}

static enum outcome closure_round(struct m2 *m)
{
	enum outcome o = DONE;

	for (guint i = 0; i < m->w.readings->len && o == DONE; i++)
		o = close_reading(m, &g_array_index(m->w.readings, struct reading, i));
	for (guint i = 0; i < m->w.locks->len && o == DONE; i++)
		o = close_lock(m, g_array_index(m->w.locks, uint32_t, i));
	return o;
}

enum { WORK_LIMIT = 300000000 };

enum outcome closure_run(struct m2 *m)
{
	GArray *looked = g_array_new(FALSE, FALSE, sizeof(struct chain_change)), *swap;
	enum outcome o = DONE;

	while (o == DONE && (m->all_fresh || m->changes->len > 0)) {
		begin_round(m);
		swap = looked;
		looked = m->changes;
		m->changes = swap;
		g_array_set_size(m->changes, 0);
		o = closure_round(m);
		clear_fresh(m, looked);
		m->all_fresh = false;
		if (o == DONE && m2_too_much(m, WORK_LIMIT))
			o = TOO_MUCH;
	}
	g_array_unref(looked);
	return o;
}

/* A section across the cut ends before others of its lock begin. */
static enum outcome straddling(struct m2 *m, uint32_t object)
{
	uint32_t users;
	const struct lock_user *use = cones_lock(m->cones, object, &users);
	enum outcome o = DONE;

	for (uint32_t i = 0; i < users; i++) {
		uint32_t u = use[i].thread;

		if (m->w.base[u] == 0)
			continue;
		const struct lock_section *s = last_section(m, &use[i], m->w.base[u], false);
		if (s == NULL || !closed(m, s, u) || s->q < m->w.base[u])
			continue;
		for (uint32_t j = 0; j < users && o == DONE; j++) {
			uint32_t k = cones_begun(m->cones, &use[j], m->w.base[use[j].thread]);

			for (; j != i && k < use[j].count && o == DONE; k++) {
				const struct lock_section *s2 =
				        cones_section(m->cones, use[j].first + k);

				if (s2->p >= m->cone.prefix[use[j].thread])
					break;
				if (s->exclusive || s2->exclusive) {
					o = closure_edge(m, s->release, s2->acquire,
					                 STEP_CLOSURE_LOCK, object);
					break;
				}
			}
		}
	}
	return o;
}

enum outcome closure_head_first(struct m2 *m)
{
	enum outcome o = DONE;

	m->head_first = true;
	m->all_fresh = true;
	for (guint i = 0; i < m->w.locks->len && o == DONE; i++)
		o = straddling(m, g_array_index(m->w.locks, uint32_t, i));
	return o == DONE ? closure_run(m) : o;
}

/* ---- The cycle ---- */

void closure_cycle(const struct m2 *m, struct path *path)
{
	/* breadth-first search over added edges joined by the causal order */
	guint count = m->edges->len;
	g_autofree int *parent = g_new(int, count + 1);
	g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(int));
	g_autoptr(GArray) chain = g_array_new(FALSE, FALSE, sizeof(int));
	uint32_t goal = m->failed.from, at = m->failed.to;
	int last = -1;

	for (guint i = 0; i < count; i++) {
		parent[i] = -2;
		if (past_has(m->past, g_array_index(m->edges, struct step, i).from, at)) {
			int edge = (int)i;

			parent[i] = -1;
			g_array_append_val(queue, edge);
		}
	}
	if (!past_has(m->past, goal, at)) {
		for (guint k = 0; k < queue->len && last < 0; k++) {
			int now = g_array_index(queue, int, k);
			uint32_t to = g_array_index(m->edges, struct step, now).to;

			if (past_has(m->past, goal, to))
				last = now;
			for (guint i = 0; i < count && last < 0; i++) {
				int edge = (int)i;

				if (parent[i] != -2 ||
				    !past_has(m->past,
				              g_array_index(m->edges, struct step, i).from, to))
					continue;
				parent[i] = now;
				g_array_append_val(queue, edge);
			}
		}
	}
	for (int i = last; i >= 0; i = parent[i])
		g_array_append_val(chain, i);
	for (guint i = chain->len; i-- > 0;) {
		const struct step *s =
		        &g_array_index(m->edges, struct step, g_array_index(chain, int, i));

		past_path(m->past, at, s->from, false, path, NULL);
		path_add(path, s->from, s->to, s->rule, s->detail);
		at = s->to;
	}
	past_path(m->past, at, goal, false, path, NULL);
	path_add(path, m->failed.from, m->failed.to, m->failed.rule, m->failed.detail);
}
