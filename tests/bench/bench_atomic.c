/*
 * bench_atomic.c - the conflict graph on line: cost per event and the largest graph as traces
 * grow, beside happens-before on the same traces.  Three kinds of traces: units under one
 * lock; units that overlap and are serializable; units that overlap anyhow (cycles all over).
 *
 * usage: bench_atomic [EVENTS...] (default: 100000 400000 1600000)
 */
#include "engine/atomic/atomic.h"
#include "engine/predict/predict.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, VARIABLES = 200, LENGTH = 8 };
enum kind { LOCKED, APART, ANYHOW, KINDS };
static const char *const kind_names[] = { "locked", "apart", "anyhow" };

/* One step of a thread's unit: begins, touches, ends. */
static void step(GString *s, GRand *rand, enum kind kind, int thread, int *at)
{
	int first = kind == APART ? thread * VARIABLES / THREADS : 0;
	int room = kind == APART ? VARIABLES / THREADS : VARIABLES;
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

static void settle(void *cycles, const struct conflict_graph *g, const bool *settled)
{
	cycles_collect(cycles, g, settled);
}

static double seconds_since(gint64 start)
{
	return (double)(g_get_monotonic_time() - start) / 1e6;
}

static double happens_before(struct trace *t)
{
	struct race_options options;
	struct error error;
	race_options_init(&options);
	options.analysis = ANALYSIS_HB;
	gint64 start = g_get_monotonic_time();
	report_free(races_find(t, &options, NULL, &error));
	return seconds_since(start);
}

static void measure(enum kind kind, uint32_t events)
{
	struct trace *t = make(kind, events);
	struct atomic_model *m = atomic_model_declared(t);
	struct cycles *c = cycles_new(t, m);
	struct graph_options o = { .settle = settle, .context = c };
	gint64 start = g_get_monotonic_time();
	struct conflict_graph *g = conflict_graph_new(t, m, &o);
	cycles_collect(c, g, NULL);
	double seconds = seconds_since(start), n = (double)t->events_count;
	printf("%-7s %9.0f events: %5.0f ns an event, largest graph %u of %" G_GUINT64_FORMAT
	       " units, hb %5.0f ns\n",
	       kind_names[kind], n, seconds / n * 1e9, g->largest, g->unit_count,
	       happens_before(t) / n * 1e9);
	conflict_graph_free(g);
	cycles_free(c);
	atomic_model_free(m);
	trace_close(t);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 100000, 400000, 1600000 };
	for (enum kind kind = 0; kind < KINDS; kind++) {
		for (int i = 1; i < argc; i++)
			measure(kind, (uint32_t)strtoul(argv[i], NULL, 10));
		for (size_t i = 0; argc == 1 && i < G_N_ELEMENTS(sizes); i++)
			measure(kind, sizes[i]);
	}
	return 0;
}
