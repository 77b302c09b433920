/*
 * m2_budget.c - the time that pairs which end undecided may take; see m2_bound.
 */
#include "engine/predict/m2/m2_private.h"

#include "engine/predict/effort.h"

enum {
	AT_ONCE = 1 << 17,   /* work that is free where the recording's order is a witness */
	FREE_WORK = 1 << 26, /* free work for short pairs: about a second */
	CLOCK_INTERVAL = 1 << 18 /* work between two looks at the clock */
};

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

enum open_reason m2_budget(const struct m2 *m)
{
	return m->purse.open;
}

bool purse_long_spent(const struct m2 *m)
{
	return m->purse.spent_long > m->purse.all;
}

bool m2_too_much(struct m2 *m, uint64_t work)
{
	struct m2_purse *p = &m->purse;

	p->open = OPEN_PAIR;
	if (m->work > work)
		return true;
	if (m->work > SHORT && purse_long_spent(m)) {
		p->open = OPEN_TOTAL;
		return true;
	}
	if (m->work >= p->look_at_clock) {
		p->look_at_clock = m->work + CLOCK_INTERVAL;
		p->late = effort_clock() > p->began + p->pair;
	}
	return p->late;
}

/* Components that the making of a cone reads of one clock, at most (past.c). */
enum { MANY_THREADS = 512 };

void purse_open(struct m2 *m)
{
	struct m2_purse *p = &m->purse;

	m->work = (uint64_t)m->threads * MIN(m->threads, MANY_THREADS); /* the cone */
	m->as_recorded = false;
	p->late = false;
	p->look_at_clock = CLOCK_INTERVAL;
	p->began = effort_clock();
}

void purse_close(struct m2 *m)
{
	struct m2_purse *p = &m->purse;

	if (m->as_recorded && m->work <= AT_ONCE)
		return;
	if (m->work > SHORT && !purse_long_spent(m)) {
		p->spent_long += effort_clock() - p->began;
		return;
	}
	p->work += m->work;
	if (p->work > FREE_WORK)
		p->spent_short += effort_clock() - p->began;
}
