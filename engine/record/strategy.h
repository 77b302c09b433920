/*
 * strategy.h - a strategy with its seed and parameters, by which a run comes again: between
 * options of the command line and the runtime's configuration.
 */
#ifndef HEDDLE_STRATEGY_H
#define HEDDLE_STRATEGY_H

#include <glib.h>

#include "engine/base/base.h"
#include "engine/record/layout.h"

/* Strategy words, in the order of enum log_strategy; ends with NULL. */
extern const char *const record_strategies[];

struct strategy {
	uint32_t kind;  /* enum log_strategy */
	uint32_t depth; /* pct; 0: 3 */
	uint64_t seed;
	uint64_t steps;           /* pct; 0: a guess */
	struct log_target target; /* surw */
	GArray *turns;            /* turns: struct log_turn, or NULL; borrowed except in
	                           * strategy_release */
};
void strategy_release(struct strategy *s);               /* its turns */
struct strategy strategy_copy(const struct strategy *s); /* for strategy_release */

/* Sets the configuration of a run. */
void strategy_configure(const struct strategy *s, struct log_config *config);

/* Appends the options of `heddle record`: "--strategy pct --depth 3 --seed 7". */
void strategy_append(const struct strategy *s, GString *out);

/*
 * Read the value of --target ("0x404040+4=3,1x8": the place, its size, and for each thread by
 * number the events that it and its descendants have there; 1x8: eight threads, one each) and
 * of --turns
 * ("0:12,2:5,1": thread 0 until it has made 12 events, thread 2 until 5, thread 1 to its end).
 * False and `error`.
 */
bool strategy_read_target(const char *text, struct log_target *target, struct error *error);
bool strategy_read_turns(const char *text, GArray *turns, struct error *error);

#endif
