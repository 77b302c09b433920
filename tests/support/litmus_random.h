/* litmus_random.h - random litmus programs. */
#ifndef HEDDLE_TESTS_LITMUS_RANDOM_H
#define HEDDLE_TESTS_LITMUS_RANDOM_H

#include "tests/support/litmus.h"

enum litmus_features {
	LITMUS_ALL,      /* conditions, sums of registers, locks */
	LITMUS_STRAIGHT, /* none of these: as the program any.c runs */
};

/* 2 to 4 threads of 3 to 8 operations in all, on two locations; at most 4 loads, and 3 stores
 * to a location. */
void litmus_random(GRand *r, enum litmus_features features, struct litmus *l);

#endif
