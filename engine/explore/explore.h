/*
 * explore.h - stateless model checking of a real program: run it again and again, each time
 * along a schedule that the runs before have shown to be possible and that none of them had.
 *
 * Maximal causality reduction (Huang, PLDI 2015) with semantic commutativity on top (NCMC;
 * Sun 2021, chapter 4): two runs are equivalent when each thread does the same with the same
 * values read, and, of specified objects, the same results returned and the same order of
 * what does not commute.  For each operation of a run whose outcome depends on the order, and
 * each other outcome, the largest parts of the run are found after which it happens so; each
 * begins a run of its own, unless a run that is known begins so.  The largest: any schedule
 * that agrees with this run up to the operation is within one of them, so that by induction
 * every class is reached (docs/exploration.md has the argument, and what is not covered).
 *
 * Knows recordings, plans, specifications and the solver; not the screen.
 */
#ifndef HEDDLE_EXPLORE_H
#define HEDDLE_EXPLORE_H

#include "engine/commute/spec.h"
#include "engine/explore/final.h"
#include "engine/record/plan.h"

struct explore_options {
	char **argv;                 /* the program; borrowed */
	const GPtrArray *spec_files; /* char *: with these specifications; or NULL */
	const struct specs *specs;   /* what they say, or NULL */
	bool by_results; /* invocations that return the same are the same, whatever their order,
	                  * where effects say what they return */
	const char *save;            /* where traces of runs go: SAVE.runN.hdl; NULL: nowhere */
	const struct finals *finals; /* what is looked at after the last step, or NULL */
	uint32_t shard, shards; /* only the shard-th (from 0) share of what follows from the
	                         * first run; shards 0: all */
	uint64_t max_steps;     /* of one run, after its schedule; 0: no limit */
	uint64_t seed;          /* of the first run, by chance; 0: the lowest thread first */
	uint64_t max_runs;      /* 0: no limit */
	double seconds;         /* for everything; 0: no limit */
	double query_seconds;   /* for one question to the solver */
	unsigned timeout_ms;    /* for one run; 0: 10 s */
	bool until_error;       /* no more after the first error */
	const volatile int *interrupted; /* no more when it is not 0; or NULL */
	bool keep_output;                /* the program's output goes where ours goes */
};

/* How a run ended. */
#define EXPLORE_ENDS(E) \
	E(FINE, "exit") /* status 0 */ \
	E(STATUS, "exit-status") \
	E(SIGNAL, "signal") \
	E(DEADLOCK, "deadlock") /* the waits form a cycle */ \
	E(BLOCKED, "blocked")   /* nobody can go on, but no cycle: a lost wake-up */ \
	E(USE_AFTER_FREE, "use-after-free") \
	E(LOCK_MISUSE, "lock-misuse") \
	E(SPECIFICATION, "specification") /* what it returned contradicts the effects */ \
	E(CHECK, "check")                 /* --check does not hold at the end */ \
	E(CUT, "cut")                     /* it took too long, or too many steps */ \
	E(DIVERGED, "diverged") /* it did not follow the schedule: uncontrolled input */
enum explore_end {
#define E(name, word) EXPLORE_##name,
	EXPLORE_ENDS(E)
#undef E
	        EXPLORE_END_COUNT
};
const char *explore_end_word(enum explore_end end);

/* One execution: a node of the tree. */
struct explore_run {
	uint32_t parent; /* the run that it was derived from; NONE: the first */
	char *flip; /* owned: what is other than in the parent: "T2 reads x = 1 (a.c:7), not 0"
	             */
	char *thread, *place, *variable; /* owned: whose read, where, of what; "" unknown */
	enum explore_end end;
	int status;  /* exit status or signal */
	char *story; /* owned: for deadlocks who waits for what; the last line of stderr */
	GPtrArray *places; /* char *, owned; or NULL: where it failed: the line at which the
	                    * last thread was, those at which blocked ones wait */
	uint64_t events;
	uint64_t pruned;      /* schedules derived from it that were known */
	bool redundant;       /* its class was known */
	bool strayed;         /* it did not follow its schedule, however it ended */
	GPtrArray *commuting; /* char *: pairs of invocations whose other order was not run,
	                       * since they commute; owned, or NULL; the first of them */
	uint64_t commuting_count;
	uint64_t class_; /* runs of one class are equivalent */
	char *trace;     /* owned: where it was saved, or NULL */
};

/* An error: the runs that end in the same way at the same place. */
struct explore_error {
	enum explore_end end;
	int status;
	char *story;       /* owned */
	char *key;         /* owned: what makes two of them the same */
	GPtrArray *places; /* char *, owned, or NULL: where it failed, as of a run */
	uint32_t run;      /* the first */
	uint64_t count;
};

struct explore_report {
	GArray *runs;    /* struct explore_run */
	GArray *errors;  /* struct explore_error */
	GArray *races;   /* struct explore_race: data races on the way, by happens-before */
	uint64_t pruned; /* schedules that begin as a known run does */
	uint64_t classes;
	uint64_t waiting;   /* schedules not run when a limit was reached */
	bool complete;      /* every class of values was run */
	GPtrArray *gaps;    /* char *: why not, and what the promise does not cover */
	GPtrArray *notes;   /* char *: what else is to be known, of specified objects */
	uint64_t abandoned; /* executions before an object turned out to be not atomic */
};
struct explore_race {
	char *first, *second, *variable; /* owned: places and name */
	uint32_t run;                    /* the first that has it */
};
void explore_report_free(struct explore_report *report);

/* NULL and `error` when the program cannot be run at all, or cancelled. */
struct explore_report *explore(const struct explore_options *options,
                               const struct progress *progress, struct error *error);

#endif
