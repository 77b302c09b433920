/*
 * prop_edc.c - EDC against its definition: the least order with program order, the must-order
 * and, for two critical sections on a lock, the first's release before an event of the second
 * that does not commute with an event in the first.
 */
#include "engine/commute/edc.h"
#include "engine/trace/index.h"
#include "tests/property/mix.h"
#include "tests/property/random_spec.h"

#include <string.h>

#define MOST RANDOM_MOST_EVENTS

struct literal {
	struct model *m;
	const struct trace *t;
	uint32_t n;
	bool hidden[MOST]; /* inside of a scope */
	bool effect[MOST]; /* an invocation takes effect there: an ACT or RET */
	bool order[MOST][MOST];
};

static void look(struct literal *l)
{
	uint32_t depth[8] = { 0 };
	for (uint32_t e = 0; e < l->n; e++) {
		const struct event *x = &l->t->events[e];
		l->hidden[e] = depth[x->thread] > 0;
		l->effect[e] = x->op == OP_ACT || x->op == OP_RET;
		depth[x->thread] += x->op == OP_CALL;
		depth[x->thread] -= x->op == OP_RET;
	}
}

static bool conflict(struct literal *l, uint32_t e, uint32_t f)
{
	const struct event *x = &l->t->events[e], *y = &l->t->events[f];
	if (op_is_access(x->op) && op_is_access(y->op))
		return x->target == y->target && (op_writes(x->op) || op_writes(y->op)) &&
		       !l->hidden[e] && !l->hidden[f];
	if (!l->effect[e] || !l->effect[f] || x->target != y->target)
		return false;
	struct call_scratch s1, s2;
	struct call a[MOST_CALLS], b[MOST_CALLS];
	bool overflow = false;
	return model_calls(l->m, e, a, &s1) && model_calls(l->m, f, b, &s2) &&
	       !model_commute(l->m, &a[0], &b[0], &overflow);
}

static bool inside(const struct literal *l, uint32_t e, uint32_t acquire)
{
	uint32_t release = l->t->index->partner[acquire];
	return l->t->events[e].thread == l->t->events[acquire].thread && e > acquire &&
	       (release == NONE || e < release);
}

static void close_order(struct literal *l)
{
	const struct trace *t = l->t;
	for (uint32_t e = 0; e < l->n; e++)
		for (uint32_t f = e + 1; f < l->n; f++) {
			const struct event *x = &t->events[e], *y = &t->events[f];
			l->order[e][f] =
			        x->thread == y->thread ||
			        (x->op == OP_FORK && x->target == y->thread) ||
			        (y->op == OP_JOIN && y->target == x->thread) ||
			        (x->op == OP_SND && y->op == OP_RCV && x->target == y->target);
		}
	for (uint32_t a = 0; a < l->n; a++)
		for (uint32_t b = a + 1; b < l->n; b++) {
			const struct event *x = &t->events[a], *y = &t->events[b];
			uint32_t release = x->op == OP_ACQ ? t->index->partner[a] : NONE;
			if (release == NONE || y->op != OP_ACQ || x->target != y->target ||
			    x->thread == y->thread)
				continue;
			for (uint32_t e = a; e < release; e++)
				for (uint32_t f = b; f < l->n; f++)
					if (inside(l, e, a) && inside(l, f, b) &&
					    conflict(l, e, f))
						l->order[release][f] = true;
		}
	close_relation(l->order, l->n);
}

static uint64_t compare(uint64_t seed, bool ecl)
{
	struct random_case c;
	mix_clocks(seed);
	random_case_make(&c, seed, ecl);
	struct trace *t = c.t;
	struct edc *edc = edc_new(c.m, false, NULL, NULL),
	           *bounded = edc_new(c.m, true, NULL, NULL);
	static struct literal l;
	uint64_t ordered = 0;
	memset(&l, 0, sizeof(l));
	l.m = c.m;
	l.t = t;
	l.n = (uint32_t)t->events_count;
	look(&l);
	close_order(&l);
	for (uint32_t e = 0; edc != NULL && e < l.n; e++)
		for (uint32_t f = e + 1; f < l.n; f++) {
			ck_assert_msg(order_ordered(edc_order(edc), e, f) == l.order[e][f],
			              "seed %" G_GUINT64_FORMAT ": %u, %u should %sbe ordered",
			              seed, e, f, l.order[e][f] ? "" : "not ");
			/* Bounded tracking may lose edges and must not make any up. */
			ck_assert(l.order[e][f] || !order_ordered(edc_order(bounded), e, f));
			ordered += l.order[e][f] && t->events[e].thread != t->events[f].thread;
		}
	edc_free(edc);
	edc_free(bounded);
	random_case_release(&c);
	return ordered;
}

int main(void)
{
	return definition_main(&(struct definition_test){ "edc", compare, 1500, 10000, 10000 });
}
