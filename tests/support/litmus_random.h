/* litmus_random.h - random litmus programs. */
#ifndef HEDDLE_TESTS_LITMUS_RANDOM_H
#define HEDDLE_TESTS_LITMUS_RANDOM_H

#include "tests/support/litmus.h"

enum litmus_features {
	LITMUS_ALL,      /* operations that depend on registers, sums of registers, the thread
	                    library */
	LITMUS_LIBRARY,  /* straight, but for the thread library: as any.c runs one */
	LITMUS_STRAIGHT, /* none of these: as it runs many times over */
};

enum { LITMUS_LIBRARY_RESULT = 3 }; /* register of the thread library's results */

/* 2 to 4 threads of 3 to 8 operations in all, on two locations; at most 4 loads, and 3 stores
 * to a location. */
void litmus_random(GRand *r, enum litmus_features features, struct litmus *l);

#endif
