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
	const char *guards; /* with sections: a guard for each variable, to be fetched ahead */
	uint32_t next_must; /* no event before this one has a must-order edge */

	/* kept for questions, or NULL */
	GArray *edges;      /* struct edge, by `to` */
	GArray **stretches; /* by thread: struct stretch */

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
/* Of a kept walk: the stretch that an event lies in, or NULL where its thread knows nothing
 * yet. */
const struct stretch *causality_stretch(const struct causality *c, uint32_t event);
void causality_free(struct causality *c);
/* Events one after the other, none left out (but see below). */
void causality_step(struct causality *c, uint32_t event);
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

struct atomics *atomics_new(const struct trace *t);
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
void locks_mark(struct causality *c);

struct last_write {
	uint32_t event, row, thread; /* event NONE: not written yet */
};
struct observations {
	struct last_write *last; /* by variable */
	GArray **holders;        /* by object: acquires not yet released; or NULL */
	GArray **takes;          /* by object: the last take of each thread; or NULL */
	int64_t *counts;         /* by object: a semaphore's count */
	uint64_t variables, objects;
};
struct observations *observations_new(const struct trace *t);
void observations_free(struct observations *o);
void observations_access(struct causality *c, uint32_t event); /* edges of a read, its write */
void observations_try(struct causality *c, uint32_t event);    /* locks, semaphores and tries */
void observations_mark(struct causality *c);
/* Is the last write to a variable nothing new to a thread that reads it now? */
static inline bool observations_known(const struct causality *c, uint32_t variable,
                                      uint32_t thread)
{
	const struct last_write *w = &c->observations->last[variable];

	return w->event == NONE || w->thread == thread ||
	       clocks_now(&c->clocks, thread)[w->thread] > w->event;
}
static inline void observations_write(struct causality *c, uint32_t variable, uint32_t event,
                                      uint32_t thread)
{
	c->observations->last[variable] =
	        (struct last_write){ event, clocks_hold(&c->clocks, thread), thread };
}

/* Sets `depth`.  `ordered`: rule (b) too (not WDC). */
struct sections *sections_new(struct causality *c, bool ordered);
void sections_free(struct sections *s);
void sections_access(struct causality *c, uint32_t event);
void sections_acquire(struct causality *c, uint32_t event);
void sections_release(struct causality *c, uint32_t event);
void sections_mark(struct causality *c);

/*
 * A plain access of one variable, which most events are, that no must-order touches and that
 * learns nothing from the critical sections that the order looks at.  If it also observes
 * nothing new (a read, where there are observations), causality_wrote does for it all that
 * causality_step would; else causality_step has to be called.
 */
static inline __attribute__((always_inline)) bool
causality_quiet(struct causality *c, uint32_t event, const struct event *x)
{
	return G_LIKELY(x->op <= OP_WRITE && !(x->flags & (EVENT_INERT | EVENT_WIDE)) &&
	                event < c->next_must) &&
	       (c->depth == NULL || c->depth[x->thread] == 0 ||
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

#endif
