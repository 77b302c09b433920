/*
 * smt.h - maximal causality by the solver: does a correct reordering exist that holds these
 * events, not those, and ends where it is asked to?  Used for data races, deadlocks, order
 * violations and atomicity alike: knows the question, not its purpose.
 *
 * One enters with smt_new for a trace, then for each question smt_query_new, its requirements
 * (smt_query_in, _next, _before ...), and smt_query_solve; smt_decide does all of it for one
 * data race.  The encoding of semantics.md ("Maximal causality by SMT") is made lazily: a
 * scheduler (smt_run.c) tries to run the region along the recorded order; where it gets stuck,
 * the constraints that it ran into are given to the solver (smt_encode.c), whose model, which
 * section comes first and which threads go further, directs the next try (smt_search.c).
 *
 * One may rely on SMT_WITNESS being a correct reordering, which callers still have checked, and
 * on SMT_IMPOSSIBLE being a proof, with the few constraints of the unsatisfiable core as
 * evidence, since every constraint is one that any correct reordering obeys.  SMT_SPENT says
 * nothing.  Queries of one smt are asked one at a time.
 */
#ifndef HEDDLE_SMT_H
#define HEDDLE_SMT_H

#include "engine/order/past.h"

struct smt_query;
struct checker;
/* Rule 5 by specifications, for data races: a table of functions, since engine/predict does
 * not depend on engine/commute. */
struct race_rules {
	const struct semantics *semantics; /* for the checker */
	const uint64_t *exempt;            /* see smt_options */
	/* Judge reorderings of a query after which e1 and e2 are next. */
	void (*attach)(void *context, struct smt_query *q, uint32_t e1, uint32_t e2);
	/* Are both inside invocations on one object, whose specification covers them? */
	bool (*spoken_for)(void *context, uint32_t e1, uint32_t e2);
	void *context;
};

struct smt_options {
	bool use_values;  /* --values, if the trace has values */
	bool invocations; /* use rule 5's fallback order as a must-order */
	/* Bit set of events covered by rule 5 through effects: reads without observation,
	 * acquires and releases without exclusion. Borrowed, or NULL. */
	const uint64_t *exempt;
	const struct race_rules *rules; /* of smt_decide; borrowed, or NULL */
	const struct past *past; /* of the trace, used where it serves; borrowed, or NULL */
	/* Nobody is shown the proofs, so that smt_decide does not find out whether they depend
	 * on pairings (proof.same_pairing). */
	bool unlisted;
	/* Total seconds (smt_solver_seconds) after which queries without time make no tries,
	 * once the free ones are used. */
	double budget_total;
	/* Region size from which windows are tried (smt_search.c); 0: default. */
	uint64_t window_from;
};

/* Data on a trace, for any number of queries, one at a time. */
struct smt;
/* NULL when cancelled. */
struct smt *smt_new(struct trace *t, const struct smt_options *options,
                    const struct progress *progress);
void smt_free(struct smt *s);
/* For races: borrows a checker of plain reorderings (otherwise made on demand). */
void smt_lend_checker(struct smt *s, struct checker *checker);
const struct past *smt_past(const struct smt *s);
/* Seconds spent in queries that used the solver, were on large regions, or came after the free
 * tries. */
double smt_solver_seconds(const struct smt *s);

/* A query: requirements on the reordering, which are conjoined. */
struct smt_query *smt_query_new(struct smt *s);
void smt_query_free(struct smt_query *q);
/* `e` is the next event of its thread, not included; its must-order predecessors are. */
void smt_query_next(struct smt_query *q, uint32_t e);
/* `e` is included. */
void smt_query_in(struct smt_query *q, uint32_t e);
/* `e` is included, as the last of its thread, without requiring its observation. */
void smt_query_in_unobserved(struct smt_query *q, uint32_t e);
/* `e` is excluded. */
void smt_query_out(struct smt_query *q, uint32_t e);
/* Both are included, `e` before `f`. */
void smt_query_before(struct smt_query *q, uint32_t e, uint32_t f);

/* A disjunction, for requirements found during the search (below). */
struct smt_atom {
	enum { ATOM_BEFORE, ATOM_IN, ATOM_OUT } kind; /* BEFORE: both in, e before f */
	uint32_t e, f;
};
void smt_query_require(struct smt_query *q, const struct smt_atom *atoms, uint32_t count);
/* Judge a complete reordering: accept it (true), or reject it after at least one
 * smt_query_require that excludes it. The requirement must hold for every acceptable
 * reordering, else "impossible" is no proof. */
typedef bool smt_judge(void *context, struct smt_query *q, const uint32_t *sequence,
                       uint32_t length);
void smt_query_judge(struct smt_query *q, smt_judge *judge, void *context);

enum smt_answer {
	SMT_WITNESS,    /* the sequence is a correct reordering that satisfies the query */
	SMT_IMPOSSIBLE, /* no such schedule exists */
	SMT_SPENT,      /* out of time */
	SMT_CANCELLED,
};
/* Takes about `seconds` at most; with 0 only a try without the solver, unless that is slow or
 * the free tries are used (smt_options.budget_total). `sequence` (uint32_t, emptied first)
 * receives the reordering, *proof (may be NULL) the evidence, owned by the caller. */
enum smt_answer smt_query_solve(struct smt_query *q, double seconds, GArray *sequence,
                                struct proof **proof, const struct progress *progress);

/* Decide the data race (e1, e2): race with a checked witness (the pair last), impossible with a
 * proof, or unknown. A C11 race has a note (`visible only as a C11 race`), and its witness
 * includes both and ends with one. NULL when cancelled. */
struct race_options;
/* The options of a solver for data races. */
struct smt_options smt_race_options(const struct race_options *options);
/* Does the trace have atomics that make C11 races possible, so that a proof that the pair is
 * never next does not suffice? Needs INDEX_WRITERS. */
bool c11_matters(const struct trace *t);
/* Does the trace have failed tries that need a reason (tries_need)? They order in time, but
 * not in C11: a pair that only the solver keeps apart, and no causal past, may be such a
 * race. */
bool smt_has_tries(struct smt *s);
struct finding *smt_decide(struct smt *s, uint32_t e1, uint32_t e2,
                           const struct race_options *options, double seconds,
                           const struct progress *progress);

#endif
