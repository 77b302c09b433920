/*
 * shake_run.h - one run of `heddle shake`, and the schedule of fewest switches that ends as it
 * did.
 */
#ifndef HEDDLE_SHAKE_RUN_H
#define HEDDLE_SHAKE_RUN_H

#include "engine/record/strategy.h"
#include "engine/trace/trace.h"
#include "engine/trace/weak.h"
#include "tui/batch/outcomes.h"

/* Shared by all runs. */
struct shaken {
	char **argv;
	unsigned timeout_ms;
	enum weak_model memory;
	int log, output; /* nameless files */
	struct debug_store *debug;
	struct record_server *server; /* forks the runs */
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

/* Makes one run; `look` (or NULL) gets its trace, and then its uses after free belong to the
 * outcome. NULL: s->interrupted, or `error`: it cannot be started. */
struct outcome *shaken_make(struct shaken *s, const struct strategy *how, uint64_t number,
                            struct shaken_run *look, struct error *error);

/* Did the run fail by itself, whatever other runs do? */
bool outcome_fails(const struct outcome *o);

/*
 * Searches for the schedule with the fewest switches between threads and the outcome of `o`,
 * a run by `how`: turns are removed from its schedule as long as the outcome stays (Zeller,
 * Hildebrandt: delta debugging, TSE 2002, section 3), with at most `most` runs. Sets
 * o->fewest, switches, tries; fewest stays NULL if its turns alone do not have that outcome.
 */
void shaken_fewest(struct shaken *s, const struct strategy *how, struct outcome *o,
                   unsigned most);

#endif
