/*
 * bench_chain.c - what the order over chains costs M2 in its two representations, on real
 * traces: the same candidates are decided with Fenwick trees and with staircases.
 *
 * usage: bench_chain [TRACE...] (default: traces of this clone)
 */
#include "engine/predict/m2/m2_private.h"

#include <stdio.h>

enum { PAIRS_PER_ENTRY = 64, PAIRS = 4000 };

struct pair {
	uint32_t e1, e2;
};

static bool needed(const void *m2, uint32_t e1, uint32_t e2)
{
	return m2_needs(m2, e1, e2);
}

/* Candidates that reach the closure. */
static GArray *hard_pairs(struct trace *t, struct m2 *m)
{
	struct order *order = order_new(t, ORDER_KIND_PO, NULL);
	struct candidate_options options = { .order = order, .settled = needed, .context = m };
	struct site_pairs *p = site_pairs_new(t, &options, NULL);
	GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct pair));

	for (uint32_t i = 0; i < site_pairs_count(p); i++) {
		struct site_pair site = site_pairs_at(p, i);

		for (uint32_t k = 0; k < PAIRS_PER_ENTRY * site.variables && pairs->len < PAIRS;
		     k++) {
			struct pair pair;

			if (!site_pairs_next(p, site.first + k % site.variables, &pair.e1,
			                     &pair.e2))
				continue;
			g_array_set_size(m->edges, 0);
			m2_pair(m, pair.e1, pair.e2, NULL, NULL);
			if (m->edges->len > 0)
				g_array_append_val(pairs, pair);
		}
	}
	site_pairs_free(p);
	order_free(order);
	return pairs;
}

static double decide_all(struct m2 *m, const GArray *pairs, uint64_t *edges)
{
	gint64 began = g_get_monotonic_time();

	*edges = 0;
	for (guint i = 0; i < pairs->len; i++) {
		const struct pair *p = &g_array_index(pairs, struct pair, i);

		m2_pair(m, p->e1, p->e2, NULL, NULL);
		*edges += m->edges->len;
	}
	return (double)(g_get_monotonic_time() - began) / 1000;
}

static void use(struct m2 *m, enum chain_kind kind)
{
	struct chain_base base = past_order(m->past);
	uint32_t *lengths = g_new(uint32_t, m->threads + 1);

	for (uint32_t u = 0; u < m->threads; u++)
		lengths[u] = (uint32_t)trace_thread_events(m->t, u).count;
	chain_graph_free(m->order);
	m->order = chain_graph_new(kind, m->threads, lengths, &base);
	g_free(lengths);
}

static bool bench(const char *path)
{
	struct error error;
	struct trace *t =
	        trace_open(path, &(struct trace_options){ .lenient = true }, NULL, &error);
	uint64_t edges;

	if (t == NULL) {
		fprintf(stderr, "%s: %s\n", error.where, error.what);
		return false;
	}
	struct m2 *m = m2_new(t, NULL, NULL);
	GArray *pairs = hard_pairs(t, m);
	printf("%-24s %8u pairs", trace_name(t), pairs->len);
	use(m, CHAIN_STAIRS);
	printf("  staircases %9.1f ms", decide_all(m, pairs, &edges));
	use(m, CHAIN_FENWICK);
	printf("  Fenwick trees %9.1f ms  (%" G_GUINT64_FORMAT " edges)\n",
	       decide_all(m, pairs, &edges), edges);
	g_array_unref(pairs);
	m2_free(m);
	trace_close(t);
	return true;
}

int main(int argc, char **argv)
{
	static const char *const traces[] = { "tests/traces/bubblesort-small.std",
		                              "tests/traces/readerswriters.std",
		                              "tests/traces/ftpserver.std",
		                              "tests/traces/moldyn.std",
		                              "tests/traces/derby.std" };
	bool good = true;

	for (int i = 1; i < argc; i++)
		good &= bench(argv[i]);
	for (size_t i = 0; argc == 1 && i < G_N_ELEMENTS(traces); i++)
		good &= bench(traces[i]);
	return good ? 0 : 1;
}
