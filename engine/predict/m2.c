/*
 * m2.c - M2 for one pair: cone, quick answers, closure, linearisation, check.
 *
 * See m2_private.h for the idea of the window.  A cycle found in a window is a cycle of
 * the whole cone's order, so it is a proof; a sequence counts only when the checker has
 * accepted it; in between the window grows, in the end to the whole cone, where the
 * algorithm is the one of semantics.md to the letter.
 */
#include "engine/predict/m2_private.h"

#include <string.h>

enum {
	SMALL = 64,                /* a cone that is not worth a window of its own, events */
	WINDOW_LIMIT = 4000000,    /* events of a window that are still worked on */
	WORK_PER_PAIR = 100000000, /* after this much work a window does not grow further */
	/* see m2_bound */
	AT_ONCE = 1 << 17,   /* work that is free where the recording's order is a witness */
	SHORT = 1 << 20,     /* work of a pair that does not need long */
	FREE_WORK = 1 << 26, /* of short pairs: about a second */
	CLOCK_INTERVAL = 1 << 18 /* work between two looks at the clock */
};

struct m2 *m2_new(struct trace *t, struct checker *checker, const struct progress *progress)
{
	struct cones *cones = cones_new(t, progress);

	if (cones == NULL)
		return NULL;
	struct m2 *m = g_new0(struct m2, 1);
	m->t = t;
	m->cones = cones;
	m->threads = (uint32_t)t->threads_count;
	m->small = SMALL;
	m2_bound(m, G_MAXDOUBLE, G_MAXDOUBLE);
	size_t pairs = (size_t)m->threads * m->threads;
	struct chain_base base = cones_order(cones);
	m->order = chain_graph_new(CHAIN_STAIRS, m->threads, NULL, &base);
	m->own_checker = checker == NULL ? checker_new(t, NULL) : NULL;
	m->checker = checker != NULL ? checker : m->own_checker;
	m->cone.prefix = g_new0(uint32_t, m->threads + 1);
	m->edges = g_array_new(FALSE, FALSE, sizeof(struct step));
	m->changes = g_array_new(FALSE, FALSE, sizeof(struct chain_change));
	m->tail = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	m->fresh_q = g_new(uint32_t, pairs + 1);
	m->fresh_p = g_new0(uint32_t, pairs + 1);
	memset(m->fresh_q, 0xff, (pairs + 1) * sizeof(uint32_t));
	window_init(&m->w, t);
	return m;
}

/* ---- The budget ---- */

void m2_bound(struct m2 *m, double pair, double all)
{
	m->purse.pair = pair;
	m->purse.all = all;
}

void m2_refill(struct m2 *m)
{
	m->purse = (struct m2_purse){ .pair = m->purse.pair, .all = m->purse.all };
}

bool m2_over(const struct m2 *m)
{
	return m->purse.spent_short > m->purse.all;
}

const char *m2_budget(const struct m2 *m)
{
	return m->purse.budget;
}

static bool no_longer_ones(const struct m2 *m)
{
	return m->purse.spent_long > m->purse.all;
}

bool m2_too_much(struct m2 *m, uint64_t work)
{
	struct m2_purse *p = &m->purse;

	p->budget = "pair";
	if (m->work > work)
		return true;
	if (m->work > SHORT && no_longer_ones(m)) {
		p->budget = "total";
		return true;
	}
	if (m->work >= p->look_at_clock) {
		p->look_at_clock = m->work + CLOCK_INTERVAL;
		p->late = effort_clock() > p->began + p->pair;
	}
	return p->late;
}

static void open_purse(struct m2 *m)
{
	struct m2_purse *p = &m->purse;

	m->work = (uint64_t)m->threads * m->threads; /* the cone */
	m->as_recorded = false;
	p->late = false;
	p->look_at_clock = CLOCK_INTERVAL;
	p->began = effort_clock();
}

static void close_purse(struct m2 *m)
{
	struct m2_purse *p = &m->purse;

	if (m->as_recorded && m->work <= AT_ONCE)
		return;
	if (m->work > SHORT && !no_longer_ones(m)) {
		p->spent_long += effort_clock() - p->began;
		return;
	}
	p->work += m->work;
	if (p->work > FREE_WORK)
		p->spent_short += effort_clock() - p->began;
}

void m2_free(struct m2 *m)
{
	if (m == NULL)
		return;
	window_release(&m->w);
	cones_free(m->cones);
	checker_free(m->own_checker);
	chain_graph_free(m->order);
	g_array_unref(m->edges);
	g_array_unref(m->changes);
	g_array_unref(m->tail);
	g_free(m->cone.prefix);
	g_free(m->fresh_q);
	g_free(m->fresh_p);
	g_free(m);
}

uint32_t m2_refused(const struct m2 *m)
{
	return m->refused;
}

bool m2_needs(const struct m2 *m, uint32_t e1, uint32_t e2)
{
	uint32_t previous = trace_previous(m->t, e2);

	return previous != NONE &&
	       cones_before(m->cones, previous, m->t->events[e1].thread) > m2_position(m, e1);
}

bool m2_needs_is_proof(const struct m2 *m)
{
	return !cones_approximate(m->cones);
}

/* ---- Proofs ---- */

/* Which pairings of the recording does a proof stand on? */
static struct proof *finish_proof(struct proof *p)
{
	for (guint i = 0; p->cycle.steps != NULL && i < p->cycle.steps->len; i++) {
		const struct step *s = &g_array_index(p->cycle.steps, struct step, i);

		if (s->rule == STEP_MUST &&
		    (s->detail == MUST_SEMAPHORE || s->detail == MUST_BARRIER ||
		     s->detail == MUST_WAKER || s->detail == MUST_WAIT))
			p->given = "same pairing";
	}
	return p;
}

static bool causal(const struct m2 *m, uint32_t e, uint32_t f)
{
	return e == f || cones_before(m->cones, f, m->t->events[e].thread) > m2_position(m, e);
}

/* `e` is in the cone because `other` needs it: the path, and what the pair asks. */
static bool path_to_need(const struct m2 *m, uint32_t e, uint32_t other, struct path *path)
{
	uint32_t previous = trace_previous(m->t, other);
	struct must_run must = trace_must_into(m->t, other);

	if (previous != NONE && causal(m, e, previous)) {
		cones_path(m->cones, e, previous, path);
		path_add(path, previous, other, STEP_PROGRAM, NONE);
		return true;
	}
	for (uint64_t i = must.first; i < must.first + must.count; i++) {
		const struct must_edge *edge = &m->t->index->must[i];

		if (edge->condition != NONE || !causal(m, e, edge->before))
			continue;
		cones_path(m->cones, e, edge->before, path);
		path_add(path, edge->before, other, STEP_MUST, edge->rule);
		return true;
	}
	return false;
}

static struct proof *prove_by_cone(const struct m2 *m, uint32_t e, uint32_t other)
{
	struct proof *p = proof_new("cone");

	if (path_to_need(m, e, other, &p->cycle))
		path_add(&p->cycle, other, e, STEP_ASSUMED, NONE);
	return finish_proof(p);
}

static struct proof *prove_by_open(const struct m2 *m, const struct section *a,
                                   const struct section *b)
{
	struct proof *p = proof_new("lock");
	uint32_t object = m->t->events[a->acquire].target;
	const struct section *sections[] = { a, b };

	for (int i = 0; i < 2; i++) {
		uint32_t acquire = sections[i]->acquire;
		uint32_t thread = m->t->events[acquire].thread;
		uint32_t next = thread == m->p1 ? m->e1 : thread == m->p2 ? m->e2 : NONE;

		/* still open before the pair's event, so the other cannot have begun */
		if (next != NONE)
			path_add(&p->cycle, acquire, next, STEP_PROGRAM, NONE);
		path_add(&p->cycle, next == NONE ? acquire : next, sections[1 - i]->acquire,
		         STEP_LOCK, object);
	}
	return finish_proof(p);
}

static struct proof *prove_by_cycle(const struct m2 *m)
{
	struct proof *p = proof_new("closure");

	closure_cycle(m, &p->cycle);
	return finish_proof(p);
}

/* ---- Quick answers ---- */

struct opened { /* an open section of the cone */
	const struct section *section;
	uint32_t object, thread;
};

static GArray *open_sections(const struct m2 *m)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct opened));

	for (uint32_t u = 0; u < m->threads; u++) {
		uint32_t count;
		const uint32_t *open = cones_open(m->cones, u, m->cone.prefix[u], &count);

		for (uint32_t i = 0; i < count; i++) {
			const struct section *s = cones_section(m->cones, open[i]);
			struct opened o = { s, m->t->events[s->acquire].target, u };

			g_array_append_val(all, o);
		}
	}
	return all;
}

static bool two_open(const GArray *open, const struct section **a, const struct section **b)
{
	for (guint i = 0; i < open->len; i++) {
		const struct opened *x = &g_array_index(open, struct opened, i);

		for (guint k = 0; k < i; k++) {
			const struct opened *y = &g_array_index(open, struct opened, k);

			if (x->object != y->object || x->thread == y->thread ||
			    !(x->section->exclusive || y->section->exclusive))
				continue;
			*a = y->section;
			*b = x->section;
			return true;
		}
	}
	return false;
}

/* Where the recorded order of the cone breaks a rule: the earliest event that something
 * later has to come before; NONE when the cone can stay as recorded. */
static uint32_t first_broken(const struct m2 *m, const GArray *open)
{
	const GArray *late = cones_late(m->cones);
	uint32_t broken = NONE;

	for (guint i = 0; i < open->len; i++) {
		const struct opened *o = &g_array_index(open, struct opened, i);
		uint32_t users;
		const struct lock_use *use = cones_lock(m->cones, o->object, &users);

		for (uint32_t k = 0; k < users && o->section->acquire < broken; k++) {
			uint32_t u = use[k].thread;
			/* its last section in the cone is the latest: look at that */
			uint32_t low = 0, high = use[k].count;

			while (u != o->thread && low < high) {
				uint32_t middle = low + (high - low) / 2;

				if (cones_section(m->cones, use[k].first + middle)->p <
				    m->cone.prefix[u])
					low = middle + 1;
				else
					high = middle;
			}
			for (; u != o->thread && low > 0; low--) {
				const struct section *s =
				        cones_section(m->cones, use[k].first + low - 1);

				if (!s->exclusive && !o->section->exclusive)
					continue;
				if (s->acquire > o->section->acquire)
					broken = o->section->acquire;
				break;
			}
		}
	}
	for (guint i = 0; i < late->len; i++) {
		const struct late_access *l = &g_array_index(late, struct late_access, i);

		if (m2_in_cone(m, l->access) && m2_in_cone(m, l->free))
			broken = MIN(broken, l->free);
	}
	return broken;
}

/* ---- Sequences ---- */

/* Does the checker accept the recording up to the cut, then the tail? */
static bool accepted_after(struct m2 *m, uint32_t cut)
{
	const uint32_t pair[] = { m->e1, m->e2 };

	m->work += m->tail->len;
	g_array_append_vals(m->tail, pair, 2);
	bool good = checker_race_after(m->checker, cut, (const uint32_t *)m->tail->data,
	                               m->tail->len, pair, NULL);
	g_array_set_size(m->tail, m->tail->len - 2);
	return good;
}

/* Append the cone's events from one event up to another, in their recorded order. */
static void append_cone(const struct m2 *m, GArray *to, uint32_t from, uint32_t end)
{
	uint32_t count = to->len;

	g_array_set_size(to, count + (end - from) + 1);
	for (uint32_t e = from; e < end; e++) {
		g_array_index(to, uint32_t, count) = e;
		count += m2_in_cone(m, e);
	}
	g_array_set_size(to, count);
}

/* Does the checker accept what the cone holds before the cut, as recorded, then the tail? */
static bool accepted_whole(struct m2 *m, uint32_t cut, GArray *witness)
{
	const uint32_t pair[] = { m->e1, m->e2 };

	m->work += cut + m->tail->len;
	g_array_set_size(witness, 0);
	append_cone(m, witness, 0, cut);
	g_array_append_vals(witness, m->tail->data, m->tail->len);
	g_array_append_vals(witness, pair, 2);
	bool good = checker_claim(m->checker, (const uint32_t *)witness->data, witness->len,
	                          CLAIM_RACE, pair, 2, NULL);
	m->refused += !good;
	return good;
}

/* When nobody wants the witness, more than the cone may be in it: the whole recording up
 * to the cut, which the checker has mostly taken already. */
static bool accepted(struct m2 *m, uint32_t cut, GArray *witness)
{
	if (witness != NULL)
		return accepted_whole(m, cut, witness);
	if (accepted_after(m, cut))
		return true;
	GArray *scratch = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	bool good = accepted_whole(m, cut, scratch);
	g_array_unref(scratch);
	return good;
}

/* m->tail: the cone's events from the cut on, in their recorded order. */
static void recorded_tail(struct m2 *m, uint32_t cut)
{
	uint32_t end = cut;

	for (uint32_t u = 0; u < m->threads; u++) {
		if (m->cone.prefix[u] > 0)
			end = MAX(end, m2_event(m, u, m->cone.prefix[u] - 1) + 1);
	}
	g_array_set_size(m->tail, 0);
	m->work += (end - cut) / 4;
	append_cone(m, m->tail, cut, end);
}

/* The whole recording up to the pair, and what that and the cone need after it: an open
 * section of a thread that was stopped there is brought to its end. */
static bool recorded_and_closed(struct m2 *m)
{
	uint32_t *prefix = g_memdup2(m->cone.prefix, m->threads * sizeof(uint32_t));
	bool extended = m->cone.extended, exact = m->cone.exact, good;

	window_base(m, m->e1);
	for (uint32_t u = 0; u < m->threads; u++)
		m->cone.prefix[u] = MAX(m->cone.prefix[u], m->w.base[u]);
	cone_close(m->cones, m->p1, m->p2, &m->cone);
	good = !m2_in_cone(m, m->e1) && !m2_in_cone(m, m->e2);
	if (good) {
		recorded_tail(m, m->e1);
		good = accepted_after(m, m->e1);
	}
	memcpy(m->cone.prefix, prefix, m->threads * sizeof(uint32_t));
	m->cone.extended = extended;
	m->cone.exact = exact;
	g_free(prefix);
	return good;
}

/* The cone as recorded. */
static bool as_recorded(struct m2 *m, GArray *witness)
{
	if (witness == NULL && recorded_and_closed(m))
		return true;
	recorded_tail(m, m->e1);
	return accepted(m, m->e1, witness);
}

/* ---- The closure and its linearisations ---- */

/* The paper's linearisation, for thread `u` and the rest. */
static enum outcome max_min(struct m2 *m, uint32_t u, GArray *witness)
{
	enum outcome o = linear_order_others(m, u);

	if (o != DONE)
		return o == CYCLE ? FAILED : o;
	return linear_max_min(m, u) && accepted(m, m->w.cut, witness) ? DONE : FAILED;
}

static enum outcome linearise(struct m2 *m, GArray *witness)
{
	if (linear_recorded(m) && accepted(m, m->w.cut, witness))
		return DONE;
	enum outcome o = max_min(m, m->p1, witness);
	if (o == DONE || o == REACHES_BACK || o == TOO_MUCH)
		return o;
	/* from the start again: the first try has ordered too much */
	o = closure_start(m);
	if (o == DONE)
		o = closure_run(m);
	if (o == DONE && m->w.cut > 0)
		o = closure_head_first(m);
	if (o == DONE)
		o = max_min(m, m->p2, witness);
	return o == CYCLE ? FAILED : o;
}

/* One window: DONE is a race, CYCLE an impossibility. */
static enum outcome try_window(struct m2 *m, GArray *witness)
{
	if (!window_fill(m, WINDOW_LIMIT)) {
		m->purse.budget = "pair";
		return TOO_MUCH;
	}
	if (m2_too_much(m, WORK_PER_PAIR))
		return TOO_MUCH;
	enum outcome o = closure_start(m);
	if (o == DONE)
		o = closure_run(m);
	if (o != DONE)
		return o;
	if (m->w.cut > 0) {
		o = closure_head_first(m);
		if (o != DONE)
			return o == CYCLE ? FAILED : o;
	}
	return linearise(m, witness);
}

static enum outcome by_closure(struct m2 *m, uint32_t cut, GArray *witness)
{
	enum outcome o;

	m->w.cut = cut;
	while ((o = try_window(m, witness)) == REACHES_BACK || o == FAILED) {
		uint32_t width = MAX(MAX(m->e2, m->e1) - MIN(m->w.cut, m->e2), m->small + 1);

		if (m->w.cut == 0)
			return FAILED;
		if (m2_too_much(m, WORK_PER_PAIR))
			return TOO_MUCH;
		if (o == REACHES_BACK)
			m->w.cut = m->reach;
		else
			m->w.cut = m->w.cut > 2 * width ? m->w.cut - 2 * width : 0;
		/* nearly everything: then everything, and the definition to the letter */
		if (m->w.cut < m->small)
			m->w.cut = 0;
	}
	return o;
}

/* Where a proof is one: what the cone holds has to be in every witness. */
static bool claims(const struct m2 *m)
{
	return !m->cone.extended && m->cone.exact;
}

static enum m2_verdict decide(struct m2 *m, uint32_t e1, uint32_t e2, GArray *witness,
                              struct proof **proof)
{
	const struct section *a, *b;
	struct proof *scratch = NULL;

	if (proof == NULL)
		proof = &scratch;
	*proof = NULL;
	m->e1 = e1;
	m->e2 = e2;
	m->p1 = m->t->events[e1].thread;
	m->p2 = m->t->events[e2].thread;
	cone_make(m->cones, e1, e2, &m->cone);
	if (m2_in_cone(m, e1) || m2_in_cone(m, e2)) {
		if (claims(m) && proof != &scratch)
			*proof = m2_in_cone(m, e1) ? prove_by_cone(m, e1, e2)
			                           : prove_by_cone(m, e2, e1);
		return claims(m) ? M2_IMPOSSIBLE : M2_REJECTED;
	}
	GArray *open = open_sections(m);
	if (two_open(open, &a, &b)) {
		g_array_unref(open);
		if (claims(m) && proof != &scratch)
			*proof = prove_by_open(m, a, b);
		return claims(m) ? M2_IMPOSSIBLE : M2_REJECTED;
	}
	uint32_t cut = first_broken(m, open);
	g_array_unref(open);
	if (m2_over(m) || (no_longer_ones(m) && e2 - e1 > SHORT)) {
		m->purse.budget = "total";
		return M2_GAVE_UP;
	}
	if (cut == NONE && as_recorded(m, witness)) {
		m->as_recorded = true;
		return M2_RACE;
	}
	enum outcome o = by_closure(m, cut == NONE ? 0 : cut, witness);
	if (o == DONE)
		return M2_RACE;
	if (o == CYCLE && claims(m)) {
		if (proof != &scratch)
			*proof = prove_by_cycle(m);
		return M2_IMPOSSIBLE;
	}
	return o == TOO_MUCH ? M2_GAVE_UP : M2_REJECTED;
}

enum m2_verdict m2_pair(struct m2 *m, uint32_t e1, uint32_t e2, GArray *witness,
                        struct proof **proof)
{
	open_purse(m);
	enum m2_verdict verdict = decide(m, e1, e2, witness, proof);
	close_purse(m);
	return verdict;
}
