/*
 * bench_rd2.c - theorem 6.6 of the RD2 paper: by access points the time for an invocation
 * does not grow with the length of the trace; the direct way's does.
 *
 * Makes traces of a dictionary that four threads put into, get from and ask for its size,
 * without synchronisation, and prints nanoseconds an invocation for both ways.
 */
#include "engine/commute/rd2.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define DIRECT_MOST 16000 /* the direct way is quadratic */

/* Microseconds of this process alone, so that others on the machine do not count. */
static int64_t processor_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct trace *make_trace(uint32_t invocations)
{
	GString *s = g_string_new("#! object o dict\n");
	uint64_t x = 88172645463325252u;
	for (uint32_t i = 0; i < invocations; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		uint32_t thread = (uint32_t)(x % 4), what = (uint32_t)(x >> 8) % 10;
		uint32_t key = (uint32_t)(x >> 16) % 1000;
		if (what < 3)
			g_string_append_printf(s, "T%u|act(o.put,%u,%u)=%u|%u\n", thread, key,
			                       i, i + 1, what);
		else if (what < 9)
			g_string_append_printf(s, "T%u|act(o.get,%u)=7|%u\n", thread, key,
			                       what);
		else
			g_string_append_printf(s, "T%u|act(o.size)=5|9\n", thread);
	}
	struct error error;
	struct trace *t = trace_from_text("bench", s->str, s->len, NULL, &error);
	if (t == NULL)
		g_error("%s", error.what);
	g_string_free(s, TRUE);
	return t;
}

/* Nanoseconds an invocation. */
static double measure(struct model *m, bool direct)
{
	struct rd2_options options = { .direct = direct };
	struct error error;
	int64_t start = processor_time();
	report_free(rd2_find(m, &options, NULL, &error));
	return (double)(processor_time() - start) * 1000 / (double)m->t->events_count;
}

int main(void)
{
	struct error error;
	struct specs *specs = specs_open(NULL, &error);
	if (specs == NULL || specs_object(specs, "dict") == NULL)
		g_error("no specifications");
	printf("| invocations | by access points, ns each | directly, ns each |\n| --- | --- | "
	       "--- |\n");
	for (uint32_t n = 1000; n <= 1024000; n *= 4) {
		struct trace *t = make_trace(n);
		struct model *m = model_new(t, specs, NULL, &error);
		double best = measure(m, false);
		for (int i = 0; i < 3; i++)
			best = MIN(best, measure(m, false));
		printf("| %u | %.0f | ", n, best);
		if (n <= DIRECT_MOST)
			printf("%.0f |\n", measure(m, true));
		else
			printf("- |\n");
		fflush(stdout);
		model_free(m);
		trace_close(t);
	}
	specs_free(specs);
	return 0;
}
