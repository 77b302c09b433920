/*
 * bench_orders.c - events per second and peak memory of the analyses on a generated trace,
 * beside two floors in the same run: the bare scan (reads each event) and the touching scan
 * (adds one to a 16-byte cell of each event's variable).
 *
 * Each runs in a process of its own, so that its peak memory is its own; the trace is made
 * before and shared.  BENCH_ONLY in the environment names one of them, BENCH_RUNS says how
 * often each runs.
 * usage: bench_orders [TRACE | EVENTS [THREADS [LOCKS [VARIABLES [SEED]]]]]
 */
#include "engine/predict/pairs.h"
#include "engine/trace/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* -- the generated program -------------------------------------------------------------------
 *
 * Threads run in bursts.  Outside of critical sections a thread accesses variables of its
 * own, reads shared ones that were written before the threads began, and now and then one
 * that a lock guards without that lock: those are the races.  Inside it accesses what the
 * lock guards; sections nest in the order of the locks.
 */
enum { MAX_THREADS = 256, MAX_NEST = 3, SITES = 2000 };

struct worker {
	uint32_t held[MAX_NEST], depth, left;
};
struct shape {
	uint64_t events;
	uint32_t threads, locks, variables, seed;
};
struct program {
	struct shape shape;
	struct builder *b;
	struct worker workers[MAX_THREADS];
	bool *taken; /* by lock */
	uint32_t *locks, *places, *sites, *thread_ids;
	uint64_t random, count;
};

static uint32_t below(struct program *p, uint32_t n)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (uint32_t)((p->random >> 32) * n >> 32);
}

static bool chance(struct program *p, uint32_t in_10000)
{
	return below(p, 10000) < in_10000;
}

static void emit(struct program *p, uint32_t thread, enum op op, uint32_t target, uint32_t site)
{
	struct event event = { .target = target,
		               .location = p->sites[site % SITES],
		               .thread = (uint16_t)p->thread_ids[thread],
		               .op = (uint8_t)op };
	struct error error;

	if (!builder_add(p->b, event, 0, &error)) {
		fprintf(stderr, "bench_orders: %s\n", error.what);
		exit(1);
	}
	p->count++;
}

static void access_variable(struct program *p, uint32_t thread, uint32_t variable, bool write)
{
	emit(p, thread, write ? OP_WRITE : OP_READ, p->places[variable], variable * 7 + write);
}

static bool acquire(struct program *p, uint32_t thread, uint32_t lock)
{
	struct worker *w = &p->workers[thread];

	if (lock >= p->shape.locks || w->depth == MAX_NEST || p->taken[lock])
		return false;
	p->taken[lock] = true;
	w->held[w->depth++] = lock;
	w->left = 1 + below(p, 12);
	emit(p, thread, OP_ACQ, p->locks[lock], lock);
	return true;
}

static void release(struct program *p, uint32_t thread)
{
	struct worker *w = &p->workers[thread];
	uint32_t lock = w->held[--w->depth];

	p->taken[lock] = false;
	w->left = w->depth > 0 ? below(p, 6) : 0;
	emit(p, thread, OP_REL, p->locks[lock], lock);
}

static void inside(struct program *p, uint32_t thread)
{
	struct worker *w = &p->workers[thread];
	uint32_t third = p->shape.variables / 3, each = MAX(1, third / p->shape.locks);
	uint32_t lock = w->held[w->depth - 1];

	if (w->left == 0) {
		release(p, thread);
		return;
	}
	w->left--;
	if (chance(p, 170) &&
	    acquire(p, thread, lock + 1 + below(p, MAX(1, p->shape.locks / 8))))
		return;
	access_variable(p, thread, third + lock * each + below(p, each), chance(p, 3000));
}

static void outside(struct program *p, uint32_t thread)
{
	uint32_t third = p->shape.variables / 3;

	if (chance(p, 800)) {
		uint32_t skewed = below(p, 1 + below(p, 1 + below(p, p->shape.locks)));

		acquire(p, thread, skewed);
		return;
	}
	if (!chance(p, 3000)) {
		uint32_t own = MAX(1, third / p->shape.threads);

		access_variable(p, thread, thread * own + below(p, own), chance(p, 3000));
	} else if (chance(p, 9990)) {
		access_variable(p, thread, 2 * third + below(p, third), false);
	} else {
		access_variable(p, thread, third + below(p, third), chance(p, 3000));
	}
}

static void name(char *text, size_t size, char kind, uint32_t i)
{
	snprintf(text, size, "%c%u", kind, i);
}

static void declare(struct program *p)
{
	char text[32];

	for (uint32_t i = 0; i < p->shape.threads; i++) {
		name(text, sizeof(text), 'T', i);
		p->thread_ids[i] = builder_thread(p->b, text, strlen(text));
	}
	for (uint32_t i = 0; i < p->shape.locks; i++) {
		name(text, sizeof(text), 'L', i);
		p->locks[i] = builder_object(p->b, text, strlen(text));
	}
	for (uint32_t i = 0; i < p->shape.variables; i++) {
		name(text, sizeof(text), 'V', i);
		p->places[i] = builder_place_text(p->b, text, strlen(text), 0);
	}
	for (uint32_t i = 0; i < SITES; i++) {
		name(text, sizeof(text), 's', i);
		p->sites[i] = builder_location(p->b, text, strlen(text));
	}
}

static struct trace *generate(struct shape shape)
{
	struct program *p = g_new0(struct program, 1);
	struct trace_options options = { 0 };
	struct error error;
	struct trace *t;

	p->shape = shape;
	p->random = shape.seed * 0x9e3779b97f4a7c15u + 1;
	p->b = builder_new("generated", &options);
	p->taken = g_new0(bool, shape.locks);
	p->locks = g_new(uint32_t, shape.locks);
	p->places = g_new(uint32_t, shape.variables);
	p->sites = g_new(uint32_t, SITES);
	p->thread_ids = g_new(uint32_t, shape.threads);
	declare(p);
	for (uint32_t i = 2 * (shape.variables / 3); i < 3 * (shape.variables / 3); i += 7)
		access_variable(p, 0, i, true);
	for (uint32_t i = 1; i < shape.threads; i++)
		emit(p, 0, OP_FORK, p->thread_ids[i], i);
	while (p->count + 3 * shape.threads < shape.events) {
		uint32_t thread = below(p, shape.threads);

		for (uint32_t burst = 1 + below(p, 16); burst > 0; burst--) {
			if (p->workers[thread].depth > 0)
				inside(p, thread);
			else
				outside(p, thread);
		}
	}
	for (uint32_t i = 0; i < shape.threads; i++) {
		while (p->workers[i].depth > 0)
			release(p, i);
	}
	for (uint32_t i = 1; i < shape.threads; i++)
		emit(p, 0, OP_JOIN, p->thread_ids[i], i);
	t = builder_finish(p->b, true, &error);
	if (t == NULL) {
		fprintf(stderr, "bench_orders: %s\n", error.what);
		exit(1);
	}
	g_free(p->taken);
	g_free(p->locks);
	g_free(p->places);
	g_free(p->sites);
	g_free(p->thread_ids);
	g_free(p);
	return t;
}

/* -- what is measured -------------------------------------------------------------------------
 */

static uint64_t bare(struct trace *t)
{
	uint64_t sum = 0;

	for (uint64_t e = 0; e < t->events_count; e++)
		sum += t->events[e].target ^ t->events[e].thread;
	return sum;
}

static uint64_t touching(struct trace *t)
{
	struct cell {
		uint64_t count, unused;
	} *cells = g_new0(struct cell, t->variables_count + t->objects_count + 256);
	uint64_t sum;

	for (uint64_t e = 0; e < t->events_count; e++)
		cells[t->events[e].target].count++;
	sum = cells[0].count;
	g_free(cells);
	return sum;
}

static uint64_t stream(struct trace *t, enum order_kind kind)
{
	struct race_options options;
	struct site_races *races;
	struct report *report = report_new(t, "");
	uint64_t found;

	race_options_init(&options);
	races = site_races_new(t, &options);
	stream_sites(t, kind, races, NULL);
	site_races_report(races, report, "");
	found = report->findings->len;
	site_races_free(races);
	report_free(report);
	return found;
}

static uint64_t stream_hb(struct trace *t)
{
	return stream(t, ORDER_KIND_HB);
}
static uint64_t stream_shb(struct trace *t)
{
	return stream(t, ORDER_KIND_SHB);
}
static uint64_t stream_wcp(struct trace *t)
{
	return stream(t, ORDER_KIND_WCP);
}
static uint64_t stream_dc(struct trace *t)
{
	return stream(t, ORDER_KIND_DC);
}
static uint64_t stream_wdc(struct trace *t)
{
	return stream(t, ORDER_KIND_WDC);
}

static uint64_t whole(struct trace *t, race_run *run)
{
	struct race_options options;
	struct report *report;
	uint64_t found;

	race_options_init(&options);
	report = run(t, &options, NULL, NULL);
	found = report->findings->len;
	report_free(report);
	return found;
}

static uint64_t whole_lockset(struct trace *t)
{
	return whole(t, races_lockset);
}
/* Without the making and checking of witnesses, which costs their length each. */
static uint64_t sites_syncp(struct trace *t)
{
	struct race_options options;
	struct site_races *races;
	struct report *report = report_new(t, "");
	uint64_t found;

	race_options_init(&options);
	races = site_races_new(t, &options);
	syncp_sites(t, races, NULL);
	site_races_report(races, report, "");
	found = report->findings->len;
	site_races_free(races);
	report_free(report);
	return found;
}

static uint64_t whole_syncp(struct trace *t)
{
	return whole(t, races_syncp);
}

enum {
	OF_SECTIONS = INDEX_THREADS | INDEX_MATCH | INDEX_MUST,
	OF_SYNCP = OF_SECTIONS | INDEX_VARIABLES
};

/* In a process of its own it is made anew. */
static uint64_t index_must(struct trace *t)
{
	trace_need(t, INDEX_MUST, NULL);
	return 0;
}
static uint64_t index_parts(struct trace *t)
{
	trace_need(t, OF_SYNCP, NULL);
	return 0;
}

static const struct {
	const char *name;
	uint64_t (*run)(struct trace *t);
	/* Begins when these parts of the index are there, as beside a binary trace. */
	unsigned parts;
} runs[] = {
	{ "bare scan", bare, 0 },           { "touching scan", touching, 0 },
	{ "(must-order)", index_must, 0 },  { "(index)", index_parts, 0 },
	{ "hb", stream_hb, INDEX_MUST },    { "shb", stream_shb, INDEX_MUST },
	{ "wcp", stream_wcp, OF_SECTIONS },  { "dc", stream_dc, OF_SECTIONS },
	{ "wdc", stream_wdc, OF_SECTIONS },  { "lockset", whole_lockset, INDEX_VARIABLES },
	{ "syncp", sites_syncp, OF_SYNCP }, { "syncp, witnesses", whole_syncp, OF_SYNCP },
};

struct result {
	double seconds;
	uint64_t found;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Processor time, the best of three (or of BENCH_RUNS), so that pages are there; of an index
 * the first. */
static struct result measure(struct trace *t, size_t i)
{
	struct result best = { 1e9, 0 };
	const char *times = getenv("BENCH_RUNS");
	int count = times != NULL ? MAX(1, atoi(times)) : 3;

	for (int k = 0; k < (runs[i].name[0] == '(' ? 1 : count); k++) {
		double start = now();

		best.found = runs[i].run(t);
		best.seconds = MIN(best.seconds, now() - start);
	}
	return best;
}

static struct result in_child(struct trace *t, size_t i, long *peak)
{
	struct result result = { 0 };
	struct rusage usage;
	int pipes[2], status;
	pid_t child;

	if (pipe(pipes) != 0 || (child = fork()) < 0)
		exit(1);
	if (child == 0) {
		result = measure(t, i);
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

static int run_all(struct trace *t)
{
	const char *only = getenv("BENCH_ONLY");
	double touch = 0;

	if (t == NULL) {
		fprintf(stderr, "bench_orders: no such trace\n");
		return 1;
	}
	printf("%lu events, %lu threads; trace %lu MB\n", (unsigned long)t->events_count,
	       (unsigned long)t->threads_count,
	       (unsigned long)(t->events_count * sizeof(struct event) >> 20));
	printf("%-18s %9s %12s %9s %9s %7s\n", "", "seconds", "M events/s", "touching",
	       "peak MB", "found");
	for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
		struct result r;
		long peak;

		if (only != NULL && i != 1 && strcmp(only, runs[i].name) != 0)
			continue;
		if (runs[i].parts != 0)
			trace_need(t, runs[i].parts, NULL);
		r = in_child(t, i, &peak);
		if (i == 1)
			touch = r.seconds;
		printf("%-18s %9.3f %12.1f %8.1fx %9ld %7lu\n", runs[i].name, r.seconds,
		       (double)t->events_count / r.seconds / 1e6,
		       touch > 0 ? r.seconds / touch : 0, peak >> 10, (unsigned long)r.found);
		fflush(stdout);
	}
	trace_close(t);
	return 0;
}

int main(int argc, char **argv)
{
	struct shape shape = { 10 * 1000 * 1000, 8, 64, 100 * 1000, 1 };
	uint32_t *const more[] = { &shape.threads, &shape.locks, &shape.variables,
		                   &shape.seed };

	if (argc > 1 && access(argv[1], R_OK) == 0)
		return run_all(trace_open(argv[1], NULL, NULL, NULL));
	if (argc > 1)
		shape.events = strtoull(argv[1], NULL, 10);
	for (int i = 2; i < argc && i < 6; i++)
		*more[i - 2] = (uint32_t)strtoul(argv[i], NULL, 10);
	shape.threads = CLAMP(shape.threads, 2, MAX_THREADS);
	printf("%u locks, %u variables: ", shape.locks, shape.variables);
	return run_all(generate(shape));
}
