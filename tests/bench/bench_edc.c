/*
 * bench_edc.c - EDC with critical sections tracked in a table, and in four 8-byte words a
 * location (the thesis's algorithm 3): time, findings.
 *
 * Eight threads take one of many locks and touch the variables, the blocks and the sets that
 * it guards, or others.
 */
#include "engine/commute/edc.h"

#include <stdio.h>

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
		g_string_append_printf(s, "T%u|act(s%u.contains,%u)=false|20\n", thread, lock,
		                       i % 50);
		g_string_append_printf(s, "T%u|rel(l%u)|2\n", thread, lock);
	}
	struct error error;
	struct trace *t = trace_from_text("bench", s->str, s->len, NULL, &error);
	if (t == NULL)
		g_error("%s", error.what);
	g_string_free(s, TRUE);
	return t;
}

int main(void)
{
	struct error error;
	struct specs *specs = specs_open(NULL, &error);
	printf("| events | table, ns an event | words, ns an event | ordered pairs in a "
	       "sample: table | "
	       "words |\n| --- | --- | --- | --- | --- |\n");
	for (uint32_t n = 1000; n <= 256000; n *= 16) {
		struct trace *t = make_trace(n);
		struct model *m = model_new(t, specs, NULL, &error);
		double times[2];
		uint32_t ordered[2] = { 0 };
		for (int bounded = 0; bounded < 2; bounded++) {
			int64_t start = g_get_monotonic_time();
			struct edc *e = edc_new(m, bounded, NULL);
			times[bounded] = (double)(g_get_monotonic_time() - start) * 1000 /
			                 (double)t->events_count;
			uint64_t x = 1;
			for (uint32_t i = 0; i < 100000; i++) {
				x = x * 6364136223846793005u + 1442695040888963407u;
				uint32_t a = (uint32_t)(x >> 33) % (uint32_t)t->events_count;
				uint32_t b = MIN(a + (uint32_t)(x >> 20) % 200,
				                 (uint32_t)t->events_count - 1);
				ordered[bounded] += order_ordered(edc_order(e), a, b);
			}
			edc_free(e);
		}
		printf("| %u | %.0f | %.0f | %u | %u |\n", (unsigned)t->events_count, times[0],
		       times[1], ordered[0], ordered[1]);
		model_free(m);
		trace_close(t);
	}
	specs_free(specs);
	return 0;
}
