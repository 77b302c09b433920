/*
 * bench_verdicts.c - the tables of docs/benchmarks-analyses.md, "What each analysis finds",
 * beside the ladder, which is exact where it is complete.  Prints Markdown.
 *
 *     build/tests/bench/bench_verdicts TRACE...
 */
#include "engine/predict/predict.h"

#include <stdio.h>
#include <time.h>

static const enum analysis analyses[] = { ANALYSIS_HB,    ANALYSIS_SHB, ANALYSIS_CP,
	                                  ANALYSIS_WCP,   ANALYSIS_DC,  ANALYSIS_WDC,
	                                  ANALYSIS_SYNCP, ANALYSIS_M2,  ANALYSIS_AUTO };
enum { COUNT = G_N_ELEMENTS(analyses), EXACT = COUNT - 1 };

struct result {
	uint64_t pairs, sites;
	uint64_t far, sum;             /* the largest distance, the sum of all */
	GHashTable *variables, *found; /* racy variables; pairs as numbers */
	double seconds;                /* of the processor, by sites */
	bool complete;
};

static uint64_t pair_of(const struct finding *f)
{
	return (uint64_t)f->first << 32 | f->second;
}

/* GLib's for 64 bits is the exclusive or of the halves: the same for most neighbours. */
static guint pair_hash(gconstpointer key)
{
	return (guint)(*(const uint64_t *)key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct report *find(struct trace *t, enum analysis analysis, bool events)
{
	struct race_options options;
	struct error error = { .where = "" };

	race_options_init(&options);
	options.analysis = analysis;
	options.pairs_events = events;
	options.budget_total = 60;
	struct report *r = races_find(t, &options, NULL, &error);
	if (r == NULL)
		fprintf(stderr, "%s: %s\n", trace_name(t), error.what);
	BUG_ON(r == NULL);
	return r;
}

static void measure(struct trace *t, enum analysis analysis, struct result *x)
{
	clock_t start = clock();
	struct report *r = find(t, analysis, false);

	x->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	x->sites = r->findings->len;
	report_free(r);
	r = find(t, analysis, true);
	x->complete = r->complete;
	x->variables = g_hash_table_new(NULL, NULL);
	x->found = g_hash_table_new_full(pair_hash, g_int64_equal, g_free, NULL);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		uint64_t pair = pair_of(f), distance = f->second - f->first - 1;

		x->pairs++;
		x->sum += distance;
		x->far = MAX(x->far, distance);
		g_hash_table_add(x->found, g_memdup2(&pair, sizeof(pair)));
		for (guint k = 0; k < f->variables->len; k++)
			g_hash_table_add(
			        x->variables,
			        GUINT_TO_POINTER(g_array_index(f->variables, uint32_t, k) + 1));
	}
	report_free(r);
}

static unsigned missed(const GHashTable *exact, GHashTable *found)
{
	GHashTableIter i;
	gpointer key;
	unsigned n = 0;

	g_hash_table_iter_init(&i, (GHashTable *)exact);
	while (g_hash_table_iter_next(&i, &key, NULL))
		n += !g_hash_table_contains(found, key);
	return n;
}

static void print_header(const char *title, const char *last)
{
	printf("\n%s\n\n| trace | events |", title);
	for (int a = 0; a < COUNT; a++)
		printf(" %s |", analysis_word(analyses[a]));
	printf("%s\n| --- | ---: |", last);
	for (int a = 0; a < COUNT; a++)
		printf(" ---: |");
	printf("%s\n", *last ? " ---: | ---: |" : "");
}

static void print_rows(int count, char **paths, struct result (*results)[COUNT],
                       const uint64_t *events, void (*cell)(const struct result *all, int a),
                       bool distances)
{
	for (int i = 0; i < count; i++) {
		const struct result *exact = &results[i][EXACT];
		char *name = g_path_get_basename(paths[i]);

		printf("| %s | %" G_GUINT64_FORMAT " |", name, events[i]);
		for (int a = 0; a < COUNT; a++)
			cell(results[i], a);
		if (distances)
			printf(" %.0f | %" G_GUINT64_FORMAT " |",
			       exact->pairs ? (double)exact->sum / (double)exact->pairs : 0,
			       exact->far);
		printf("\n");
		g_free(name);
	}
}

static void cell_pairs(const struct result *all, int a)
{
	unsigned wrong = missed(all[a].found, all[EXACT].found);

	printf(" %" G_GUINT64_FORMAT, all[a].pairs);
	if (wrong > 0)
		printf(" (%u false)", wrong);
	printf("%s |", a == EXACT && !all[a].complete ? " and unknown" : "");
}

static void cell_sites(const struct result *all, int a)
{
	printf(" %" G_GUINT64_FORMAT " |", all[a].sites);
}

static void cell_seconds(const struct result *all, int a)
{
	printf(" %.3f |", all[a].seconds);
}

static void cell_variables(const struct result *all, int a)
{
	unsigned n = missed(all[EXACT].variables, all[a].variables);

	if (a == EXACT)
		printf(" %u racy |", g_hash_table_size(all[a].variables));
	else
		printf(" %u |", n);
}

int main(int argc, char **argv)
{
	int count = argc - 1;
	struct result(*results)[COUNT] = g_malloc0_n(count + 1, sizeof(*results));
	uint64_t *events = g_new0(uint64_t, count + 1);

	for (int i = 0; i < count; i++) {
		struct trace_options options = { .lenient = true };
		struct error error;
		struct trace *t = trace_open(argv[i + 1], &options, NULL, &error);

		if (t == NULL) {
			fprintf(stderr, "%s: %s\n", error.where, error.what);
			return 2;
		}
		events[i] = t->events_count;
		for (int a = 0; a < COUNT; a++) {
			measure(t, analyses[a], &results[i][a]);
			fprintf(stderr, "%s %s: %" G_GUINT64_FORMAT " pairs\n", argv[i + 1],
			        analysis_word(analyses[a]), results[i][a].pairs);
		}
		trace_close(t);
	}
	print_header("Racy pairs of events, and the distance of a race", " mean | largest |");
	print_rows(count, argv + 1, results, events, cell_pairs, true);
	print_header("Racy pairs of locations", "");
	print_rows(count, argv + 1, results, events, cell_sites, false);
	print_header("Racy variables missed", "");
	print_rows(count, argv + 1, results, events, cell_variables, false);
	print_header("Processor seconds, by pairs of locations", "");
	print_rows(count, argv + 1, results, events, cell_seconds, false);
	return 0;
}
