/*
 * causality.h - walks a trace in its order and keeps, for each thread, what a partial order
 * of semantics.md puts before the event that the thread is at.
 *
 * One walk serves all who need an order: order.c keeps every stretch of clocks and every
 * edge and answers questions afterwards; the streaming predictors look at the clocks as
 * they pass and let them go.  The edges come from small parts, one for each sentence of
 * the table "The partial orders": must-order, synchronises-with, locks, observation,
 * critical sections.  Knows nothing of races.
 *
 * CP alone cannot be walked so, as its edges lead to acquires and depend on what follows
 * them; it is walked with the edges found so far until there are no more (cp.c).
 */
#ifndef HEDDLE_CAUSALITY_H
#define HEDDLE_CAUSALITY_H

#include "engine/order/clocks.h"
#include "engine/order/order.h"
#include "engine/order/sections.h"

/* Program order, must-order and what reads observe, without locks: SyncP's closure. */
#define ORDER_KIND_OBSERVED ((enum order_kind)ORDER_KIND_COUNT)
/* What is in the happens-before of every correct reordering: see order_new_fixed. */
#define ORDER_KIND_FIXED    ((enum order_kind)(ORDER_KIND_COUNT + 1))
/* The same with observations that a plain access takes part in: see order_new_lasting. */
#define ORDER_KIND_LASTING  ((enum order_kind)(ORDER_KIND_COUNT + 2))

struct edge { /* that told `to` something new */
	uint32_t from, to;
	uint32_t detail; /* as struct step has it */
	uint16_t rule;   /* enum step_rule */
	uint16_t base;   /* see clocks_join */
};

struct forced_edge { /* to be taken when `to` comes (CP, EDC) */
	uint32_t from, to, object;
	uint32_t rule; /* enum step_rule */
};

struct stretch {             /* of one thread's events, up to the next one's start */
	uint32_t start;      /* event */
	uint32_t row;        /* what is before its events */
	uint32_t unobserved; /* the same for `start` without what it itself reads from */
};
struct stretches { /* of one thread */
	struct stretch *of;
	uint32_t count, capacity;
};

/*
 * An event with its thread as one number that grows with the event, so that a place for one
 * is read, compared and written at once.  0: none.
 */
typedef uint64_t stamp;
static inline stamp stamp_of(uint32_t event, uint32_t thread)
{
	return ((uint64_t)event + 1) << 32 | thread;
}
static inline uint32_t stamp_thread(stamp s)
{
	return (uint32_t)s;
}
static inline uint32_t stamp_event(stamp s)
{
	return (uint32_t)(s >> 32) - 1;
}
/* Is it one of the events that a clock's component counts?  None is. */
static inline bool stamp_within(stamp s, uint32_t clock)
{
	return s >> 32 <= clock;
}

struct must_walk;
struct atomics;
struct locks;
struct sections;

struct causality {
	struct trace *t;
	enum order_kind kind;
	struct clocks clocks;
	/* The row of the event that was last looked at, before the edges of its own
	 * observation (reads-from and synchronises-with) went in. */
	uint32_t unobserved;
	bool has_atomics;   /* an atomic write has come */
	uint32_t *depth;    /* by thread: how many locks it holds; with sections only */
	uint32_t next_must; /* no event before this one has a must-order edge */

	/* Kept for questions, or NULL. */
	GArray *edges; /* struct edge, by `to` */
	/* By thread; where something is lent too, until a sweep. */
	struct stretches *stretches;

	struct must_walk *must;
	struct atomics *atomics;
	struct locks *locks;               /* HB, SHB, CP, WCP; else NULL */
	struct observations *observations; /* SHB; else NULL */
	struct sections *sections;         /* WCP, DC, WDC; else NULL */
	const struct forced_edge *forced;  /* CP, EDC: by `to`, borrowed */
	uint64_t forced_count, forced_next;
};

enum keep { KEEP_NOTHING, KEEP_STRETCHES, KEEP_EDGES /* and stretches */ };
/* Builds the parts of the index it needs; NULL when cancelled. */
struct causality *causality_new(struct trace *t, enum order_kind kind, enum keep keep,
                                const struct progress *progress);
/* Walk a whole trace and keep it; `forced` (struct forced_edge, by `to`) or NULL.  NULL when
 * cancelled. */
struct causality *causality_walk(struct trace *t, enum order_kind kind, enum keep keep,
                                 const GArray *forced, const struct progress *progress);
void stretches_make_room(struct stretches *s);
static inline void stretches_add(struct stretches *s, struct stretch stretch)
{
	if (s->count == s->capacity)
		stretches_make_room(s);
	s->of[s->count++] = stretch;
}
/* Of a kept walk: the stretch that an event (of a thread) lies in, or NULL where its thread
 * knows nothing yet. */
struct stretch *causality_stretch(const struct causality *c, uint32_t event);
struct stretch *stretches_find(const struct stretches *s, uint32_t event);
/* The same as a point that edges may start from. */
struct point causality_past_point(const struct causality *c, uint32_t event);
void causality_free(struct causality *c);
/* For who looks events up in stretches while the walk goes on. */
void causality_keep_stretches(struct causality *c);
/* Events one after the other, none left out (but see below). */
void causality_step(struct causality *c, uint32_t event);
/* The same for an acquire or a release (in either mode, not inert) that no must-order touches,
 * where nothing is kept. */
void causality_lock(struct causality *c, uint32_t event, const struct event *x);
/* An edge into `to`, the event that is being looked at. */
void causality_edge(struct causality *c, uint32_t to, uint32_t from_thread, struct point from,
                    enum step_rule rule, uint32_t detail, bool base);
/* With sections: edges may start from an event inside of one. */
void sections_origin(struct causality *c, uint32_t event);
/* The event as a point that later edges may start from. */
static inline struct point causality_point(struct causality *c, uint32_t event)
{
	uint32_t thread = c->t->events[event].thread;

	if (c->depth != NULL && c->depth[thread] > 0)
		sections_origin(c, event);
	return (struct point){ event, clocks_hold(&c->clocks, thread) };
}
/* When clocks_crowded: frees rows; `mark` marks the caller's own. */
void causality_sweep(struct causality *c, void (*mark)(void *context, struct clocks *clocks),
                     void *context);

/* -- the parts, each in a file of its name ---------------------------------------------- */

struct must_walk *must_walk_new(struct causality *c);
void must_walk_free(struct must_walk *m);
void must_walk_into(struct causality *c, uint32_t event);
void must_walk_from(struct causality *c, uint32_t event);
void must_walk_mark(struct causality *c);

/* `fixed`: only edges that no correct reordering is without. */
struct atomics *atomics_new(const struct trace *t, bool fixed);
void atomics_free(struct atomics *a);
/* The edges of an atomic read, and what an atomic write leaves for later ones; an RMW is
 * first one, then the other.  A fence is both. */
void atomics_read(struct causality *c, uint32_t event);
void atomics_write(struct causality *c, uint32_t event);
void atomics_plain_write(struct causality *c, uint32_t event);
void atomics_fence(struct causality *c, uint32_t event);
void atomics_mark(struct causality *c);

struct locks *locks_new(const struct trace *t);
void locks_free(struct locks *l);
void locks_acquire(struct causality *c, uint32_t event);
void locks_release(struct causality *c, uint32_t event);
/*
 * Before anything: the caller keeps the last acquire and the last release of each lock, two
 * stamps beside each other.  An exclusive acquire that no must-order touches, that tells its
 * thread nothing (it knows both), and a release need no causality_step then: the stamp is all.
 * The acquire's becomes `shared` when the lock has shared sections; causality_step is due for
 * all that happens to it from then on.
 */
void locks_lend(struct causality *c, stamp *last, stamp shared);
/* Such an acquire that learns of the last release. */
void locks_learn(struct causality *c, uint32_t event);
/* What was left out, before a lock's state is looked at; the stamps of an event. */
void locks_settle(struct causality *c, uint32_t object);
void locks_note(struct causality *c, uint32_t event);
void locks_mark(struct causality *c);

struct lock {
	stamp release;   /* of the last exclusive section */
	uint32_t row;    /* what it knew */
	GArray *readers; /* shared releases since; NULL while there are none */
};
struct locks {
	struct lock *of; /* by object */
	uint64_t count;
	stamp *last; /* lent, or NULL */
	stamp shared;
};

struct observations {
	/* By variable, `stride` apart: its last write, which causality_step keeps unless the
	 * array is lent by who keeps it anyway (observations_lend). */
	stamp *last;
	uint32_t stride;
	bool lent;
	bool plain_only; /* no edges between atomics, nor of tries */
	stamp *holder;    /* by object: the acquire that is not yet released */
	GArray **holders; /* by object: stamps of more of them; or NULL */
	GArray **takes;   /* by object: stamps of the last take of each thread; or NULL */
	stamp *destroyed; /* by object: its destruction, where it was not taken since */
	int64_t *counts;  /* by object: a semaphore's count */
	uint64_t variables, objects;
};
struct observations *observations_new(const struct trace *t);
void observations_free(struct observations *o);
/* The caller keeps the last writes, from now on and after each causality_step. */
void observations_lend(struct observations *o, stamp *last, uint32_t stride);
void observations_access(struct causality *c, uint32_t event); /* edges of a read, its write */
void observations_try(struct causality *c, uint32_t event);    /* locks, semaphores and tries */
void observations_mark(struct causality *c);
static inline stamp *observations_last(const struct observations *o, uint32_t variable)
{
	return &o->last[(size_t)variable * o->stride];
}
/* Is the last write to a variable nothing new to a thread that reads it now? */
static inline bool observations_known(const struct causality *c, uint32_t variable,
                                      uint32_t thread)
{
	stamp last = *observations_last(c->observations, variable);
	uint32_t writer = stamp_thread(last);

	return writer == thread || stamp_within(last, clocks_now(&c->clocks, thread)[writer]);
}
static inline void observations_write(struct causality *c, uint32_t variable, uint32_t event,
                                      uint32_t thread)
{
	if (!c->observations->lent)
		*observations_last(c->observations, variable) = stamp_of(event, thread);
}

/* Sets `depth`.  `ordered`: rule (b) too (not WDC). */
struct sections *sections_new(struct causality *c, bool ordered);
void sections_free(struct sections *s);
void sections_access(struct causality *c, uint32_t event);
void sections_acquire(struct causality *c, uint32_t event);
void sections_release(struct causality *c, uint32_t event);
void sections_mark(struct causality *c);

/*
 * A plain access of one variable, which most events are, that learns nothing from the critical
 * sections that the order looks at (`sections`: it looks at some).  If no must-order touches
 * it (it is before next_must) and it observes nothing new (a read, where there are
 * observations), causality_wrote does for it all that causality_step would; else
 * causality_step has to be called.
 */
static inline __attribute__((always_inline)) bool
causality_quiet(const struct causality *c, const struct event *x, bool sections)
{
	return G_LIKELY(event_simple(x)) && (!sections || c->depth[x->thread] == 0 ||
	                                     sections_quiet(c->sections, &c->clocks, x));
}
/* The rest of a quiet access when it is a write. */
static inline __attribute__((always_inline)) void
causality_wrote(struct causality *c, uint32_t event, const struct event *x)
{
	if (c->observations != NULL)
		observations_write(c, x->target, event, x->thread);
	if (c->has_atomics)
		atomics_plain_write(c, event);
}

/* Is an acquire the only one of its lock that is open, or a release that one's? */
static inline bool observations_one_holder(const struct observations *o, const struct event *x)
{
	stamp holder = o->holder[x->target];

	return o->holders[x->target] == NULL &&
	       (x->op == OP_REL ? stamp_thread(holder) == x->thread : holder == 0);
}

/*
 * An exclusive acquire or a release that no must-order touches, of an order that looks at
 * neither locks nor sections and observes: only who holds the lock changes, for a try that
 * fails later on.  True when all is done that causality_step would do.
 */
static inline bool causality_quiet_hold(struct causality *c, uint32_t event,
                                        const struct event *x)
{
	bool releases = x->op == OP_REL;

	if ((x->op != OP_ACQ && !releases) || event_inert(x) ||
	    !observations_one_holder(c->observations, x))
		return false;
	c->observations->holder[x->target] = releases ? 0 : stamp_of(event, x->thread);
	return true;
}

#endif
