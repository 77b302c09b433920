/*
 * race_options.h - the options that the commands about data races share.
 */
#ifndef HEDDLE_RACE_OPTIONS_H
#define HEDDLE_RACE_OPTIONS_H

#include "engine/predict/predict.h"
#include "tui/batch/print/print.h"

/* Parse --analysis --candidates --values --missing --budget --shard. False: bad usage,
 * printed. */
bool race_options_parse(const struct arguments *a, struct race_options *options);
/* Is the trace suitable? Analyses that need observations refuse a filtered trace, unless
 * --lenient. False and `error`. */
bool race_options_fit(const struct arguments *a, const struct trace *t,
                      const struct race_options *options, struct error *error);

/* Adds the description of the analysis to `print`: the options, and for a shard its number
 * and trace. */
void race_options_tell(const struct arguments *a, const struct trace *t,
                       const struct race_options *options, struct print_options *print);

#endif
