/*
 * m2.c - M2 for one pair: cone, quick answers, closure, linearisation, check.
 *
 * For windows see m2_private.h. A cycle in a window is a cycle in the whole cone's order, so it
 * is a proof; a sequence counts when the checker has accepted it. Otherwise the window grows,
 * at last to the whole cone, with the algorithm of semantics.md.
 */
#include "engine/base/search.h"
#include "engine/predict/m2/m2_private.h"

#include <string.h>

enum {
	SMALL = 64,                /* a cone that is not worth a window of its own, events */
	WINDOW_LIMIT = 4000000,    /* events of a window that are still worked on */
	WORK_PER_PAIR = 100000000, /* after this much work a window does not grow further */
};

struct m2 *m2_new(struct trace *t, struct checker *checker, const struct progress *progress)
{
	struct cones *cones = cones_new(t, progress);

	if (cones == NULL)
		return NULL;
	struct m2 *m = g_new0(struct m2, 1);
	m->t = t;
	m->cones = cones;
	m->past = cones_past(cones);
	m->threads = (uint32_t)t->threads_count;
	m->small = SMALL;
	m2_bound(m, G_MAXDOUBLE, G_MAXDOUBLE);
	size_t pairs = m->threads > TRACKED_THREADS ? 0 : (size_t)m->threads * m->threads;
	struct chain_base base = past_order(m->past);
	m->order = chain_graph_new(m->threads, &base);
	m->checker = checker;
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

void m2_lend_checker(struct m2 *m, struct checker *checker)
{
	m->checker = checker;
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

const struct past *m2_past(const struct m2 *m)
{
	return m->past;
}

uint32_t m2_refused(const struct m2 *m)
{
	return m->refused;
}

void m2_tails(struct m2 *m, uint32_t least)
{
	m->tails = least;
}

uint32_t m2_recorded(const struct m2 *m)
{
	return m->recorded;
}

bool m2_needs(const struct m2 *m, uint32_t e1, uint32_t e2)
{
	uint32_t previous = trace_previous(m->t, e2);

	return previous != NONE && past_has(m->past, previous, e1);
}

bool m2_needs_is_proof(const struct m2 *m)
{
	return !cones_approximate(m->cones);
}

/* ---- Proofs ---- */

/* Note the recorded pairings that a proof depends on. */
static struct proof *finish_proof(const struct m2 *m, struct proof *p)
{
	for (guint i = 0; p->cycle.steps != NULL && i < p->cycle.steps->len; i++) {
		p->same_pairing |= past_step_pairs(
		        m->past, &g_array_index(p->cycle.steps, struct step, i));
	}
	return p;
}

static struct proof *prove_by_cone(const struct m2 *m, uint32_t e, uint32_t other)
{
	struct proof *p = proof_new(PROOF_CONE);

	if (past_has_before(m->past, other, e)) {
		past_path(m->past, e, other, true, &p->cycle, NULL);
		path_add(&p->cycle, other, e, STEP_ASSUMED, NONE);
	}
	return finish_proof(m, p);
}

static struct proof *prove_by_open(const struct m2 *m, const struct lock_section *a,
                                   const struct lock_section *b)
{
	struct proof *p = proof_new(PROOF_LOCK);
	uint32_t object = m->t->events[a->acquire].target;
	const struct lock_section *sections[] = { a, b };

	for (int i = 0; i < 2; i++) {
		uint32_t acquire = sections[i]->acquire;
		uint32_t thread = m->t->events[acquire].thread;
		uint32_t next = thread == m->p1 ? m->e1 : thread == m->p2 ? m->e2 : NONE;

		/* still open before the pair's event, so the other cannot begin */
		if (next != NONE)
			path_add(&p->cycle, acquire, next, STEP_PROGRAM, NONE);
		path_add(&p->cycle, next == NONE ? acquire : next, sections[1 - i]->acquire,
		         STEP_LOCK, object);
	}
	return finish_proof(m, p);
}

static struct proof *prove_by_cycle(const struct m2 *m)
{
	struct proof *p = proof_new(PROOF_CLOSURE);

	closure_cycle(m, &p->cycle);
	return finish_proof(m, p);
}

/* ---- Quick answers ---- */

/* An open section of the cone. */
struct opened {
	const struct lock_section *section;
	uint32_t object, thread;
};

static GArray *open_sections(const struct m2 *m)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct opened));
	g_autoptr(GArray) here = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t u = 0; u < m->threads; u++) {
		const uint32_t *open = cones_open(m->cones, u, m->cone.prefix[u], here);

		for (uint32_t i = 0; i < here->len; i++) {
			const struct lock_section *s = cones_section(m->cones, open[i]);
			struct opened o = { s, m->t->events[s->acquire].target, u };

			g_array_append_val(all, o);
		}
	}
	return all;
}

static bool two_open(const GArray *open, const struct lock_section **a,
                     const struct lock_section **b)
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

/* The earliest event, in the recorded order of the cone, that a later one must precede; NONE:
 * the recorded order is valid. */
static uint32_t first_broken(const struct m2 *m, const GArray *open)
{
	const GArray *late = cones_late(m->cones);
	uint32_t broken = NONE;

	for (guint i = 0; i < open->len; i++) {
		const struct opened *o = &g_array_index(open, struct opened, i);
		uint32_t users;
		const struct lock_user *use = cones_lock(m->cones, o->object, &users);

		for (uint32_t k = 0; k < users && o->section->acquire < broken; k++) {
			uint32_t u = use[k].thread;
			/* only its last section in the cone matters */
			uint32_t low = u == o->thread ? 0
			                              : cones_begun(m->cones, &use[k],
			                                            m->cone.prefix[u]);

			for (; low > 0; low--) {
				const struct lock_section *s =
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

/* May the witness, if one is wanted, begin with the recording up to the cut? */
static bool begins_recorded(const struct m2 *m, uint32_t cut, const GArray *witness)
{
	return witness == NULL || (m->tails > 0 && cut > m->tails);
}

/* Does the checker accept the recording up to the cut and then the tail? */
static bool accepted_after(struct m2 *m, uint32_t cut, GArray *witness)
{
	const uint32_t pair[] = { m->e1, m->e2 };

	m->work += m->tail->len;
	g_array_append_vals(m->tail, pair, 2);
	bool good = checker_race_after(m->checker, cut, (const uint32_t *)m->tail->data,
	                               m->tail->len, pair, NULL);
	if (good && witness != NULL) {
		g_array_set_size(witness, 0);
		g_array_append_vals(witness, m->tail->data, m->tail->len);
		m->recorded = cut;
	}
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

/* Does the checker accept the cone's events before the cut, as recorded, and then the tail? */
static bool accepted_whole(struct m2 *m, uint32_t cut, GArray *witness)
{
	const uint32_t pair[] = { m->e1, m->e2 };

	m->work += cut + m->tail->len;
	g_array_set_size(witness, 0);
	append_cone(m, witness, 0, cut);
	g_array_append_vals(witness, m->tail->data, m->tail->len);
	g_array_append_vals(witness, pair, 2);
	bool good = checker_claim(m->checker, event_list_of(witness),
	                          claimed_of(CLAIM_RACE, pair, 2), NULL);
	m->refused += !good;
	return good;
}

/* Prepend the cone's events from one event up to another to the tail, as recorded. */
static void prepend_cone(struct m2 *m, uint32_t from, uint32_t end)
{
	g_autoptr(GArray) before = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	append_cone(m, before, from, end);
	m->work += (end - from) / 4;
	g_array_prepend_vals(m->tail, before->data, before->len);
}

/* The recording up to the cut may be used instead of the cone: the checker has mostly accepted
 * it before. Where other threads stand in critical sections there that the tail needs, the
 * recording up to an event before those sections may still do. */
static bool accepted(struct m2 *m, uint32_t cut, GArray *witness)
{
	enum { NEAR = 64, WIDER = 8, FAR = 1 << 18 }; /* events before the first cut */
	g_autoptr(GArray) scratch = NULL;

	for (uint32_t width = NEAR; begins_recorded(m, cut, witness); width *= WIDER) {
		uint32_t from = cut > width ? cut - width : 0;

		if (accepted_after(m, cut, witness))
			return true;
		if (width > FAR || from == 0)
			break;
		prepend_cone(m, from, cut);
		cut = from;
	}
	if (witness == NULL)
		witness = scratch = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return accepted_whole(m, cut, witness);
}

/* Set m->tail to the cone's events from the cut on, as recorded. */
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

/* The recording up to the pair, with the rest of the cone: open sections of stopped threads are
 * completed. */
static bool recorded_and_closed(struct m2 *m, GArray *witness)
{
	g_autofree uint32_t *prefix = g_memdup2(m->cone.prefix, m->threads * sizeof(uint32_t));
	bool extended = m->cone.extended, exact = m->cone.exact, good;

	window_base(m, m->e1);
	for (uint32_t u = 0; u < m->threads; u++)
		m->cone.prefix[u] = MAX(m->cone.prefix[u], m->w.base[u]);
	cone_close(m->cones, m->p1, m->p2, &m->cone);
	good = !m2_in_cone(m, m->e1) && !m2_in_cone(m, m->e2);
	if (good) {
		recorded_tail(m, m->e1);
		good = accepted_after(m, m->e1, witness);
	}
	memcpy(m->cone.prefix, prefix, m->threads * sizeof(uint32_t));
	m->cone.extended = extended;
	m->cone.exact = exact;
	return good;
}

/* Try the cone in recorded order. */
static bool as_recorded(struct m2 *m, GArray *witness)
{
	if (begins_recorded(m, m->e1, witness) && recorded_and_closed(m, witness))
		return true;
	recorded_tail(m, m->e1);
	return accepted(m, m->e1, witness);
}

/* ---- The closure and its linearisations ---- */

/* The paper's linearisation for thread `u` against the rest. */
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
	/* restart: the first try added too many edges */
	o = closure_start(m);
	if (o == DONE)
		o = closure_run(m);
	if (o == DONE && m->w.cut > 0)
		o = closure_head_first(m);
	if (o == DONE)
		o = max_min(m, m->p2, witness);
	return o == CYCLE ? FAILED : o;
}

/* Try one window: DONE is a race, CYCLE an impossibility. */
static enum outcome try_window(struct m2 *m, GArray *witness)
{
	if (!window_fill(m, WINDOW_LIMIT)) {
		m->purse.open = OPEN_PAIR;
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
		/* the window has nearly all: use the whole cone, and the exact definition */
		if (m->w.cut < m->small)
			m->w.cut = 0;
	}
	return o;
}

/* Is a cycle a proof, because every witness contains the cone? */
static bool claims(const struct m2 *m)
{
	return !m->cone.extended && m->cone.exact;
}

static enum m2_verdict decide(struct m2 *m, uint32_t e1, uint32_t e2, GArray *witness,
                              struct proof **proof)
{
	const struct lock_section *a, *b;
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
	if (m2_over(m) || (purse_long_spent(m) && e2 - e1 > SHORT)) {
		m->purse.open = OPEN_TOTAL;
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
	enum m2_verdict verdict;

	m->recorded = 0;
	if (m->checker == NULL)
		m->checker = m->own_checker = checker_new(m->t, NULL);
	purse_open(m);
	verdict = decide(m, e1, e2, witness, proof);
	purse_close(m);
	return verdict;
}
