/*
 * smt_c11.c - C11 races: pairs that no reordering makes next together, since a relaxed atomic's
 * observation orders them in time, but not by C11.
 *
 * The query is a correct reordering that includes both without C11 happens-before between them.
 * A reordering with such an order is rejected with the alternatives on its chain
 * (smt_chase.c), one of which every acceptable reordering has.
 */
#include "engine/predict/smt/smt_private.h"

struct pair_apart {
	struct chase *chase;
	uint32_t pair[2];
	bool stuck;      /* the last rejection had no alternative */
	uint32_t length; /* of the accepted reordering */
};

static bool judge(void *context, struct smt_query *q, const uint32_t *sequence, uint32_t length)
{
	struct pair_apart *p = context;
	g_autoptr(GArray) atoms = g_array_new(FALSE, FALSE, sizeof(struct smt_atom));

	if (chase_apart(p->chase, p->pair, sequence, length, atoms, &p->length))
		return true;
	if (atoms->len > 0)
		smt_query_require(q, (const struct smt_atom *)(void *)atoms->data, atoms->len);
	p->stuck = atoms->len == 0;
	return false;
}

enum smt_answer c11_query(struct smt *s, uint32_t e1, uint32_t e2, double seconds,
                          GArray *sequence, const struct progress *progress)
{
	struct smt_query *q = smt_query_new(s);
	gint64 start = effort_microseconds();
	double before = s->solver_seconds;

	if (s->chase == NULL)
		s->chase = chase_new(s->t, s->past);
	struct pair_apart p = { .chase = s->chase, .pair = { e1, e2 } };
	smt_query_in(q, e1);
	smt_query_in(q, e2);
	smt_query_judge(q, judge, &p);
	/* nothing before the first of the two happens after it */
	q->judged_from = MIN(e1, e2);
	enum smt_answer answer = smt_query_solve(q, seconds, sequence, NULL, progress);
	if (answer == SMT_WITNESS)
		g_array_set_size(sequence, p.length);
	else if (p.stuck) /* the chain is in every reordering */
		answer = SMT_IMPOSSIBLE;
	smt_query_free(q);
	s->solver_seconds = before + (double)(effort_microseconds() - start) / 1e6;
	return answer;
}
