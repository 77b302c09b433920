/*
 * bench_edc.c - EDC with critical sections tracked in a table, and as four for each
 * location (the thesis's algorithm 3): time, memory, findings.
 *
 * Eight threads take one of many locks and touch the variables and the sets that it guards,
 * or others.
 */
#include "engine/commute/edc.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Kilobytes of /proc/self/status: "VmRSS:", "VmHWM:". */
static long memory(const char *what)
{
	char *text = NULL, *line;
	long kilobytes = 0;
	if (g_file_get_contents("/proc/self/status", &text, NULL, NULL) &&
	    (line = strstr(text, what)) != NULL)
		kilobytes = strtol(line + strlen(what), NULL, 10);
	g_free(text);
	return kilobytes;
}

/* From here on VmHWM is the most since now. */
static long memory_begin(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");
	malloc_trim(0);
	if (f != NULL) {
		fputs("5", f);
		fclose(f);
	}
	return memory("VmRSS:");
}

/* Microseconds of this process alone, so that others on the machine do not count. */
static int64_t processor_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct trace *make_trace(uint32_t sections)
{
	GString *s = g_string_new("");
	uint64_t x = 88172645463325252u;
	for (uint32_t i = 0; i < 64; i++)
		g_string_append_printf(s, "#! object s%u set\n", i);
	for (uint32_t i = 0; i < sections; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		uint32_t thread = (uint32_t)(x % 8), lock = (uint32_t)(x >> 8) % 64;
		g_string_append_printf(s, "T%u|acq(l%u)|1\n", thread, lock);
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t other =
			        (x >> (20 + k)) % 16 == 0 ? (uint32_t)(x >> 30) % 64 : lock;
			g_string_append_printf(s, "T%u|%c(v%u_%u)|%u\n", thread,
			                       "rw"[(x >> (40 + k)) & 1], other,
			                       (uint32_t)(x >> (12 + 4 * k)) % 16, 10 + k);
		}
		/* Mostly look-ups; what is added has been there already or not. */
		g_string_append_printf(
		        s, "T%u|act(s%u.%s,%u)=%s|%u\n", thread, lock,
		        (x >> 50) % 8 ? "contains" : "add", (uint32_t)(x >> 33) % 50,
		        (x >> 53) % 2 ? "true" : "false", (x >> 50) % 8 ? 20 : 21);
		g_string_append_printf(s, "T%u|rel(l%u)|2\n", thread, lock);
	}
	struct error error;
	struct trace *t = trace_from_text("bench", s->str, s->len, NULL, &error);
	if (t == NULL)
		g_error("%s", error.what);
	g_string_free(s, TRUE);
	return t;
}

/* How many of pairs at random does it order? */
static uint32_t sample(const struct trace *t, const struct edc *e)
{
	uint64_t x = 1;
	uint32_t ordered = 0;
	for (uint32_t i = 0; i < 100000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		uint32_t a = (uint32_t)(x >> 33) % (uint32_t)t->events_count;
		uint32_t b = MIN(a + (uint32_t)(x >> 20) % 200, (uint32_t)t->events_count - 1);
		ordered += order_ordered(edc_order(e), a, b);
	}
	return ordered;
}

int main(void)
{
	struct error error;
	struct specs *specs = specs_open(NULL, &error);
	printf("| events | table, ns an event | words, ns | table, MB | words, MB | findings: "
	       "table | words | ordered pairs of a sample: table | words |\n"
	       "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	for (uint32_t n = 1000; n <= 256000; n *= 4) {
		struct trace *t = make_trace(n);
		struct model *m = model_new(t, specs, NULL, &error);
		double times[2], megabytes[2];
		uint64_t findings[2];
		uint32_t ordered[2] = { 0 };
		trace_need(t, INDEX_MUST, NULL); /* not a part of what is measured */
		for (int bounded = 0; bounded < 2; bounded++) {
			struct edc_options options = { .pairs_events = true,
				                       .bounded = bounded };
			long before = memory_begin();
			int64_t start = processor_time();
			struct edc *e = edc_new(m, bounded, NULL, NULL);
			times[bounded] = (double)(processor_time() - start) * 1000 /
			                 (double)t->events_count;
			megabytes[bounded] = (double)(memory("VmHWM:") - before) / 1024;
			ordered[bounded] = sample(t, e);
			edc_free(e);
			struct report *r = edc_find(m, &options, NULL, &error);
			findings[bounded] = r->findings->len;
			report_free(r);
		}
		printf("| %u | %.0f | %.0f | %.1f | %.1f | %" G_GUINT64_FORMAT
		       " | %" G_GUINT64_FORMAT " | %u | %u |\n",
		       (unsigned)t->events_count, times[0], times[1], megabytes[0],
		       megabytes[1], findings[0], findings[1], ordered[0], ordered[1]);
		fflush(stdout);
		model_free(m);
		trace_close(t);
	}
	specs_free(specs);
	return 0;
}
