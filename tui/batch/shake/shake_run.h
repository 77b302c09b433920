/*
 * shake_run.h - one run of `heddle shake`, and the schedule of fewest switches that ends as it
 * did.
 */
#ifndef HEDDLE_SHAKE_RUN_H
#define HEDDLE_SHAKE_RUN_H

#include "engine/record/strategy.h"
#include "engine/trace/trace.h"
#include "engine/trace/weak.h"
#include "tui/batch/shake/shake_outcomes.h"

/* Shared by all runs. */
struct shaken {
	char **argv;
	unsigned timeout_ms;
	enum weak_model memory;
	int log, output; /* nameless files */
	struct debug_store *debug;
	struct record_server *server; /* forks runs as `heddle record` makes them */
	/* Forks runs at the beginning of main, which cost a fraction; NULL: not made yet.
	 * Addresses of the heap and of stacks may be others than in a recording. */
	struct record_server *settled;
	bool never_settles; /* all runs are as `heddle record` makes them */
	bool interrupted;
	uint64_t steps; /* of the last run */
};
/* False and `error`. shaken_close in either case. */
bool shaken_open(struct shaken *s, struct error *error);
void shaken_close(struct shaken *s);

/* Facts of a run beside its outcome; zero for none. */
struct shaken_run {
	struct trace *trace;
	GArray *turns; /* struct log_turn */
};
void shaken_run_release(struct shaken_run *run);

/* Makes one run, by a copy of the process that stands at main where one is possible; `look` (or
 * NULL) gets its trace, and then its uses after free belong to the outcome. Whether `heddle
 * record` gives the same outcome by these options is not known yet. NULL: s->interrupted, or
 * `error`: it cannot be started. */
struct shake_outcome *shaken_try(struct shaken *s, const struct strategy *how, uint64_t number,
                                 struct shaken_run *look, struct error *error);
/*
 * The outcome of `heddle record` with the options of `o`, a run by shaken_try; takes ownership
 * of `o`. Where it ends otherwise (addresses decide what the program does, or the schedule) and
 * `o` is a failure, the schedule is given by its turns; where this does not lead there either,
 * it is `o` itself, with o->elusive. NULL as for shaken_try.
 */
struct shake_outcome *shaken_confirm(struct shaken *s, const struct strategy *how,
                                     struct shake_outcome *o, const struct shaken_run *look,
                                     struct error *error);

/* Did the run fail by itself, whatever other runs do? */
bool outcome_fails(const struct shake_outcome *o);

/*
 * Searches for the schedule with the fewest switches between threads and the outcome of `o`,
 * a run by `how`: turns are removed from its schedule as long as the outcome stays (Zeller,
 * Hildebrandt: delta debugging, TSE 2002, section 3), with at most `most` runs. Sets
 * o->fewest, switches, tries; fewest stays NULL if its turns alone do not have that outcome.
 */
void shaken_fewest(struct shaken *s, const struct strategy *how, struct shake_outcome *o,
                   unsigned most);

#endif
