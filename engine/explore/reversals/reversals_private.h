/*
 * reversals_private.h - interface between the kinds of reversals (reversals.c, outcomes.c) and
 * the search for maximal prefixes (reversals_search.c).
 */
#ifndef HEDDLE_REVERSALS_PRIVATE_H
#define HEDDLE_REVERSALS_PRIVATE_H

#include "engine/explore/reversals/abstract.h"
#include "engine/explore/reversals/reversals.h"
#include "engine/order/past.h"

struct search;

/* The current query; ask_new initialises it. */
struct asked {
	enum reversal_kind kind;
	uint32_t event, thread, other; /* as in struct reversal */
	bool stands;                   /* the event is only reached, not executed */
	uint32_t in[2], out[2];        /* included and excluded events; NONE: unused */
	uint32_t first, second;        /* both included, in this order; NONE */
	/* Is the candidate (cut: x->judged) valid? Otherwise adds a constraint against it. */
	bool (*judge)(struct search *x, struct smt_query *q, const uint32_t *sequence,
	              uint32_t length);
	/* The history number of its thread including the event; or a constant. */
	uint64_t (*prefix_of)(const struct search *x);
	uint64_t prefix;
	uint64_t seen; /* as in struct reversal */
	uint32_t (*other_of)(const struct search *x);
	const struct view_call *call;
	const char *text; /* as in struct reversal */
};

/* Prefixes found: not searched again, except with other rivals. */
struct found {
	uint32_t *cut; /* by thread: number of steps */
	bool all;      /* for any set of rivals */
};

struct reach;
struct search {
	const struct history *h;
	struct trace *t;
	struct smt *smt;
	const struct reversal_limits *limits;
	reversal_taker *take;
	void *context;
	bool unanswered, stopped;
	bool uncounted; /* see reversals_uncounted */
	enum reversals_races races;
	bool merges;    /* signals to one thread may arrive as one */
	bool bounded;   /* a reversal needs more preemptions than limits->preemptions */
	uint32_t given; /* reversals so far */
	struct asked ask;
	GArray *rivals;   /* uint32_t: a read's writes that must not come between */
	GArray *watched;  /* uint32_t: rivals whose presence changes results */
	GArray *required; /* uint32_t: included events */
	GArray *extras; /* struct thread_prefix: requirements on a run beside its threads' steps
	                 */
	GHashTable *ends;           /* uint64_t: known values of finals */
	struct abstract *abstract;  /* for objects viewed by results, else NULL */
	struct calls_search *calls; /* of a search over the order of calls and returns; or NULL
	                             */
	/* For that search: makes visible where its invocations begin. */
	void (*show_calls)(struct reach *r);
	bool fresh;       /* exclude prefixes found so far */
	uint32_t *judged; /* by thread: the cut being judged */
	uint32_t *bound;  /* by thread: first step that depends on the event */
	uint32_t *limit;  /* by thread: as `bound`, also for excluded rivals */
	uint32_t *cut;    /* by thread: number of included steps */
	GArray *found;    /* struct found */
	GArray *sequence;
};

uint32_t step_event(const struct search *x, uint32_t thread, uint32_t step);
uint32_t steps_of(const struct search *x, uint32_t thread);
bool within_cut(const struct search *x, const uint32_t *cut, uint32_t event);
void clear_found(gpointer data);

/* A new query on `event` (of the trace) or, NONE, on a thread. */
struct asked *ask_new(struct search *x, enum reversal_kind kind, uint32_t event);
/* Pass on all maximal prefixes that permit the outcome. */
void find_parts(struct search *x);
/* Find one prefix, or false; give_part passes it on. */
bool find_part(struct search *x);
void give_part(struct search *x);

/* reach.c: all kinds at once; false when the run has more than `most` states. */
bool reach_by_states(struct search *x, uint32_t most);
/* reach_walk.c: some reversals of all kinds. */
void reach_by_walks(struct search *x, uint64_t seed, uint64_t looks);
/* reach_linear.c: is there a schedule of the run's class, with the same outcomes, in which the
 * part's history is not linearizable? LINEAR_NO: with x->sequence, its recorded events;
 * else LINEAR_YES, or LINEAR_UNDECIDED beyond `most` states and sets of configurations. */
enum linear_answer reach_linear(struct search *x, const struct linear_part *part,
                                uint32_t most);
/* outcomes.c: the kinds from REVERSAL_FAILS on. */
void reversal_outcomes(struct search *x, uint32_t event);
void reversal_ends(struct search *x);
void reversal_finals(struct search *x);
/* Values of the variables of --final after a complete sequence: as x->extras, and as one
 * number. x->ask.other: the last write of a variable that differs from the run. */
uint64_t final_values(struct search *x, const uint32_t *sequence, uint32_t length);
/* May the event block the thread: open sections, taken counts, the end of an object it waits
 * for? */
bool may_keep(const struct search *x, uint32_t event, uint32_t thread);

#endif
