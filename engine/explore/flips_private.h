/*
 * flips_private.h - what the kinds of flips (flips.c, outcomes.c) ask of the search for the
 * largest parts (flips_search.c).
 */
#ifndef HEDDLE_FLIPS_PRIVATE_H
#define HEDDLE_FLIPS_PRIVATE_H

#include "engine/explore/abstract.h"
#include "engine/explore/flips.h"
#include "engine/order/past.h"

struct search;

/* The question at hand; ask_new fills in "nothing". */
struct asked {
	enum flip_kind kind;
	uint32_t event, thread, other; /* as in struct flip */
	bool stands;                   /* the event need not be possible as it was in the run */
	uint32_t in[2], out[2];        /* events that are in, that are not; NONE */
	uint32_t first, second;        /* both in, in this order; NONE */
	/* Is the candidate (x->judged: its cut) good?  Else it requires what forbids it. */
	bool (*judge)(struct search *x, struct smt_query *q, const uint32_t *sequence,
	              uint32_t length);
	/* The number of what its thread did, the event with it; or as a constant. */
	uint64_t (*prefix_of)(const struct search *x);
	uint64_t prefix;
	uint32_t (*other_of)(const struct search *x);
	const struct view_call *call;
	const char *text; /* as in struct flip */
};

/* What was found already: nothing within it is looked for again, unless other rivals are in
 * it. */
struct found {
	uint32_t *cut; /* by thread: so many steps */
	bool all;      /* whatever the rivals */
};

struct search {
	const struct history *h;
	struct trace *t;
	struct smt *smt;
	const struct flip_limits *limits;
	flip_taker *take;
	void *context;
	bool unanswered, stopped;
	uint32_t given; /* reversals so far */
	struct asked ask;
	GArray *rivals;   /* uint32_t: a read's writes that may not come between */
	GArray *watched;  /* uint32_t: which of these are in makes a difference of its own */
	GArray *required; /* uint32_t: are in */
	GArray *extras;   /* struct part: what a run must have beside its threads' steps */
	GHashTable *ends; /* uint64_t: the values of finals that are known */
	struct abstract *abstract; /* where objects are looked at by results, else NULL */
	bool fresh;                /* only what is within no part found so far */
	uint32_t *judged;          /* by thread: the cut that is judged */
	uint32_t *bound;           /* by thread: its steps from here on need the event */
	uint32_t *limit;           /* by thread: as `bound`, for the rivals that are out, too */
	uint32_t *cut;             /* by thread: how many steps are in */
	GArray *found;             /* struct found */
	GArray *sequence;
};

uint32_t step_event(const struct search *x, uint32_t thread, uint32_t step);
uint32_t steps_of(const struct search *x, uint32_t thread);
bool within_cut(const struct search *x, const uint32_t *cut, uint32_t event);
void clear_found(gpointer data);

/* A new question, about `event` (of the trace) or, NONE, about a thread. */
struct asked *ask_new(struct search *x, enum flip_kind kind, uint32_t event);
/* Give all the largest parts of the run after which it happens as asked. */
void find_parts(struct search *x);
/* One part, as it is found: false when there is none.  give_part gives it. */
bool find_part(struct search *x);
void give_part(struct search *x);

/* reach.c: all kinds at once; false when the run has more than `most` states. */
bool reach_by_states(struct search *x, uint32_t most);
/* reach_walk.c: some of all kinds. */
void reach_by_walks(struct search *x, uint64_t seed);
/* outcomes.c: the kinds from FLIP_FAILS on. */
void flip_outcomes(struct search *x, uint32_t event);
void flip_ends(struct search *x);
void flip_finals(struct search *x);
/* What the variables of --final hold after a sequence of everything: as x->extras, and as one
 * number.  x->ask.other: the last write of one that differs from the run. */
uint64_t final_values(struct search *x, const uint32_t *sequence, uint32_t length);
/* Events that may keep others from going on: sections that are open, counts that were taken,
 * and the end of the object that another waits for. */
bool may_keep(const struct search *x, uint32_t event, uint32_t thread);

#endif
