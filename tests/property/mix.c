/*
 * mix.c - options of random traces by seed, and the loop over seeds.
 */
#include "tests/property/mix.h"
#include "engine/order/wide_clocks.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/smt/smt.h"
#include "engine/trace/storage.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t mix_setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

bool mix_default(void)
{
	return getenv("HEDDLE_SEED") == NULL;
}

struct random_options mix_options(uint64_t seed, uint32_t threads, uint32_t events)
{
	GRand *r = g_rand_new_with_seed((guint32)(seed * 2654435761u + 17));
	struct random_options o = {
		.threads = threads,
		.events = events,
		.variables = (uint32_t)g_rand_int_range(r, 1, 4),
		.locks = (uint32_t)g_rand_int_range(r, 1, 4),
	};
	bool *kinds[] = { &o.forks,    &o.joins,       &o.rwlocks, &o.atomics,  &o.conditions,
		          &o.barriers, &o.semaphores,  &o.blocks,  &o.messages, &o.tries,
		          &o.sizes,    &o.invocations, &o.wants,   &o.destroys, &o.markers };

	/* few kinds at a time: small traces with all of them are all must-order */
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		*kinds[i] = g_rand_int_range(r, 0, 100) < 25;
	o.values = g_rand_int_range(r, 0, 2) == 0;
	g_rand_free(r);
	return o;
}

bool mix_hides_c11(const struct trace *t)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (t->events[e].op == OP_TRYFAIL || t->events[e].op == OP_TAKETRYFAIL)
			return true;
	}
	return c11_matters(t);
}

void mix_clocks(uint64_t seed)
{
	static uint32_t usual, classes;

	if (usual == 0) {
		usual = clocks_wide;
		classes = suspects_classes;
	}
	clocks_wide = seed / 2 % 2 == 0 ? usual : 2;
	suspects_classes = seed / 4 % 2 == 0 ? classes : 2;
}

void mix_parts(struct trace *t, uint64_t seed)
{
	GRand *r = g_rand_new_with_seed((guint32)(seed * 2654435761u + 5));
	uint32_t *of = g_new(uint32_t, t->variables_count + 1);

	for (uint32_t v = 0; v < t->variables_count; v++)
		of[v] = t->objects_count == 0 || g_rand_int_range(r, 0, 4) == 0
		                ? NONE
		                : (uint32_t)g_rand_int_range(r, 0, (gint32)t->objects_count);
	g_rand_free(r);
	t->storage->sync_bytes = of;
	t->storage->sync_bytes_asked = true;
}

int mix_main(int argc, char **argv, const char *name, uint64_t count,
             bool (*one)(uint64_t seed))
{
	uint64_t first = mix_setting("HEDDLE_SEED", 1);

	count = mix_setting("HEDDLE_TRACES", count);
	if (argc > 1)
		count = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		first = strtoull(argv[2], NULL, 10);
	for (uint64_t seed = first; seed < first + count; seed++) {
		mix_clocks(seed);
		if (!one(seed)) {
			printf("%s: seed %" G_GUINT64_FORMAT " fails\n", name, seed);
			return 1;
		}
	}
	printf("%s: %" G_GUINT64_FORMAT " random traces\n", name, count);
	return 0;
}
