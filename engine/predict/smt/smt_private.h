/*
 * smt_private.h - shared by the files of the solver's analysis: the query as data
 * (smt_query.c), the loop that answers it (smt.c), the search (smt_search.c), the scheduler
 * that tries a region (smt_run.c), the encoding (smt_encode.c), races by C11 (smt_c11.c,
 * smt_chase.c).
 */
#ifndef HEDDLE_SMT_PRIVATE_H
#define HEDDLE_SMT_PRIVATE_H

#include "engine/trace/tries.h"
#include "engine/predict/effort.h"
#include "engine/predict/smt/smt.h"

/* A constraint violated by a scheduler's run. It holds in every correct reordering, with its
 * guard ("if these events are included"). */
enum clause_kind {
	CLAUSE_SECTIONS,  /* acquires a, b: their sections exclude each other */
	CLAUSE_READ,      /* read r, its write w (NONE: initial), another write: not between */
	CLAUSE_SOURCE,    /* read r sees some write of its value (--values) */
	CLAUSE_CONDITION, /* a before b where c is in (and both are) */
	CLAUSE_TRY,       /* tryfail f inside some section that makes it fail */
	CLAUSE_EMPTY,     /* taketryfail f where no count is left */
	CLAUSE_ATOMS,     /* the caller's: first, count of q->atoms */
};
struct clause {
	uint32_t kind; /* enum clause_kind */
	uint32_t e[3];
};

/* By event: checks by the scheduler. */
enum need {
	NEED_MUST = 1,       /* must-order edges come in */
	NEED_EMPTY = 2,      /* a taketryfail that saw no count */
	NEED_HOLDER = 4,     /* a tryfail where the lock has to be held exclusively */
	NEED_ANY_HOLDER = 8, /* ... in either mode */
	NEED_DESTROYED = 16, /* ... destroyed */
};

#define NEED_OF_TRY (NEED_HOLDER | NEED_ANY_HOLDER | NEED_DESTROYED)

/* The outermost of the sections open after `event` in a thread. */
struct outermost {
	uint32_t event;
	uint32_t acquire; /* or NONE */
};

struct smt {
	struct trace *t;
	struct smt_options options;
	const struct past *past;
	struct past *own_past; /* that, unless it was lent */
	const struct tries *tries;
	uint32_t threads;
	bool weak_atomics; /* c11_matters */
	/* -- made by smt_need_tables */
	uint8_t *needs;                    /* by event; NULL: not made yet */
	struct event_lists block_accesses; /* by block, where any block is freed */
	uint32_t *initial_value; /* by variable: 0 unknown; --values alone, else NULL */
	GArray **outermost;      /* by thread: struct outermost, where it changes */
	bool late_access;        /* some access follows its block's free */
	bool has_empty;          /* any NEED_EMPTY: counting is not difference logic */
	bool has_tries;          /* some failed try needs a holder: it orders nothing in C11 */
	void *encoder;           /* the solver's context, smt_encode.c */
	/* The scheduler's state; valid for one run. */
	struct scheduler *scheduler;
	/* -- */
	struct smt *unpaired; /* a solver for the trace without pairings; made when needed */
	struct checker *checker, *own_checker; /* for races; made when needed, or lent */
	struct chase *chase;                   /* for C11 races; made when needed */
	double solver_seconds; /* in queries that needed the solver, or came after FREE_TRIES */
	uint64_t work;         /* work of all tries so far: events run, list entries examined */
};

/* This amount of work (struct smt) of tries without the solver is free, about a second of it;
 * the time of those after that counts as the solver's. Otherwise many pairs of a long trace,
 * each with a cheap try, would take unbounded time. */
enum { FREE_TRIES = 1 << 26 };

/* Makes the tables that searches need, once: most pairs are decided without one. */
void smt_need_tables(struct smt *s);

/* The oldest acquire of the thread not released before `e` (NONE: at its end). */
uint32_t outermost_before(const struct smt *s, uint32_t thread, uint32_t e);

struct requirement {
	uint32_t event;
	bool next;       /* else: in */
	bool unobserved; /* included, as the last of its thread */
};
struct order_edge {
	uint32_t before, after;
};

struct smt_query {
	struct smt *s;
	GArray *required;  /* struct requirement */
	GArray *out;       /* uint32_t */
	GArray *edges;     /* struct order_edge: required by the caller */
	GArray *atoms;     /* struct smt_atom */
	GArray *clauses;   /* struct clause, in the order of their discovery */
	GHashTable *known; /* of them */
	smt_judge *judge;
	void *judge_context;
	/* Whether the judge accepts depends on what comes after this event, one of those
	 * required: what was recorded before it may come first, as recorded. NONE: on all. */
	uint32_t judged_from;
	/* the least cut, contained in every answer */
	uint32_t *base;
	/* The scheduler's task: the region, and orders beside program order, must-order and
	 * observation; with --values the reads-from (event -> write + 1). */
	uint32_t *cut;
	GArray *chosen; /* struct order_edge, sorted by `after` */
	GHashTable *sources;
	GArray *sequence; /* the scheduler's result */
	/* Bounds of the tries: see query_stopped. */
	gint64 deadline;     /* of effort_microseconds */
	uint64_t work_check; /* s->work at which the clock is read next */
	bool stopped;
};

/* Is the query's time spent? Also checked within tries. The first QUERY_WORK of a query is
 * free, so that results for small traces do not depend on the machine. */
bool query_stopped(struct smt_query *q);
/* Sets q->base: the least cut that contains all required events. */
void query_make_base(struct smt_query *q);

/* past_has for the query: an unobserved event needs no write. */
bool query_has(const struct smt_query *q, uint32_t f, uint32_t e);
/* Is the event in no answer? */
bool query_never(const struct smt_query *q, uint32_t e);
bool query_unobserved(const struct smt_query *q, uint32_t e);
static inline bool cut_has(const struct trace *t, const uint32_t *cut, uint32_t e)
{
	return t->index->position[e] < cut[t->events[e].thread];
}
void query_sort_chosen(struct smt_query *q); /* by `after`, as the scheduler needs them */
/* Add a clause; false if it exists. */
bool query_add(struct smt_query *q, struct clause clause);

/* Do the critical sections of two threads exclude each other? */
bool sections_exclude(const struct trace *t, uint32_t a, uint32_t b);
/* Rule 2 for one variable: may read `r`, which read from `w` in the trace, read from `other`?
 * (NONE: initial value.) */
bool may_see(const struct smt *s, uint32_t r, uint32_t variable, uint32_t w, uint32_t other);
/* The write (or NONE) of `variable` that `r` reads from in the trace. */
uint32_t seen_write(const struct trace *t, uint32_t r, uint32_t variable);
/* Has the read several possible writes, by --values? */
bool has_choice(const struct smt *s, uint32_t r);

/* smt_new, with or without the pairings of semaphores, wakes and barriers (rule 4). */
struct smt *smt_make(struct trace *t, const struct smt_options *options, bool pairing,
                     const struct progress *progress);
/* Are tries without the solver out of budget, too? */
bool smt_tries_spent(const struct smt *s);

/* The tables serve any number of reorderings. */
struct chase;
struct chase *chase_new(const struct trace *t, const struct past *past);
void chase_free(struct chase *c);
/* Does nothing of the reordering's happens-before lie between the two? Otherwise `atoms`
 * receives alternatives to the chain between them (struct smt_atom): a reordering without it
 * has one of them; no atom: the chain is in every reordering. *end: the length of the
 * reordering up to the second of the two. */
bool chase_apart(struct chase *c, const uint32_t pair[2], const uint32_t *sequence,
                 uint32_t length, GArray *atoms, uint32_t *end);
/* A reordering with both and no happens-before between them, ending with one of them. */
enum smt_answer c11_query(struct smt *s, uint32_t e1, uint32_t e2, double seconds,
                          GArray *sequence, const struct progress *progress);

/* Events in the region that is to be tried. */
uint64_t query_region_size(const struct smt_query *q);
/* Try, add violated clauses, choose, until a try succeeds, no choice is left, or q->deadline
 * passed. *x is made on demand and owned by the caller. */
struct encoding;
enum smt_answer query_search(struct smt_query *q, struct encoding **x,
                             const struct progress *progress);

struct scheduler *scheduler_new(const struct smt *s);
void scheduler_free(struct scheduler *r);
/* Run the region q->cut to its end: true with a correct reordering in q->sequence. Events below
 * `prefix`, all in the region, are taken as recorded. When stuck: false, with violated
 * constraints added; *fresh: the number of new ones. When stopped (query_stopped): false. */
bool scheduler_run(struct smt_query *q, uint32_t prefix, uint32_t *fresh);

void *encoder_new(const struct smt *s);
void encoder_free(void *encoder);
/* The solver for a query: encoding_check adds new q->clauses and decides within `milliseconds`:
 * 1 with q->cut, q->chosen and q->sources set for the next try, 0 impossible (see
 * encoding_proof), -1 unknown. */
struct encoding *encoding_new(struct smt_query *q);
void encoding_free(struct encoding *x);
int encoding_check(struct encoding *x, unsigned milliseconds);
/* The earliest event excluded in the last model, or NONE. */
uint32_t encoding_first_out(const struct encoding *x);
/* The clauses of the unsatisfiable core, as steps. */
void encoding_proof(struct encoding *x, struct path *path);

#endif
