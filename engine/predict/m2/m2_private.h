/*
 * m2_private.h - internals of M2: the window (m2_window.c), its closure (m2_closure.c), its
 * linearisation (m2_linear.c), and the driver (m2.c).
 *
 * The order P of a cone X is the causal order plus added edges. Edges against the recorded
 * order reach back to some event; before the earliest, the `cut`, X can keep its recorded
 * order. So only the window from the cut on is examined; it grows when an edge reaches further
 * back.
 */
#ifndef HEDDLE_M2_PRIVATE_H
#define HEDDLE_M2_PRIVATE_H

#include "engine/predict/m2/cone.h"
#include "engine/predict/m2/m2.h"
#include "engine/witness/check.h"

/* The accesses of one thread to one variable. */
struct run {
	uint32_t thread, first, count;
};

struct access {
	uint32_t local, thread, position, event;
};

/* A read in the closure. */
struct reading {
	uint32_t local, thread, position, event;
	uint32_t writer; /* event or NONE */
};

/* A thread's last access to a block freed in the window. */
struct block_use {
	uint32_t block, thread, event;
};

struct window {
	uint32_t cut;      /* event: earlier events of the recording are the head */
	uint32_t *base;    /* by thread: first position in the window */
	GArray *threads;   /* uint32_t: threads with events in the window */
	uint64_t size;     /* events */
	GArray *accesses;  /* struct access: by variable, thread, position */
	GArray *runs;      /* struct run of accesses, by variable */
	GArray *run_start; /* uint32_t: by local variable, index of runs; one more */
	GArray *writes;    /* struct access: the writes alone */
	GArray *write_runs;
	GArray *write_start;
	GArray *readings; /* struct reading */
	GArray *locks;    /* uint32_t: objects with lock events in the window */
	GArray *odd;      /* uint32_t: events with special edges (tries, frees, ...) */
	/* by variable: its number in runs and readings; NONE: not kept; undefined for variables
	 * outside the window */
	uint32_t *local;
	GArray *block_uses; /* struct block_use */
	uint64_t *shared;   /* bit set by variable: two threads access it, one writing */
	/* -- scratch, reused between windows */
	uint32_t *block_stamp, *block_last; /* by block; last: index of block_uses */
	uint32_t *stamp;                    /* by variable */
	uint32_t *lock_stamp;               /* by object */
	uint32_t *owner, *sharers;          /* by object; zero between linearisations */
	uint32_t now;                       /* value that marks entries of this window */
	GArray *raw;                        /* struct access */
	uint64_t raw_room;                  /* elements that it has memory for */
};

/* See m2_bound; processor seconds of this thread. */
struct m2_purse {
	double pair, all;
	double spent_long, spent_short; /* by long pairs, by others */
	uint64_t work;                  /* steps of short pairs: the first are free */
	double began;                   /* this pair */
	uint64_t look_at_clock;         /* work at which the clock is read next */
	bool late;                      /* its time is spent */
	enum open_reason open;
};

enum { TRACKED_THREADS = 256 }; /* with more, every round examines everything */

struct m2 {
	struct trace *t;
	struct cones *cones;
	const struct past *past;               /* of the cones */
	struct checker *checker, *own_checker; /* own_checker is NULL where the checker is
	                                        * borrowed */
	struct chain_graph *order;             /* added edges, above the causal order */
	uint32_t threads, refused;
	/* -- the pair */
	uint32_t e1, e2, p1, p2;
	struct cone cone;
	struct window w;
	GArray *edges;               /* struct step: added edges with their rules */
	GArray *changes;             /* struct chain_change: since the closure's last round */
	uint32_t *fresh_q, *fresh_p; /* by pair of threads (TRACKED_THREADS at most): changes
	                              * examined in this round */
	bool all_fresh;
	struct step failed; /* the edge that would close a cycle */
	uint32_t reach;     /* an event before the cut, target of an edge */
	bool head_first;    /* the head is ordered before the window */
	uint32_t small;     /* smaller cuts are treated as 0 (tests set it to 0) */
	uint64_t work;      /* steps spent on this pair */
	bool as_recorded;   /* decided by the recorded order */
	uint32_t tails;     /* m2_tails */
	uint32_t recorded;  /* m2_recorded */
	struct m2_purse purse;
	GArray *tail; /* uint32_t: the linearised window */
};

enum outcome { DONE, CYCLE, REACHES_BACK, FAILED, TOO_MUCH };

static inline uint32_t m2_position(const struct m2 *m, uint32_t e)
{
	return m->t->index->position[e];
}
static inline uint32_t m2_event(const struct m2 *m, uint32_t thread, uint32_t position)
{
	return trace_thread_events(m->t, thread).items[position];
}
static inline bool m2_in_cone(const struct m2 *m, uint32_t e)
{
	return m2_position(m, e) < m->cone.prefix[m->t->events[e].thread];
}
static inline bool m2_in_window(const struct m2 *m, uint32_t e)
{
	return e >= m->w.cut && m2_in_cone(m, e);
}
bool m2_reaches(const struct m2 *m, uint32_t e, uint32_t f);

/* m2_budget.c */
enum { SHORT = 1 << 20 /* work of a pair that is not long */ };
/* Has the pair taken more than `work`, or than m2_bound leaves for it? */
bool m2_too_much(struct m2 *m, uint64_t work);
/* Have long pairs used up their time? */
bool purse_long_spent(const struct m2 *m);
/* Open and close the work of a pair, which is counted. */
void purse_open(struct m2 *m);
void purse_close(struct m2 *m);

/* m2_window.c */
void window_init(struct window *w, const struct trace *t);
void window_release(struct window *w);
/* Set w.base: number of each thread's events before `cut`. */
void window_base(struct m2 *m, uint32_t cut);
/* Collect the events of the cone from w.cut on; false when they are more than `limit`. */
bool window_fill(struct m2 *m, uint64_t limit);
/* Number of accesses of a run before `position`. */
uint32_t window_run_before(const GArray *accesses, const struct run *run, uint32_t position);

/* m2_closure.c */
/* Add an edge of P; CYCLE stores it in m->failed, REACHES_BACK its target in m->reach. */
enum outcome closure_edge(struct m2 *m, uint32_t from, uint32_t to, enum step_rule rule,
                          uint32_t detail);
/* Add the initial edges and close. */
enum outcome closure_start(struct m2 *m);
enum outcome closure_run(struct m2 *m);
/* From now on the head is ordered before the window. */
enum outcome closure_head_first(struct m2 *m);
/* The cycle: the path of P from the failed edge's target to its source, and the edge. */
void closure_cycle(const struct m2 *m, struct path *path);

/* m2_linear.c */
/* Set m->tail: the window in recorded order, except where P reverses it. */
bool linear_recorded(struct m2 *m);
/* Order conflicts outside `thread` as recorded, closing after each. */
enum outcome linear_order_others(struct m2 *m, uint32_t thread);
/* Set m->tail: `thread` as early, the rest as late as P permits (max-min). */
bool linear_max_min(struct m2 *m, uint32_t thread);

#endif
