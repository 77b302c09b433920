/*
 * smt.c - maximal causality: the loop between scheduler and solver.
 *
 * The least region (the causal pasts of the events in question) is tried first, along the
 * recorded order and without the solver. Only constraints that such a try ran into are ever
 * given to the solver; threads go beyond the least region only where a constraint offers that
 * (a release that frees a lock, with --values a write).
 */
#include "engine/predict/smt/smt_private.h"

#include <string.h>

enum {
	/* From this number of events on a try alone takes as long as the solver, and counts as
	 * its time. */
	LARGE_REGION = 200000,
	QUERY_WORK = 1 << 22, /* and this much work for one query, whatever the clock says */
};

double smt_solver_seconds(const struct smt *s)
{
	return s->solver_seconds + (s->unpaired != NULL ? s->unpaired->solver_seconds : 0);
}

const struct past *smt_past(const struct smt *s)
{
	return s->past;
}

/* Is an excluded event in the causal past of a required one?  Then the path is the proof. */
static bool refuted_by_past(struct smt_query *q, struct proof **proof)
{
	for (guint i = 0; i < q->out->len; i++) {
		uint32_t out = g_array_index(q->out, uint32_t, i);

		if (!cut_has(q->s->t, q->base, out))
			continue;
		for (guint j = 0; proof != NULL && j < q->required->len; j++) {
			const struct requirement *r =
			        &g_array_index(q->required, struct requirement, j);
			bool before = r->next || r->unobserved, paired = false;

			if (!(before ? past_has_before(q->s->past, r->event, out)
			             : past_has(q->s->past, r->event, out)))
				continue;
			*proof = proof_new(PROOF_CONE);
			past_path(q->s->past, out, r->event, before, &(*proof)->cycle, &paired);
			path_add(&(*proof)->cycle, r->event, out, STEP_ASSUMED, NONE);
			(*proof)->same_pairing = paired;
			break;
		}
		return true;
	}
	return false;
}

static struct proof *solver_proof(struct smt_query *q, struct encoding *x)
{
	struct proof *p = proof_new(PROOF_SOLVER);

	for (guint i = 0; i + 1 < q->required->len; i++) {
		path_add(&p->cycle, g_array_index(q->required, struct requirement, i).event,
		         g_array_index(q->required, struct requirement, i + 1).event,
		         STEP_ASSUMED, NONE);
	}
	encoding_proof(x, &p->cycle);
	return p;
}

bool smt_has_tries(struct smt *s)
{
	if (trace_has(s->t, OPERATIONS_FAILED))
		smt_need_tables(s);
	return s->has_tries;
}

bool smt_tries_spent(const struct smt *s)
{
	return s->work >= FREE_TRIES && smt_solver_seconds(s) >= s->options.budget_total;
}

enum smt_answer smt_query_solve(struct smt_query *q, double seconds, GArray *sequence,
                                struct proof **proof, const struct progress *progress)
{
	struct encoding *x = NULL;
	enum smt_answer answer;
	gint64 start;
	bool counts;

	g_array_set_size(sequence, 0);
	if (proof != NULL)
		*proof = NULL;
	query_make_base(q);
	if (refuted_by_past(q, proof))
		return SMT_IMPOSSIBLE;
	smt_need_tables(q->s);
	memcpy(q->cut, q->base, sizeof(uint32_t) * q->s->threads);
	g_array_set_size(q->chosen, 0);
	g_array_append_vals(q->chosen, q->edges->data, q->edges->len);
	query_sort_chosen(q);
	counts = query_region_size(q) > LARGE_REGION;
	if (seconds <= 0 && (counts || smt_tries_spent(q->s)))
		return SMT_SPENT;
	start = effort_microseconds();
	q->deadline = start + (gint64)(seconds * 1e6);
	q->work_check = q->s->work + QUERY_WORK;
	q->stopped = false;
	counts |= q->s->work >= FREE_TRIES;
	answer = query_search(q, &x, progress);
	if (x != NULL || counts)
		q->s->solver_seconds += (double)(effort_microseconds() - start) / 1e6;
	if (answer == SMT_WITNESS)
		g_array_append_vals(sequence, q->sequence->data, q->sequence->len);
	if (answer == SMT_IMPOSSIBLE && proof != NULL)
		*proof = solver_proof(q, x);
	encoding_free(x);
	return answer;
}
