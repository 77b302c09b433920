/*
 * prop_rd2.c - RD2 against definition 4.3 taken literally: every pair of invocations, the
 * condition evaluated for it, happens-before by transitive closure.  On random traces with
 * locks, threads, messages, atomic and scoped invocations of random specifications.
 */
#include "engine/commute/rd2.h"
#include "engine/trace/index.h"
#include "tests/property/mix.h"
#include "tests/property/random_spec.h"

#include <string.h>

#define MOST_EVENTS RANDOM_MOST_EVENTS

/* Happens-before as a matrix. */
static void close_order(const struct trace *t, bool (*hb)[MOST_EVENTS])
{
	uint32_t n = (uint32_t)t->events_count, depth[4] = { 0 };
	bool inside[MOST_EVENTS];
	for (uint32_t e = 0; e < n; e++) {
		const struct event *x = &t->events[e];
		inside[e] = depth[x->thread] > 0 || x->op == OP_CALL;
		depth[x->thread] += (x->op == OP_CALL) - (x->op == OP_RET);
		memset(hb[e], 0, sizeof(hb[e]));
	}
	for (uint32_t e = 0; e < n; e++)
		for (uint32_t f = e + 1; f < n; f++) {
			const struct event *x = &t->events[e], *y = &t->events[f];
			bool edge = x->thread == y->thread ||
			            (x->op == OP_FORK && x->target == y->thread) ||
			            (y->op == OP_JOIN && y->target == x->thread);
			if (!inside[e] && !inside[f])
				edge |= x->target == y->target &&
				        ((x->op == OP_REL && y->op == OP_ACQ) ||
				         (x->op == OP_SND && y->op == OP_RCV));
			hb[e][f] = edge;
		}
	close_relation(hb, n);
}

/* The pairs that the definition gives, as first << 32 | second. */
static GHashTable *direct_pairs(struct model *m)
{
	static bool hb[MOST_EVENTS][MOST_EVENTS];
	const struct trace *t = m->t;
	GHashTable *pairs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	struct call_scratch s1, s2;
	struct call a[MOST_CALLS], b[MOST_CALLS];
	bool overflow = false;
	close_order(t, hb);
	for (uint32_t e = 0; e < t->events_count; e++)
		for (uint32_t f = e + 1; f < t->events_count; f++) {
			if (!model_calls(m, e, a, &s1) || !model_calls(m, f, b, &s2) ||
			    a[0].object != b[0].object ||
			    t->events[e].thread == t->events[f].thread)
				continue;
			if (hb[a[0].end][b[0].event] || hb[b[0].end][a[0].event])
				continue;
			if (model_commute(m, &a[0], &b[0], &overflow))
				continue;
			uint64_t first = MIN(a[0].event, b[0].event),
			         second = MAX(a[0].event, b[0].event);
			uint64_t pair = first << 32 | second;
			g_hash_table_add(pairs, g_memdup2(&pair, sizeof(pair)));
		}
	return pairs;
}

static uint64_t compare(uint64_t seed, bool ecl)
{
	struct random_case c;
	struct error error = { 0 };
	uint64_t races = 0;
	mix_clocks(seed);
	random_case_make(&c, seed, ecl);
	struct model *m = c.m;
	GHashTable *expected = direct_pairs(m);
	struct report *r =
	        rd2_find(m, &(struct rd2_options){ .pairs_events = true }, NULL, &error);
	ck_assert_msg(r != NULL, "%s", error.what);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		uint64_t pair = (uint64_t)f->first << 32 | f->second;
		ck_assert_msg(g_hash_table_contains(expected, &pair),
		              "seed %" G_GUINT64_FORMAT ": %u, %u is no race", seed, f->first,
		              f->second);
	}
	races = r->findings->len;
	ck_assert_msg(races == g_hash_table_size(expected),
	              "seed %" G_GUINT64_FORMAT ": %u races found of %u", seed,
	              r->findings->len, g_hash_table_size(expected));
	/* The streaming analysis keeps less; it must find a race on exactly the same traces. */
	struct report *sites = rd2_find(m, &(struct rd2_options){ 0 }, NULL, &error);
	ck_assert_msg((sites->findings->len > 0) == (races > 0), "seed %" G_GUINT64_FORMAT,
	              seed);
	for (guint i = 0; i < sites->findings->len; i++) {
		const struct finding *f = sites->findings->pdata[i];
		uint64_t pair = (uint64_t)f->first << 32 | f->second;
		ck_assert(g_hash_table_contains(expected, &pair));
	}
	report_free(sites);
	report_free(r);
	g_hash_table_destroy(expected);
	random_case_release(&c);
	return races;
}

int main(void)
{
	return definition_main(&(struct definition_test){ "rd2", compare, 3000, 10000, 5000 });
}
