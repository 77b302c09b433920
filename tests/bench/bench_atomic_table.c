/*
 * bench_atomic_table.c - the table of the Marathon paper (table 1) for recordings: units,
 * conflicts, distinct cycles by size, cost on line and after the fact, the largest graph,
 * the depth of open scopes.
 *
 * usage: bench_atomic_table NAME=TRACE[,TRACE...]...
 * A row for each NAME: cycles of all its traces, each counted once; everything else an
 * average, or the most.  tests/bench/atomic_table.sh makes recordings and calls this.
 */
#include "engine/atomic/atomic.h"
#include "engine/predict/predict.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum what { SCAN, HB, ONLINE, AFTER, WHATS };
enum { SIZES = 4 }; /* cycles of 2, 3, 4, more */

struct row {
	guint traces;
	double events, units, conflicts, accesses, depths, seconds[WHATS];
	uint32_t deepest, largest[WHATS];
	GHashTable *cycles[SIZES]; /* codes, as text */
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void once(struct trace *t, const struct atomic_model *m, enum what what,
                 struct conflict_counts *counts)
{
	static volatile uint64_t sum;
	struct race_options races;
	struct error error;
	switch (what) {
	case SCAN:
		for (uint64_t i = 0; i < t->events_count; i++)
			sum += t->events[i].target ^ t->events[i].op;
		break;
	case HB:
		race_options_init(&races);
		races.analysis = ANALYSIS_HB;
		report_free(races_find(t, &races, NULL, &error));
		break;
	default:
		cycles_free(atomic_happened(t, m, what == AFTER, 0, counts, NULL));
	}
}

/* As often as fills a hundredth of a second, three times; the fastest counts. */
static double measure(struct trace *t, const struct atomic_model *m, enum what what,
                      struct conflict_counts *counts)
{
	double best = 1e9;
	for (int i = 0, times = 1; i < 3;) {
		double before = now(), took;
		for (int k = 0; k < times; k++)
			once(t, m, what, counts);
		took = now() - before;
		if (took < 0.01) {
			times *= 2;
			continue;
		}
		best = MIN(best, took / times);
		i++;
	}
	return best;
}

/* The least rotation of its edges' texts. */
static char *cycle_code(const struct trace *t, const struct finding *f)
{
	char *least = NULL;
	for (guint from = 0; from < f->edges->len; from++) {
		GString *s = g_string_new(NULL);
		for (guint i = 0; i < f->edges->len; i++) {
			const struct cycle_edge *e = &g_array_index(f->edges, struct cycle_edge,
			                                            (from + i) % f->edges->len);
			const struct cycle_unit *u =
			        &g_array_index(f->units, struct cycle_unit, e->from);
			bool outside = g_str_has_prefix(u->unit, "event ");
			g_string_append_printf(s, "%s %s;", outside ? "-" : u->unit,
			                       trace_variable_name(t, e->variable));
		}
		if (least == NULL || strcmp(s->str, least) < 0) {
			g_free(least);
			least = g_string_free(s, FALSE);
		} else {
			g_string_free(s, TRUE);
		}
	}
	return least;
}

static void add_cycles(struct row *r, struct trace *t, const struct atomic_model *m)
{
	struct atomic_options all = { .all = true };
	struct report *report = atomic_find(t, m, &all, NULL);
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		g_hash_table_add(r->cycles[MIN(f->units->len - 2, SIZES - 1)],
		                 cycle_code(t, f));
	}
	report_free(report);
}

static bool add_trace(struct row *r, const char *path)
{
	struct error error;
	struct trace *t = trace_open(path, NULL, NULL, &error);
	if (t == NULL) {
		fprintf(stderr, "%s: %s\n", error.where, error.what);
		return false;
	}
	struct atomic_model *m = atomic_model_for(t, NULL, NULL, NULL);
	for (enum what w = 0; w < WHATS; w++) {
		struct conflict_counts c = { 0 };
		r->seconds[w] += measure(t, m, w, &c);
		r->largest[w] = MAX(r->largest[w], c.largest);
		if (w != ONLINE)
			continue;
		r->units += (double)c.units;
		r->conflicts += (double)c.conflicts;
		r->accesses += (double)c.accesses;
		r->depths += (double)c.depths;
		r->deepest = MAX(r->deepest, c.deepest);
	}
	r->traces++;
	r->events += (double)t->events_count;
	add_cycles(r, t, m);
	atomic_model_free(m);
	trace_close(t);
	return true;
}

static void print_row(const char *name, const struct row *r)
{
	double n = r->traces, ns[WHATS];
	for (int w = 0; w < WHATS; w++)
		ns[w] = r->seconds[w] / r->events * 1e9;
	printf("| %s | %.0f | %.0f | %.0f |", name, r->events / n, r->units / n,
	       r->conflicts / n);
	for (int i = 0; i < SIZES; i++)
		printf("%s %u", i ? "," : "", g_hash_table_size(r->cycles[i]));
	printf(" | %.1f | %.0f | %.0f | %.0f | %.1f, %.1f | %u, %u | %.1f, %u |\n", ns[SCAN],
	       ns[HB], ns[ONLINE], ns[AFTER], ns[ONLINE] / ns[HB], ns[AFTER] / ns[HB],
	       r->largest[ONLINE], r->largest[AFTER], r->accesses ? r->depths / r->accesses : 0,
	       r->deepest);
	fflush(stdout);
}

static bool make_row(const char *argument)
{
	char **parts = g_strsplit(argument, "=", 2);
	char **paths = g_strsplit(parts[1] ? parts[1] : "", ",", -1);
	struct row r = { 0 };
	bool good = true;
	for (int i = 0; i < SIZES; i++)
		r.cycles[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (char **p = paths; *p && good; p++)
		good = add_trace(&r, *p);
	if (good && r.traces)
		print_row(parts[0], &r);
	for (int i = 0; i < SIZES; i++)
		g_hash_table_destroy(r.cycles[i]);
	g_strfreev(paths);
	g_strfreev(parts);
	return good;
}

int main(int argc, char **argv)
{
	puts("| program | events | units | conflicts | cycles of 2, 3, 4, more | scan, ns | "
	     "hb, ns "
	     "| on line, ns | after, ns | on line, after / hb | largest graph on line, after "
	     "| depth, most |");
	puts("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
	for (int i = 1; i < argc; i++)
		if (!make_row(argv[i]))
			return 1;
	return 0;
}
