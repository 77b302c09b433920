/*
 * bench_atomic.c - the conflict graph as traces grow: cost per event and the largest graph,
 * on line and after the fact, beside a scan that reads every event and happens-before on the
 * same traces.  Four kinds of traces: units under one lock; units that overlap and are
 * serializable; units that overlap anyhow (cycles all over), on many variables and on few (one
 * component without end).
 *
 * usage: bench_atomic [EVENTS...] (default: 1000000 4000000 10000000)
 */
#include "engine/atomic/atomic.h"
#include "engine/predict/predict.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 8, VARIABLES = 200, FEW = 40, LENGTH = 8 };
enum kind { LOCKED, APART, ANYHOW, CROWDED, KINDS };
static const char *const kind_names[] = { "locked", "apart", "anyhow", "crowded" };

/* One step of a thread's unit: begins, touches, ends. */
static void step(GString *s, GRand *rand, enum kind kind, int thread, int *at)
{
	int first = kind == APART ? thread * VARIABLES / THREADS : 0;
	int room = kind == APART ? VARIABLES / THREADS : kind == CROWDED ? FEW : VARIABLES;
	if (*at == 0)
		g_string_append_printf(s, "%sT%d|ubeg(u%d,S)|\n", "", thread, thread);
	else if (*at == LENGTH - 1)
		g_string_append_printf(s, "T%d|uend(u%d)|\n", thread, thread);
	else
		g_string_append_printf(s, "T%d|%s(x%d)|a.c:%d\n", thread,
		                       g_rand_boolean(rand) ? "r" : "w",
		                       first + g_rand_int_range(rand, 0, room), *at);
	*at = (*at + 1) % LENGTH;
}

static struct trace *make(enum kind kind, uint32_t events)
{
	GRand *rand = g_rand_new_with_seed(5);
	GString *s = g_string_new("#! atomic-set S");
	struct error error;
	int at[THREADS] = { 0 };
	for (int i = 0; i < VARIABLES; i++)
		g_string_append_printf(s, " x%d", i);
	g_string_append_c(s, '\n');
	for (uint32_t n = 0; n < events;) {
		int thread = g_rand_int_range(rand, 0, THREADS);
		if (kind == LOCKED)
			g_string_append_printf(s, "T%d|acq(m)|\n", thread);
		do {
			step(s, rand, kind, thread, &at[thread]);
			n++;
		} while (kind == LOCKED && at[thread] != 0);
		if (kind == LOCKED)
			g_string_append_printf(s, "T%d|rel(m)|\n", thread);
		n += 2 * (kind == LOCKED);
	}
	struct trace *t = trace_from_text(kind_names[kind], s->str, s->len, NULL, &error);
	if (t == NULL)
		BUG("%s", error.what);
	g_string_free(s, TRUE);
	g_rand_free(rand);
	return t;
}

static void settle(void *cycles, const struct conflict_graph *g, const uint32_t *units,
                   uint32_t count)
{
	cycles_collect(cycles, g, units, count);
}

/* Processor time, in seconds. */
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double happens_before(struct trace *t)
{
	struct race_options options;
	struct error error;
	race_options_init(&options);
	options.analysis = ANALYSIS_HB;
	double start = now();
	report_free(races_find(t, &options, NULL, &error));
	return now() - start;
}

/* What reading costs: every event once. */
static double scan(const struct trace *t)
{
	double start = now();
	volatile uint64_t sum = 0;
	uint64_t local = 0;
	for (uint64_t i = 0; i < t->events_count; i++)
		local += t->events[i].target ^ t->events[i].op;
	sum = local;
	return now() - start + 0 * (double)sum;
}

enum way { ONLINE, AFTER, WAYS };

static double graph(const struct trace *t, const struct atomic_model *m, enum way way,
                    struct conflict_counts *counts)
{
	struct cycles *c = cycles_new(t, m);
	struct graph_options o = { .settle = way == ONLINE ? settle : NULL, .context = c };
	double start = now();
	struct conflict_graph *g = conflict_graph_new(t, m, &o);
	cycles_collect(c, g, NULL, 0);
	double seconds = now() - start;
	*counts = g->counts;
	conflict_graph_free(g);
	cycles_free(c);
	return seconds;
}

static void measure(enum kind kind, uint32_t events)
{
	struct trace *t = make(kind, events);
	struct atomic_model *m = atomic_model_declared(t);
	struct conflict_counts counts[WAYS];
	double n = (double)t->events_count, ns[WAYS];
	for (enum way way = 0; way < WAYS; way++)
		ns[way] = graph(t, m, way, &counts[way]) / n * 1e9;
	printf("| %s | %.1f M | %.2f M | %.0f | %.0f | %.1f | %.0f | %u | %u |\n",
	       kind_names[kind], n / 1e6, (double)counts[ONLINE].units / 1e6, ns[ONLINE],
	       ns[AFTER], scan(t) / n * 1e9, happens_before(t) / n * 1e9,
	       counts[ONLINE].largest, counts[AFTER].largest);
	fflush(stdout);
	atomic_model_free(m);
	trace_close(t);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 1000000, 4000000, 10000000 };
	puts("| units | events | units made | on line, ns an event | after, ns | scan, ns | "
	     "hb, ns | largest graph on line | after |");
	puts("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
	for (enum kind kind = 0; kind < KINDS; kind++) {
		for (int i = 1; i < argc; i++)
			measure(kind, (uint32_t)strtoul(argv[i], NULL, 10));
		for (size_t i = 0; argc == 1 && i < G_N_ELEMENTS(sizes); i++)
			measure(kind, sizes[i]);
	}
	return 0;
}
