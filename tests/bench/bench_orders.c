/*
 * bench_orders.c - events per second and peak memory of the data-race analyses on a generated
 * trace (tests/support/generate.h), beside two floors in the same run: the bare scan (reads
 * each event) and the touching scan (adds one to a 16-byte cell of each event's variable).
 *
 * Each runs in a process of its own, so that its peak memory is its own; the trace is made
 * before and shared.  In the environment BENCH_ONLY names the rows wanted, with commas;
 * BENCH_RUNS says how often each runs; BENCH_SAVE writes the trace to a file.
 * usage: bench_orders [TRACE | EVENTS [THREADS [LOCKS [VARIABLES [SEED]]]]]
 */
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/formats.h"
#include "engine/trace/index.h"
#include "tests/support/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct row;
struct found {
	uint64_t sites; /* pairs of */
	bool open;      /* some candidates have no verdict */
};

/* -- what is measured ---------------------------------------------------------------------- */

static struct found bare(struct trace *t, const struct row *row)
{
	uint64_t sum = 0;

	for (uint64_t e = 0; e < t->events_count; e++)
		sum += t->events[e].target ^ t->events[e].thread;
	return (struct found){ sum == 1 };
}

static struct found touching(struct trace *t, const struct row *row)
{
	struct cell {
		uint64_t count, unused;
	} *cells = g_new0(struct cell, t->variables_count + t->objects_count + 256);

	for (uint64_t e = 0; e < t->events_count; e++)
		cells[t->events[e].target].count++;
	uint64_t sum = cells[0].count;
	g_free(cells);
	return (struct found){ sum == 1 };
}

/* The others, by what they need of the index: as beside a binary trace, it is there. */
enum {
	OF_SECTIONS = INDEX_THREADS | INDEX_MATCH | INDEX_MUST,
	OF_SYNCP = OF_SECTIONS | INDEX_VARIABLES
};
struct row {
	const char *name;
	struct found (*run)(struct trace *t, const struct row *row);
	unsigned parts; /* of the index that are there when it begins */
	int which;      /* parts of the index, an order or an analysis */
	bool once;      /* not the best of several runs */
};

/* In a process of its own it is made anew. */
static struct found index_parts(struct trace *t, const struct row *row)
{
	trace_need(t, (unsigned)row->which, NULL);
	return (struct found){ 0 };
}

static struct found found_sites(struct trace *t, struct site_races *races)
{
	struct report *report = report_new(t, "");
	struct found found;

	site_races_report(races, report, "");
	found = (struct found){ report->findings->len };
	site_races_free(races);
	report_free(report);
	return found;
}

static struct found order(struct trace *t, const struct row *row)
{
	struct race_options options;

	race_options_init(&options);
	struct site_races *races = site_races_new(t, &options);
	stream_sites(t, (enum order_kind)row->which, races, NULL, NULL);
	return found_sites(t, races);
}

/* Without the making and checking of witnesses, which costs their length each. */
static struct found syncp(struct trace *t, const struct row *row)
{
	struct race_options options;

	race_options_init(&options);
	struct site_races *races = site_races_new(t, &options);
	syncp_sites(t, races, NULL);
	return found_sites(t, races);
}

static struct found whole(struct trace *t, const struct row *row)
{
	struct race_options options;
	struct error error;
	struct found found;

	race_options_init(&options);
	options.analysis = (enum analysis)row->which;
	struct report *report = races_find(t, &options, NULL, &error);
	if (report == NULL) {
		fprintf(stderr, "bench_orders: %s\n", error.what);
		exit(1);
	}
	found = (struct found){ report->findings->len, row->once && !report->complete };
	report_free(report);
	return found;
}

enum { TOUCHING = 1 };
static const struct row rows[] = {
	{ "bare scan", bare },
	{ "touching scan", touching },
	{ "(must-order)", index_parts, 0, INDEX_MUST, true },
	{ "(index)", index_parts, 0, OF_SYNCP, true },
	{ "hb", order, INDEX_MUST, ORDER_KIND_HB },
	{ "shb", order, INDEX_MUST, ORDER_KIND_SHB },
	{ "wcp", order, OF_SECTIONS, ORDER_KIND_WCP },
	{ "dc", order, OF_SECTIONS, ORDER_KIND_DC },
	{ "wdc", order, OF_SECTIONS, ORDER_KIND_WDC },
	{ "syncp", syncp, INDEX_MUST },
	{ "syncp witnesses", whole, INDEX_MUST | INDEX_THREADS, ANALYSIS_SYNCP },
	{ "lockset", whole, INDEX_VARIABLES, ANALYSIS_LOCKSET },
	{ "cp", order, OF_SECTIONS, ORDER_KIND_CP, true },
	{ "m2", whole, OF_SYNCP, ANALYSIS_M2, true },
	{ "smt", whole, OF_SYNCP, ANALYSIS_SMT, true },
	{ "rdit", whole, OF_SYNCP, ANALYSIS_RDIT, true },
	{ "auto", whole, OF_SYNCP, ANALYSIS_AUTO, true },
};

struct result {
	double seconds;
	struct found found;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Processor time, the best of at least three runs (or BENCH_RUNS), and of as many as a second
 * has room for; of what takes long or makes an index the first. */
static struct result measure(struct trace *t, const struct row *row)
{
	struct result best = { 1e9 };
	const char *times = getenv("BENCH_RUNS");
	int least = row->once ? 1 : times != NULL ? MAX(1, atoi(times)) : 3;
	double end = now() + (row->once ? 0 : 1);

	for (int k = 0; k < least || now() < end; k++) {
		double start = now();

		best.found = row->run(t, row);
		best.seconds = MIN(best.seconds, now() - start);
	}
	return best;
}

static struct result in_child(struct trace *t, const struct row *row, long *peak)
{
	struct result result = { 0 };
	struct rusage usage;
	int pipes[2], status;
	pid_t child;

	if (pipe(pipes) != 0 || (child = fork()) < 0)
		exit(1);
	if (child == 0) {
		result = measure(t, row);
		if (write(pipes[1], &result, sizeof(result)) != sizeof(result))
			_exit(1);
		_exit(0);
	}
	close(pipes[1]);
	if (read(pipes[0], &result, sizeof(result)) != sizeof(result))
		exit(1);
	close(pipes[0]);
	wait4(child, &status, 0, &usage);
	*peak = usage.ru_maxrss;
	return result;
}

static double run_row(struct trace *t, const struct row *row, double touch)
{
	long peak;

	if (row->parts != 0)
		trace_need(t, row->parts, NULL);
	struct result r = in_child(t, row, &peak);
	if (row == &rows[TOUCHING])
		touch = r.seconds;
	printf("%-18s %9.3f %12.1f %8.1fx %9ld %7lu%s\n", row->name, r.seconds,
	       (double)t->events_count / r.seconds / 1e6, touch > 0 ? r.seconds / touch : 0,
	       peak >> 10, (unsigned long)r.found.sites, r.found.open ? ", some open" : "");
	fflush(stdout);
	return touch;
}

static int run_all(struct trace *t)
{
	const char *only = getenv("BENCH_ONLY");
	char **wanted = only != NULL ? g_strsplit(only, ",", 0) : NULL;
	double touch = 0;

	printf("%lu events, %lu threads; trace %lu MB\n", (unsigned long)t->events_count,
	       (unsigned long)t->threads_count,
	       (unsigned long)(t->events_count * sizeof(struct event) >> 20));
	printf("%-18s %9s %12s %9s %9s %7s\n", "", "seconds", "M events/s", "touching",
	       "peak MB", "found");
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (wanted == NULL || i == TOUCHING ||
		    g_strv_contains((const char *const *)wanted, rows[i].name))
			touch = run_row(t, &rows[i], touch);
	}
	g_strfreev(wanted);
	trace_close(t);
	return 0;
}

static struct trace *made(int argc, char **argv)
{
	struct generate_shape shape = GENERATE_SHAPE;
	uint32_t *const more[] = { &shape.threads, &shape.locks, &shape.variables,
		                   &shape.seed };
	const char *save = getenv("BENCH_SAVE");
	struct error error;

	if (argc > 1)
		shape.events = strtoull(argv[1], NULL, 10);
	for (int i = 2; i < argc && i < 6; i++)
		*more[i - 2] = (uint32_t)strtoul(argv[i], NULL, 10);
	struct trace *t = generate_trace(shape);
	if (save != NULL && !trace_write(t, save, TRACE_BINARY, NULL, NULL, &error)) {
		fprintf(stderr, "bench_orders: %s: %s\n", error.where, error.what);
		exit(1);
	}
	printf("%u locks, %u variables: ", shape.locks, shape.variables);
	return t;
}

int main(int argc, char **argv)
{
	struct error error;

	if (argc == 1 || access(argv[1], R_OK) != 0)
		return run_all(made(argc, argv));
	struct trace *t = trace_open(argv[1], NULL, NULL, &error);
	if (t == NULL)
		fprintf(stderr, "bench_orders: %s: %s\n", error.where, error.what);
	return t == NULL ? 1 : run_all(t);
}
