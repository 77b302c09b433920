/*
 * mix.h - which random trace belongs to a seed: the kinds of operation and the size change
 * with it, so that a run over many seeds meets every combination.
 */
#ifndef HEDDLE_MIX_H
#define HEDDLE_MIX_H

#include "tests/property/oracle.h"

/* Seconds that a verdict may take: a long run may be suspended in the middle of one, which
 * must not count as a budget that ran out. */
enum { MIX_SECONDS = 100000 };

/* A number from the environment: HEDDLE_TRACES (how many), HEDDLE_SEED (the first seed). */
uint64_t mix_setting(const char *name, uint64_t otherwise);
/* Are these the test's default traces, not others of HEDDLE_SEED, of which one is repeated,
 * or which may lack a rare case? Only for the default ones a test knows the number of cases
 * they meet. */
bool mix_default(void);
struct random_options mix_options(uint64_t seed, uint32_t threads, uint32_t events);
/* Half of all seeds have vector clocks as trees (engine/order/wide_clocks.h), which else only
 * traces of many threads have. */
void mix_clocks(uint64_t seed);
/* Makes each variable a part of a random object, or of none (engine/trace/sync_bytes.h), of a
 * trace that was not asked for them. */
void mix_parts(struct trace *t, uint64_t seed);
/* A main for property tests: PROGRAM [COUNT [FIRST]], else the settings, else `count`; calls
 * `one` for each seed until one fails (false), and says which. Returns the exit status. */
int mix_main(int argc, char **argv, const char *name, uint64_t count,
             bool (*one)(uint64_t seed));

/* Has the trace relaxed atomics or failed tries, which order in time and not in C11? */
bool mix_hides_c11(const struct trace *t);

#endif
