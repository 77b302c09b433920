/*
 * smt.h - maximal causality by the solver: does a correct reordering exist that holds
 * these events, not those, and ends where it is asked to?
 *
 * The encoding of semantics.md ("Maximal causality by SMT"), made lazily: a scheduler tries
 * to run the region along the recorded order; where it gets stuck, the constraints that it
 * ran into are given to the solver, whose model (which section comes first, which threads
 * go further) directs the next try.  Every constraint is one that any correct reordering
 * obeys, so "unsatisfiable" is a proof, with the few constraints of its core as evidence,
 * and a run to the end is a witness.  Used for data races, deadlocks, order violations and
 * atomicity alike: knows what is asked, not why.
 */
#ifndef HEDDLE_SMT_H
#define HEDDLE_SMT_H

#include "engine/predict/core.h"

struct smt_query;
struct checker;
/* Rule 5 for data races, from specifications: what the solver's analyses ask of it.  (A table,
 * since the specifications are no business of this folder.) */
struct race_rules {
	const struct semantics *semantics; /* for the checker */
	const uint64_t *exempt;            /* see smt_options */
	/* Judge the reorderings of a query after which e1 and e2 are next. */
	void (*attach)(void *context, struct smt_query *q, uint32_t e1, uint32_t e2);
	/* Are both inside of invocations of one object, whose specification speaks for them? */
	bool (*spoken_for)(void *context, uint32_t e1, uint32_t e2);
	void *context;
};

struct smt_options {
	bool use_values;  /* --values, where the trace has them */
	bool invocations; /* rule 5's fall-back order is taken as a must-order */
	/* A bit for each event that rule 5 covers by effects: reads without observation,
	 * acquires and releases without exclusion.  Borrowed, or NULL. */
	const uint64_t *exempt;
	const struct race_rules *rules; /* of smt_decide; borrowed, or NULL */
	/* Seconds in all (smt_solver_seconds) after which a query without time makes no try
	 * either, once the free ones are used up. */
	double budget_total;
	/* Regions of so many events are tried by windows (smt_search.c); 0: where it pays. */
	uint64_t window_from;
};

/* What belongs to a trace: made once, used for any number of queries, one at a time. */
struct smt;
/* NULL when cancelled. */
struct smt *smt_new(struct trace *t, const struct smt_options *options,
                    const struct progress *progress);
void smt_free(struct smt *s);
/* For races: a checker of plain reorderings, borrowed (without it one is made when needed). */
void smt_lend_checker(struct smt *s, struct checker *checker);
const struct cores *smt_cores(const struct smt *s);
/* Seconds spent so far in queries that needed the solver, were about so many events that the
 * try without it is as slow, or came after so many tries that these are no longer free. */
double smt_solver_seconds(const struct smt *s);

/* A query: what is asked of the reordering.  Requirements add up. */
struct smt_query *smt_query_new(struct smt *s);
void smt_query_free(struct smt_query *q);
/* `e` is not in it, and is the next event of its thread, its must-order predecessors in. */
void smt_query_next(struct smt_query *q, uint32_t e);
/* `e` is in it. */
void smt_query_in(struct smt_query *q, uint32_t e);
/* `e` is in it as the last of its thread, and what it observes is not asked. */
void smt_query_in_unobserved(struct smt_query *q, uint32_t e);
/* `e` is not in it. */
void smt_query_out(struct smt_query *q, uint32_t e);
/* Both are in it, `e` before `f`. */
void smt_query_before(struct smt_query *q, uint32_t e, uint32_t f);

/* One of these must hold.  For requirements that are found out on the way (below). */
struct smt_atom {
	enum { ATOM_BEFORE, ATOM_IN, ATOM_OUT } kind; /* BEFORE: both in, e before f */
	uint32_t e, f;
};
void smt_query_require(struct smt_query *q, const struct smt_atom *atoms, uint32_t count);
/*
 * Judge a finished reordering: return true to accept it, or refuse it after at least one
 * smt_query_require that excludes it (what is required must hold for every reordering that
 * the client would accept, else "impossible" is no proof).
 */
typedef bool smt_judge(void *context, struct smt_query *q, const uint32_t *sequence,
                       uint32_t length);
void smt_query_judge(struct smt_query *q, smt_judge *judge, void *context);

enum smt_answer {
	SMT_WITNESS,    /* the sequence is a correct reordering with all that is asked */
	SMT_IMPOSSIBLE, /* there is none */
	SMT_SPENT,      /* the time ran out */
	SMT_CANCELLED,
};
/*
 * At most about `seconds`; with none, only the try that needs no solver is made,
 * and none where that is slow or the free tries are used up (smt_options.budget_total).
 * `sequence` (uint32_t, emptied first) receives the reordering, *proof (may be NULL) the
 * evidence, owned by the caller.
 */
enum smt_answer smt_query_solve(struct smt_query *q, double seconds, GArray *sequence,
                                struct proof **proof, const struct progress *progress);

/*
 * The verdict for the data race (e1, e2): race with a checked witness (the pair last),
 * impossible with its proof, or unknown.  A race that is `visible only as a C11 race` says
 * so in its note; its witness holds both and ends with one of them.  NULL when cancelled.
 */
struct race_options;
/* The options of a solver for data races. */
struct smt_options smt_race_options(const struct race_options *options);
/* Are there atomics that let smt_decide see such races?  (Then a proof that a pair is never
 * next is not the end.)  Needs INDEX_WRITERS. */
bool c11_matters(const struct trace *t);
/* Are there tries that failed and need a reason (core_try_need)?  They order in time, and
 * nothing in C11: what the solver alone, and no core, keeps apart may be such a race. */
bool smt_has_tries(const struct smt *s);
struct finding *smt_decide(struct smt *s, uint32_t e1, uint32_t e2,
                           const struct race_options *options, double seconds,
                           const struct progress *progress);

#endif
