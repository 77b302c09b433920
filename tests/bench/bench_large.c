/*
 * bench_large.c - writes a trace of any length (tests/support/generate.h), while it is made:
 * for measuring analyses that go over the events in passes.
 *
 *     bench_large FILE [EVENTS [THREADS [LOCKS [VARIABLES]]]]   default: 100 million, 8, 64,
 * 20000
 *
 * With the environment's BENCH_CAREFUL no access lacks its lock, so that there is no race.
 */
#include "tests/support/generate.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t number(int count, char **words, int i, uint64_t otherwise)
{
	return i < count ? strtoull(words[i], NULL, 10) : otherwise;
}

int main(int count, char **words)
{
	struct generate_shape shape = GENERATE_SHAPE;

	if (count < 2) {
		fprintf(stderr,
		        "usage: bench_large FILE [EVENTS [THREADS [LOCKS [VARIABLES]]]]\n");
		return 2;
	}
	shape.events = number(count, words, 2, 100 * 1000 * 1000);
	shape.threads = (uint32_t)number(count, words, 3, shape.threads);
	shape.locks = (uint32_t)number(count, words, 4, shape.locks);
	shape.variables = (uint32_t)number(count, words, 5, shape.variables);
	shape.careful = getenv("BENCH_CAREFUL") != NULL;
	generate_file(shape, words[1]);
	return 0;
}
