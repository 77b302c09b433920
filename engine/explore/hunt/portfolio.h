/*
 * portfolio.h - which schedule a program is run along next, while one that fails is looked for:
 * several strategies that share what they learn from each other's runs (shake --strategy auto).
 *
 * Every run is one strategy with its seed and parameters, so that it comes again by them
 * alone. The choice depends only on the portfolio's seed and on the earlier runs.
 */
#ifndef HEDDLE_PORTFOLIO_H
#define HEDDLE_PORTFOLIO_H

#include "engine/record/strategy.h"
#include "engine/trace/trace.h"

struct portfolio;
/* Strategies of shake that learn from runs; ends with NULL. The first stands for all. */
extern const char *const portfolio_words[];
struct portfolio_options {
	unsigned word; /* of portfolio_words */
	uint64_t seed;
	/* The exploration turns pairs itself, and records each look of a thread that spins:
	 * only pause, pos, surw and random are used. It has made the first run. */
	bool explores;
	uint32_t share, shares; /* divide the strategies that do not depend on the seed;
	                         * shares 0: all */
	uint32_t depth;         /* of pct; 0: 3 */
};
struct portfolio *portfolio_new(const struct portfolio_options *options);
void portfolio_free(struct portfolio *p); /* NULL is allowed */

/* The strategy of the next run; strategy_release. */
struct strategy portfolio_next(struct portfolio *p);
/* Does it learn from the traces of runs? Not after one that was too long. */
bool portfolio_looks(const struct portfolio *p);
/* Learns from a run of that strategy: its trace (controlled mode; indexed as needed) with its
 * turns (struct log_turn), or NULL without one; `news`: no earlier run ended like this. */
void portfolio_learn(struct portfolio *p, struct trace *t, const GArray *turns, bool news);

/* Turns without the `count` from `first` on; neighbours of one thread are one. Owned by the
 * caller. */
GArray *turns_without(const GArray *turns, guint first, guint count);

#endif
