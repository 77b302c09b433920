/*
 * explore.h - stateless model checking of a program: executes it repeatedly, along schedules
 * that are feasible by previous runs but not covered by them.
 *
 * Maximal causality reduction (Huang, PLDI 2015) with semantic commutativity (NCMC; Sun 2021,
 * chapter 4): two runs are equivalent when each thread performs the same steps with the same
 * values read and, for specified objects, the same results and the same order of non-commuting
 * invocations. For each operation of a run whose outcome depends on the order, and each other
 * outcome, the maximal prefixes of the run that permit it are computed; each begins a new run,
 * unless a known run begins so. Maximal: any schedule that agrees with this run up to the
 * operation is within one of them, so by induction every class is reached (argument and limits:
 * docs/exploration.md).
 */
#ifndef HEDDLE_EXPLORE_H
#define HEDDLE_EXPLORE_H

#include "engine/commute/language/spec.h"
#include "engine/explore/runs/final.h"
#include "engine/finding.h"
#include "engine/memory/models.h"
#include "engine/record/plan.h"

/* The memory order of an instruction, in place of its own. */
struct explore_order {
	uint64_t address; /* struct location; unused with `place` */
	uint32_t module;
	uint8_t order;     /* enum memory_order_kind */
	const char *place; /* borrowed: of all at "a.c:31" that can have the order; or NULL */
	bool met;          /* result: a run has such an operation */
	/* A fence of this order before or after the operation, which keeps its own. */
	enum { EXPLORE_ORDER, EXPLORE_FENCE_BEFORE, EXPLORE_FENCE_AFTER } how;
};
/* "plain", "relaxed", "acquire", "release", "acq_rel", "seq_cst", by enum memory_order_kind;
 * ends with NULL. */
extern const char *const explore_order_words[];
/* An atomic operation of the program (one instruction). */
struct explore_atomic {
	uint64_t address;
	uint32_t module;
	uint8_t op, order;      /* enum op: AREAD, AWRITE, RMW, FENCE; enum memory_order_kind */
	bool compares;          /* a compare-and-exchange that was seen to fail */
	char *place, *variable; /* owned; a fence's variable is "" */
};

/* Upper limit of options.preemptions. */
enum { MOST_PREEMPTIONS = 100 };
/* Upper limit of options.spurious. */
enum { MOST_SPURIOUS = 100 };

struct explore_options {
	char **argv;                 /* the program; borrowed */
	const GPtrArray *spec_files; /* char *: files of specifications to use; or NULL */
	const struct specs *specs;   /* their contents, or NULL */
	bool by_results;   /* invocations with equal results are equivalent in any order, where
	                    * effects determine results */
	bool linearizable; /* invocations are not taken as single steps; instead histories
	                    * of objects whose methods have effects are checked */
	bool symmetry;     /* runs that differ only in which of threads that are alike does what
	                    * are equal; without specs, a bound, shards */
	const char *resume; /* file of the exploration's state, to resume from and to write
	                     * to; or NULL */
	const char *options_text;    /* the options, for reports on that file; or NULL */
	const char *save;            /* prefix of traces of runs: SAVE.runN.hdl; NULL: none */
	const struct finals *finals; /* examined at the end of a run, or NULL */
	uint32_t shard, shards;      /* explore only this share (from 0) of the schedules after
	                              * the first run; shards 0: all */
	bool bounded;                /* only schedules with at most `preemptions` of them */
	uint32_t preemptions;
	uint32_t spurious;    /* also schedules with up to so many spurious wake-ups: waits for
	                       * a condition, without a time limit, that end without a signal;
	                       * without another model than MEMORY_SC */
	uint64_t max_steps;   /* bound on a run, beyond its schedule; 0: unlimited */
	uint64_t seed;        /* random seed of the first run; 0: lowest thread first */
	uint64_t max_runs;    /* 0: no limit */
	double seconds;       /* in total; 0: no limit */
	double query_seconds; /* for one query of the solver */
	unsigned timeout_ms;  /* for one run; 0: 10 s */
	bool until_error;     /* stop after the first error */
	/* Under another model than MEMORY_SC (graphs.h): without specs, finals, shards, seed.
	 */
	enum memory_model memory;
	const GArray *orders; /* struct explore_order, for MEMORY_RC11 alone; or NULL */
	const volatile int *interrupted; /* stop when nonzero; or NULL */
};

/* Endings of a run: enumerator, word in JSON, the kind of finding that it is (KIND_COUNT:
 * none).
 */
#define EXPLORE_ENDS(E) \
	E(FINE, "exit", KIND_COUNT) /* status 0 */ \
	E(STATUS, "exit-status", EXIT) \
	E(SIGNAL, "signal", CRASH) \
	E(DEADLOCK, "deadlock", DEADLOCK) /* the waits form a cycle */ \
	E(BLOCKED, "blocked", \
	  STUCK) /* no thread can continue, without a cycle: a lost wake-up */ \
	E(USE_AFTER_FREE, "use-after-free", USE_AFTER_FREE) \
	E(LOCK_MISUSE, "lock-misuse", LOCK_MISUSE) \
	E(UNWRITTEN, "uninitialised-read", UNINITIALISED_READ) \
	E(SPECIFICATION, "specification", ASSERTION)     /* results contradict the effects */ \
	E(LINEARIZABILITY, "linearizability", ASSERTION) /* no order explains the results */ \
	E(CHECK, "check", ASSERTION) /* --check does not hold at the end */ \
	E(CUT, "cut", KIND_COUNT)    /* too much time or too many steps */ \
	E(DIVERGED, "diverged", \
	  KIND_COUNT) /* did not follow the schedule: uncontrolled input */
enum explore_end {
#define E(name, word, kind) EXPLORE_##name,
	EXPLORE_ENDS(E)
#undef E
	        EXPLORE_END_COUNT
};
const char *explore_end_word(enum explore_end end);
struct explore_report;
/* The first run with each output, of those that ended well: runs of the report (uint32_t),
 * ascending. The order of an output's lines is no difference. Owned by the caller. */
GArray *explore_outputs(const struct explore_report *r);
/* EXPLORE_END_COUNT for another word. */
enum explore_end explore_end_of(const char *word);
/* The kind of finding of a run with this end and message `story` (or NULL);
 * FINDING_KIND_COUNT: none. */
enum finding_kind explore_finding_kind(enum explore_end end, const char *story);

/* The kinds of error that each exploration looks for (options add theirs), and those that none
 * does, so that a complete one without findings does not rule them out. End with NULL. */
extern const char *const explore_sought[], *const explore_unsought[];

/* One execution: a node of the tree. */
struct explore_run {
	uint32_t parent; /* the run it was derived from; NONE: the first */
	char *reversal;  /* owned: the difference from the parent: "T2 reads x = 1 (a.c:7), not
	                    0" */
	char *thread, *place, *variable; /* owned: of the reversed operation, the place in
	                                  * the user's own code; "" unknown */
	bool library; /* the reversed operation is inside of code that is not the user's */
	enum explore_end end;
	int status;        /* exit status or signal */
	char *story;       /* owned: for deadlocks the waits; the last line of stderr */
	GPtrArray *places; /* char *, owned; or NULL: places of failure: of the last thread, and
	                    * of blocked ones */
	char *printed;     /* owned: the last line of its output; NULL: unknown */
	uint64_t output;   /* digest of the lines of output, in any order; 0: unknown */
	uint32_t error;    /* index of its error in the report; NONE: it has none */
	uint32_t switches; /* events whose thread is not that of the event before */
	uint64_t events;
	uint64_t pruned;      /* schedules derived from it that were covered */
	bool redundant;       /* its class was covered before */
	bool strayed;         /* it left its schedule, whatever its ending */
	GPtrArray *commuting; /* char *: pairs of invocations whose reversal was not run, since
	                       * they commute; owned, or NULL; the first ones */
	uint64_t commuting_count;
	uint64_t class_;     /* number of its equivalence class */
	uint64_t stands_for; /* number of classes that differ from it only in which of threads
	                      * that are alike does what, with its own */
	char *trace;         /* owned: path if saved, or NULL */
	GBytes *schedule;    /* owned: its plan, to execute it again (plan_archive); NULL: not
	                      * kept */
};

/* An error: runs with the same ending at the same place. */
struct explore_error {
	enum explore_end end;
	int status;
	char *story;       /* owned */
	char *key;         /* owned: identity of the error */
	GPtrArray *places; /* char *, owned, or NULL: places as in a run */
	GArray *history;   /* struct linear_shown of the smallest history; owned; or NULL */
	uint32_t run;      /* the first */
	uint32_t shortest; /* the run with the fewest invocations in `history`, then switches,
	                    * then events; its trace is kept */
	uint64_t count;
};

/* An event of a run, as text; owned. */
struct explore_event {
	uint32_t event; /* event of the run's trace, or NONE: before the first; then without
	                 * texts */
	char *thread, *text;
	char *place, *site; /* in the user's own code (own_code.h); exactly */
};
/* The point of no return of an error (no_return.h). */
struct explore_point {
	uint32_t error, run,
	        passing; /* the error's first run; one that passes from `passes` on */
	struct explore_event passes;  /* the last event after which some continuation passes */
	struct explore_event fails;   /* the next one: after it every continuation fails */
	struct explore_event instead; /* the event in its place in the passing run */
	bool every;                   /* claim for all continuations; else for those that
	                               * were run */
};

/* A reason for incompleteness. */
#define EXPLORE_TIME_UP    "the time was up (--budget)"
/* End of a reason for incompleteness: the operation before it is run in one order only. */
#define EXPLORE_ORDER_OPEN ": what comes of it may depend on the order, which is not explored"

/* The estimated number of all classes, from those seen; ESTIMATE_MOST: that or more. */
#define ESTIMATE_MOST UINT64_C(1000000000000000)
struct explore_estimate {
	uint64_t classes; /* 0: unknown */
	uint64_t low, high;
};

struct explore_report {
	GArray *runs;    /* struct explore_run */
	GArray *errors;  /* struct explore_error */
	GArray *races;   /* struct explore_race: races of the runs by happens-before */
	GArray *points;  /* struct explore_point, by error */
	uint64_t pruned; /* schedules covered by a known run */
	uint64_t classes;
	uint64_t stand_for;   /* number of classes that these stand for: more with symmetry */
	uint64_t waiting;     /* schedules left when a limit was reached */
	bool complete;        /* every class was run */
	bool complete_within; /* every class that the bound permits was run */
	struct explore_estimate estimate; /* while schedules are left; else classes 0 */
	GPtrArray *reasons; /* char *: reasons for incompleteness, and exceptions */
	GPtrArray *notes;   /* char *: notes on specified objects */
	/* char *: why data races may be missed, though every class was run; else empty */
	GPtrArray *races_open;
	GPtrArray *threads; /* char *: of the first run, "T1 worker(&q)" (roles.h) */
	/* Under another memory model than SC: number of execution graphs that the model
	 * permits, and of those that end with threads that wait for ever. */
	uint64_t graphs, graphs_blocked;
	/* The only reason for incompleteness is loops that look in vain, and were cut. */
	bool only_looks;
	bool waits;          /* a run had a wait for a condition */
	GArray *atomics;     /* struct explore_atomic, in the order in which runs met them */
	uint64_t abandoned;  /* executions before a restart due to a non-atomic object, or
	                      * because a run needs kernel threads */
	bool kernel_threads; /* its runs had kernel threads; classes differ from those of
	                      * runs without */

	uint64_t filled; /* further executions, with other contents of fresh memory */
	/* `shortening`: number of the last of `runs`, which searched for a shorter schedule
	 * of an error; and number of classes first met by these. */
	uint64_t shortening, shortening_classes;
};
/* A race is two places in the user's own code. Each of its entries after the first adds a
 * variable, or two exact places in a library's code. */
struct explore_race {
	char *first, *second, *variable; /* owned: exact places, and the name */
	char *own_first, *own_second;    /* owned: the places in the user's own code */
	uint32_t run;                    /* the first with it */
};
/* Is entry i the first of its race? */
bool explore_race_begins(const struct explore_report *report, guint i);
/* Are entries i and k of one race? */
bool explore_race_same(const struct explore_report *report, guint i, guint k);
void explore_report_free(struct explore_report *report);
/* A file of the exploration could not be written: adds to the remedy which traces of its runs
 * were. */
void explore_name_kept(const struct explore_report *r, struct error *error);

/* "T2 writes p[0] after T1 freed its block at a.c:5": the first such use in the trace (indexed
 * as needed), owned by the caller; or NULL. */
char *explore_first_use(struct trace *t);

/* "T2's wait for c (a.c:9) ends without a signal": the first spurious wake-up of the trace
 * (indexed as needed), owned by the caller; or NULL. */
char *explore_spurious_text(struct trace *t);

/* NULL and `error` when the program cannot be run, or cancelled. */
struct explore_report *explore(const struct explore_options *options,
                               const struct progress *progress, struct error *error);

#endif
