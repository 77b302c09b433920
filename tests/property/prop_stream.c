/*
 * prop_stream.c - the passes that race detection by sites makes over a trace, on traces that
 * are long enough for every deferred step, sweep and look-up of theirs, against the orders
 * that are kept as a whole (which prop_orders.c compares with the definitions).
 *
 * Each event has a site of its own, so the pass reports pairs of events: each must be
 * unordered, and each event that is second in an unordered pair must be second in one of
 * them.
 */
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/builder/builder.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 7, GUARDED = 21, SHARED = 9, VARIABLES = GUARDED + SHARED, FEW = 12, MOST = 70 };

struct maker {
	struct builder *b;
	uint64_t random;
	uint32_t threads, count;
	uint32_t thread[MOST], lock[LOCKS], variable[VARIABLES];
	uint32_t held[MOST][2], depth[MOST], left[MOST]; /* by thread */
	bool taken[LOCKS];
	bool shares; /* locks are shared too */
};

static uint32_t below(struct maker *m, uint32_t n)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (uint32_t)((m->random >> 32) * n >> 32);
}

static void emit(struct maker *m, uint32_t u, enum op op, uint32_t target)
{
	struct event event = { .target = target, .thread = (uint16_t)m->thread[u], .op = op };
	char name[16];
	int length = snprintf(name, sizeof(name), "%u", ++m->count);

	event.location = builder_location(m->b, name, (size_t)length);
	if (!builder_add(m->b, event, 0, NULL))
		abort();
}

static uint32_t named(struct maker *m, char kind, uint32_t i)
{
	char name[16];
	size_t length = (size_t)snprintf(name, sizeof(name), "%c%u", kind, i);

	return kind == 'T'   ? builder_thread(m->b, name, length)
	       : kind == 'L' ? builder_object(m->b, name, length)
	                     : builder_place_text(m->b, name, length, 0);
}

/* One in `seldom` accesses is one that should not be. */
static void access_some(struct maker *m, uint32_t u, uint32_t seldom)
{
	bool wrong = below(m, seldom) == 0;
	uint32_t lock = m->depth[u] > 0 ? m->held[u][m->depth[u] - 1] : below(m, LOCKS);

	if ((m->depth[u] > 0) != wrong)
		emit(m, u, below(m, 3) == 0 ? OP_WRITE : OP_READ,
		     m->variable[lock + LOCKS * below(m, GUARDED / LOCKS)]);
	else
		emit(m, u, wrong ? OP_WRITE : OP_READ, m->variable[GUARDED + below(m, SHARED)]);
}

static void step(struct maker *m, uint32_t u, uint32_t seldom)
{
	uint32_t depth = m->depth[u],
	         lock = depth > 0 ? m->held[u][0] + 1 + below(m, LOCKS) : below(m, LOCKS);

	if (m->left[u] > 0) {
		m->left[u]--;
		access_some(m, u, seldom);
	} else if (depth > 0 && below(m, 5) > 0) {
		m->depth[u]--;
		m->taken[m->held[u][depth - 1]] = false;
		emit(m, u, OP_REL, m->lock[m->held[u][depth - 1]]);
		m->left[u] = below(m, 3);
	} else if (depth < 2 && lock < LOCKS && !m->taken[lock]) {
		m->taken[lock] = true;
		m->held[u][m->depth[u]++] = lock;
		emit(m, u, OP_ACQ, m->lock[lock]);
		m->left[u] = below(m, 3);
	}
	if (m->shares && depth == 0 && below(m, 50) == 0 && !m->taken[LOCKS - 1]) {
		emit(m, u, OP_RACQ, m->lock[LOCKS - 1]);
		emit(m, u, OP_READ, m->variable[LOCKS - 1]);
		emit(m, u, OP_RREL, m->lock[LOCKS - 1]);
	}
}

static struct trace *long_trace(uint64_t seed, uint32_t events)
{
	struct maker m = { .random = seed * 0x9e3779b97f4a7c15u + 1, .shares = seed % 4 == 3 };
	struct trace_options options = { 0 };
	uint32_t seldom = 20u << seed % 7;

	m.b = builder_new("long", &options);
	/* many threads, of which few touch a variable at first, or few */
	m.threads = 2 + (uint32_t)(seed % ((seed % 2 ? MOST : FEW) - 1));
	for (uint32_t i = 0; i < m.threads; i++)
		m.thread[i] = named(&m, 'T', i);
	for (uint32_t i = 0; i < LOCKS; i++)
		m.lock[i] = named(&m, 'L', i);
	for (uint32_t i = 0; i < VARIABLES; i++)
		m.variable[i] = named(&m, 'x', i);
	for (uint32_t i = 0; i < SHARED; i++)
		emit(&m, 0, OP_WRITE, m.variable[GUARDED + i]);
	for (uint32_t i = 1; i < m.threads; i++)
		emit(&m, 0, OP_FORK, m.thread[i]);
	while (m.count < events) {
		uint32_t u = below(&m, m.threads);

		for (uint32_t burst = below(&m, 12); burst > 0; burst--)
			step(&m, u, seldom);
	}
	return builder_finish(m.b, true, NULL);
}

/* -- comparing ----------------------------------------------------------------------------- */

struct expected {
	GHashTable *pairs;   /* e1 << 32 | e2, as a pointer */
	GHashTable *seconds; /* e2 + 1 */
};

static gpointer as_pair(uint32_t e1, uint32_t e2)
{
	return (gpointer)((uintptr_t)e1 << 32 | e2);
}

static bool expect(void *context, uint32_t e1, uint32_t e2)
{
	struct expected *x = context;

	g_hash_table_add(x->pairs, as_pair(e1, e2));
	g_hash_table_add(x->seconds, GUINT_TO_POINTER(e2 + 1));
	return true;
}

static uint64_t failures;

static void fail(uint64_t seed, enum order_kind kind, const char *what, uint32_t e1,
                 uint32_t e2)
{
	printf("seed %lu, %s: %s: %u %u\n", (unsigned long)seed, order_kind_word(kind), what,
	       e1, e2);
	failures++;
}

static struct report *streamed(struct trace *t, enum order_kind kind)
{
	struct report *report = report_new(t, "");
	struct race_options options;

	race_options_init(&options);
	struct site_races *races = site_races_new(t, &options);
	stream_sites(t, kind, races, NULL, NULL);
	site_races_report(races, report, "");
	site_races_free(races);
	return report;
}

/* How many pairs the pass reports. */
static uint64_t compare(uint64_t seed, struct trace *t, enum order_kind kind)
{
	struct expected x = { g_hash_table_new(NULL, NULL), g_hash_table_new(NULL, NULL) };
	struct order *order = order_new(t, kind, NULL);
	struct report *report = streamed(t, kind);
	uint64_t count = report->findings->len;
	GHashTableIter left;
	gpointer key;

	pairs_unordered(t, order, kind == ORDER_KIND_SHB, expect, &x, NULL);
	for (guint i = 0; i < count; i++) {
		const struct finding *f = g_ptr_array_index(report->findings, i);

		if (!g_hash_table_contains(x.pairs, as_pair(f->first, f->second)))
			fail(seed, kind, "ordered", f->first, f->second);
		g_hash_table_remove(x.seconds, GUINT_TO_POINTER(f->second + 1));
	}
	g_hash_table_iter_init(&left, x.seconds);
	if (g_hash_table_iter_next(&left, &key, NULL))
		fail(seed, kind, "not seen", NONE, GPOINTER_TO_UINT(key) - 1);
	g_hash_table_destroy(x.pairs);
	g_hash_table_destroy(x.seconds);
	order_free(order);
	report_free(report);
	return count;
}

int main(void)
{
	static const enum order_kind kinds[] = { ORDER_KIND_HB, ORDER_KIND_SHB, ORDER_KIND_WCP,
		                                 ORDER_KIND_DC, ORDER_KIND_WDC };
	uint64_t count = mix_setting("HEDDLE_TRACES", 4000) / 100;
	uint64_t first = mix_setting("HEDDLE_SEED", 0), pairs = 0;

	for (uint64_t seed = first; seed < first + count && failures == 0; seed++) {
		struct trace *t = long_trace(seed, seed % 3 == 0 ? 60000 : 4000);

		for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
			pairs += compare(seed, t, kinds[i]);
		trace_close(t);
	}
	printf("stream: %lu long traces, %lu pairs\n", (unsigned long)count,
	       (unsigned long)pairs);
	return failures != 0;
}
