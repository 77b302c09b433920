/*
 * bench_tree.c - TREE before happens-before on the two programs of the thesis's
 * micro-benchmarks (figures 5.1 and 5.3): what is skipped, processor time and peak memory, with
 * and without.
 *
 * "shared": all threads count one variable under the same locks.  "private": main counts it,
 * too, between the threads that it starts, and each thread has locks of its own.  The
 * parameters are those of figure 5.2: threads, iterations, locks; one changes at a time. Prints
 * a table for docs/benchmarks-papers.md.  usage: bench_tree [THREADS ITERATIONS LOCKS]
 */
#include "engine/partial/tree.h"
#include "engine/predict/predict.h"
#include "engine/trace/formats.h"
#include "engine/trace/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 5 };

struct shape {
	bool private;
	unsigned threads, iterations, locks;
};

/* -- the programs ----------------------------------------------------------------------- */

static void iteration(const struct shape *s, unsigned thread, GString *out)
{
	char owner[16] = "";

	if (s->private)
		g_snprintf(owner, sizeof(owner), "%u.", thread);
	for (unsigned l = 0; l < s->locks; l++)
		g_string_append_printf(out, "T%u|acq(L%s%u)|4\n", thread, owner, l);
	g_string_append_printf(out, "T%u|r(x)|5\nT%u|w(x)|5\n", thread, thread);
	for (unsigned l = s->locks; l-- > 0;)
		g_string_append_printf(out, "T%u|rel(L%s%u)|6\n", thread, owner, l);
}

static struct trace *program(const struct shape *s)
{
	GString *text = g_string_new(NULL);
	GRand *r = g_rand_new_with_seed(1);
	unsigned *left = g_new(unsigned, s->threads), running = s->threads;
	struct error error;

	for (unsigned i = 0; i < s->threads; i++) {
		left[i] = s->iterations;
		if (s->private)
			g_string_append(text, "main|r(x)|2\nmain|w(x)|2\n");
		g_string_append_printf(text, "main|fork(T%u)|3\n", i);
	}
	while (running > 0) {
		unsigned i = (unsigned)g_rand_int_range(r, 0, (gint32)s->threads);

		if (left[i] == 0)
			continue;
		iteration(s, i, text);
		running -= --left[i] == 0;
	}
	struct trace *t = trace_from_text("program", text->str, text->len, NULL, &error);
	if (t == NULL)
		fprintf(stderr, "%s: %s\n", error.where, error.what);
	g_string_free(text, TRUE);
	g_rand_free(r);
	g_free(left);
	return t;
}

/* -- measuring -------------------------------------------------------------------------- */

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static guint happens_before(struct trace *t)
{
	struct race_options options;
	struct error error;

	race_options_init(&options);
	options.analysis = ANALYSIS_HB;
	struct report *r = races_find(t, &options, NULL, &error);
	guint found = r->findings->len;
	report_free(r);
	return found;
}

struct result {
	double filter, analysis; /* seconds, the best of RUNS */
	uint64_t events, accesses, dropped;
	guint found;
	long memory; /* kB, what either of them had at most above what it began with */
};

/* The trace that a reader of the filtered one would have. */
static struct trace *without(struct trace *t, const uint64_t *keep)
{
	GString *text = g_string_new(NULL);
	struct trace_options lenient = { .lenient = true };
	struct error error;
	struct trace *less;

	trace_print(t, TRACE_TEXT, keep, text, NULL);
	less = trace_from_text("less", text->str, text->len, &lenient, &error);
	g_string_free(text, TRUE);
	return less;
}

/* kB of memory that the process has at most had since `reset`, or has now. */
static long status_of(const char *what)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kilobytes = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (g_str_has_prefix(line, what))
			kilobytes = strtol(line + strlen(what), NULL, 10);
	}
	if (file != NULL)
		fclose(file);
	return kilobytes;
}

static long reset(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (file != NULL) {
		fputs("5", file);
		fclose(file);
	}
	return status_of("VmRSS:");
}

static void measure(struct trace *t, enum tree_rule rule, bool filter, struct result *result)
{
	struct trace *less = t;
	uint64_t *keep = NULL;
	double begin;
	long before = reset();

	result->events = t->events_count;
	for (uint64_t e = 0; e < t->events_count; e++)
		result->accesses += op_is_access(t->events[e].op);
	result->filter = result->analysis = 1e9;
	for (int i = 0; filter && i < RUNS; i++) {
		g_free(keep);
		begin = processor_seconds();
		keep = tree_filter(t, rule, &result->dropped, NULL);
		result->filter = MIN(result->filter, processor_seconds() - begin);
	}
	result->memory = status_of("VmHWM:") - before;
	if (filter)
		less = without(t, keep);
	trace_need(less, INDEX_MUST, NULL);
	before = reset();
	for (int i = 0; i < RUNS; i++) {
		begin = processor_seconds();
		result->found = happens_before(less);
		result->analysis = MIN(result->analysis, processor_seconds() - begin);
	}
	result->memory = MAX(result->memory, status_of("VmHWM:") - before);
}

/* In a process of its own, so that its memory is its own. */
static struct result apart(struct trace *t, enum tree_rule rule, bool filter)
{
	struct result result = { 0 };
	int ends[2];

	if (pipe(ends) != 0)
		exit(EXIT_FAILURE);
	fflush(stdout);
	if (fork() == 0) {
		measure(t, rule, filter, &result);
		_exit(write(ends[1], &result, sizeof(result)) != sizeof(result));
	}
	close(ends[1]);
	if (read(ends[0], &result, sizeof(result)) != sizeof(result))
		exit(EXIT_FAILURE);
	close(ends[0]);
	wait(NULL);
	return result;
}

static void row(const struct shape *s)
{
	struct trace *t = program(s);
	struct result plain = apart(t, TREE_PAPER, false), paper = apart(t, TREE_PAPER, true),
	              sound = apart(t, TREE_SOUND, true);

	printf("| %s | %u | %u | %u | %" G_GUINT64_FORMAT
	       " | %.1f | %.1f | %.2f | %.2f + %.2f | %.2f + %.2f | %ld | %ld | %ld | %u, %u, "
	       "%u |\n",
	       s->private ? "private" : "shared", s->threads, s->iterations, s->locks,
	       plain.events, 100.0 * (double)paper.dropped / (double)plain.accesses,
	       100.0 * (double)sound.dropped / (double)plain.accesses, 1e3 * plain.analysis,
	       1e3 * paper.filter, 1e3 * paper.analysis, 1e3 * sound.filter,
	       1e3 * sound.analysis, plain.memory, paper.memory, sound.memory, plain.found,
	       paper.found, sound.found);
	trace_close(t);
}

int main(int argc, char **argv)
{
	static const unsigned shapes[][3] = {
		{ 10, 100, 10 },  { 50, 100, 10 }, { 100, 100, 10 }, { 10, 1000, 10 },
		{ 10, 5000, 10 }, { 10, 100, 50 }, { 10, 100, 100 }, { 100, 100, 100 },
	};

	printf("| locks are | threads | iterations | locks | events | %% of accesses skipped, "
	       "paper | %% "
	       "skipped, "
	       "`--for hb` | hb alone, ms | filter + hb, paper, ms | filter + hb, `--for hb`, "
	       "ms | "
	       "kB: hb alone | paper | `--for hb` | pairs: alone, paper, `--for hb` |\n");
	printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- "
	       "|\n");
	for (int private = 0; private < 2; private ++) {
		struct shape s = { private };

		if (argc == 4) {
			s.threads = (unsigned)atoi(argv[1]);
			s.iterations = (unsigned)atoi(argv[2]);
			s.locks = (unsigned)atoi(argv[3]);
			row(&s);
			continue;
		}
		for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
			s.threads = shapes[i][0];
			s.iterations = shapes[i][1];
			s.locks = shapes[i][2];
			row(&s);
		}
	}
	return EXIT_SUCCESS;
}
