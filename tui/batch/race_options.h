/*
 * race_options.h - the options that the commands about data races share.
 */
#ifndef HEDDLE_RACE_OPTIONS_H
#define HEDDLE_RACE_OPTIONS_H

#include "engine/predict/predict.h"
#include "tui/batch/print.h"

/* --analysis --candidates --values --missing --budget --shard.  Bad usage prints, and the
 * result is false. */
bool race_options_parse(const struct arguments *a, struct race_options *options);
/* Is the trace fit for what is asked?  A filtered one is not for analyses that need
 * observations; --lenient lets it pass.  False and `error`. */
bool race_options_fit(const struct arguments *a, const struct trace *t,
                      const struct race_options *options, struct error *error);

/* What a report says of how it was made, into `print`: the options that matter, and of a shard
 * which one it is and of which trace. */
void race_options_tell(const struct arguments *a, const struct trace *t,
                       const struct race_options *options, struct print_options *print);

#endif
