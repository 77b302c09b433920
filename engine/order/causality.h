/*
 * causality.h - one walk over a trace, in its order, that computes each thread's vector clock
 * under a partial order of semantics.md.
 *
 * order.c keeps all clocks and edges of the walk and answers questions afterwards; the
 * streaming predictors use each clock as the walk passes and drop it. Each family of edges has
 * a file: must-order, synchronises-with, locks, observations, critical sections (semantics.md,
 * "The partial orders"). No race detection here.
 *
 * CP needs more than one walk, since its edges lead to acquires and depend on later events:
 * cp.c repeats the walk with the edges found so far until no edge is new.
 */
#ifndef HEDDLE_CAUSALITY_H
#define HEDDLE_CAUSALITY_H

#include "engine/order/clocks.h"
#include "engine/order/order.h"
#include "engine/order/sections.h"
#include "engine/order/sync_edges.h"
#include "engine/trace/tries.h"

/* Program order, must-order and reads-from without lock edges: SyncP's closure. */
#define ORDER_KIND_OBSERVED ((enum order_kind)ORDER_KIND_COUNT)
/* Edges that are in the happens-before of every correct reordering (order_new_fixed). */
#define ORDER_KIND_FIXED    ((enum order_kind)(ORDER_KIND_COUNT + 1))
/* The same, and observations that involve a plain access (order_new_lasting). */
#define ORDER_KIND_LASTING  ((enum order_kind)(ORDER_KIND_COUNT + 2))

/* The strongest of these orders that leaves no race out: OBSERVED, whose pairs no correct
 * reordering turns; LASTING with atomics or failed tries, as C11 races may lie in the order
 * that these make (c11_matters is exact, and dearer). Walks over the events. */
enum order_kind causality_lasting_kind(const struct trace *t);

/* An edge that changed the vector clock of `to`. */
struct edge {
	uint32_t from, to;
	uint32_t detail; /* as in struct step */
	uint16_t rule;   /* enum step_rule */
	uint16_t base;   /* base, as in clocks_join */
};

/* Edges computed beforehand, applied when the walk reaches `to` (CP, EDC). */
struct forced_edge {
	uint32_t from, to, object;
	uint32_t rule; /* enum step_rule */
};

/* A synchronisation-free region: events of one thread that share a vector clock. */
struct sync_region {
	uint32_t start;      /* its first event */
	uint32_t clock;      /* vector clock of its events */
	uint32_t unobserved; /* the clock of `start` without its own observation */
};
/* The regions of one thread, by `start`. */
struct sync_regions {
	struct sync_region *of;
	uint32_t count, capacity;
};

/* An event with its thread, in one word that grows with the event, so that it is read, compared
 * and written at once. 0: none. */
typedef uint64_t epoch;
static inline epoch epoch_of(uint32_t event, uint32_t thread)
{
	return ((uint64_t)event + 1) << 32 | thread;
}
static inline uint32_t epoch_thread(epoch s)
{
	return (uint32_t)s;
}
static inline uint32_t epoch_event(epoch s)
{
	return (uint32_t)(s >> 32) - 1;
}
/* Is the epoch covered by a clock's component? True for 0. */
static inline bool epoch_within(epoch s, uint32_t clock)
{
	return s >> 32 <= clock;
}

struct must_walk;
struct must_live;
struct atomics;
struct locks;
struct sections;

struct causality {
	struct trace *t;
	enum order_kind kind;
	struct clocks clocks;
	/* Clock of the latest event before the edges of its own observation (reads-from and
	 * synchronises-with). */
	uint32_t unobserved;
	bool has_atomics; /* an atomic write has been passed */
	/* For commute/clock.c: the order of invocations comes from specifications (scoped),
	 * and the next event is inside of an invocation, whose synchronisation adds no edge
	 * (hidden). */
	bool scoped, hidden;
	uint32_t *depth;    /* by thread: number of locks held; only with sections */
	uint32_t next_must; /* no event before this one has a must-order edge */

	/* Kept for questions; else NULL. */
	GArray *edges; /* struct edge, by `to`; none for MUST_SHARED (must_walk.c) */
	/* By thread. With borrowed arrays too; events that a sweep passes may leave it. */
	struct sync_regions *regions;
	uint64_t regions_count; /* threads of the trace, which may be closed before this is
	                           freed */

	struct must_walk *must; /* NULL: live */
	struct must_live *live;
	struct atomics *atomics;
	struct locks *locks;               /* HB, SHB, CP, WCP; else NULL */
	struct observations *observations; /* SHB; else NULL */
	struct sections *sections;         /* WCP, DC, WDC; else NULL */
	const struct forced_edge *forced;  /* CP, EDC: by `to`, borrowed */
	uint64_t forced_count, forced_next;
};

enum keep { KEEP_NOTHING, KEEP_REGIONS, KEEP_EDGES /* and regions */ };
/* Walk event by event with causality_step. Builds the index that the order needs. NULL when
 * cancelled. Freed by causality_free. */
struct causality *causality_new(struct trace *t, enum order_kind kind, enum keep keep,
                                const struct progress *progress);
/* The same, of a trace without an index, which is walked block by block as it is checked:
 * causality_live_block before each. Of a sequentially consistent run, in ORDER_KIND_LASTING,
 * with regions. */
struct causality *causality_new_live(struct trace *t);
/* `marks`: the events of the block that may have must-order edges (trace_watch). */
void causality_live_block(struct causality *c, uint64_t first, uint64_t count,
                          const uint16_t *marks, uint32_t marked);
/* Walk the whole trace. `forced` is an array of struct forced_edge by `to`, or NULL. NULL when
 * cancelled. */
struct causality *causality_walk(struct trace *t, enum order_kind kind, enum keep keep,
                                 const GArray *forced, const struct progress *progress);
void regions_make_room(struct sync_regions *s);
static inline void regions_add(struct sync_regions *s, struct sync_region region)
{
	if (s->count == s->capacity)
		regions_make_room(s);
	s->of[s->count++] = region;
}
/* The region of an event, among its thread's; NULL before the first edge into the thread. */
struct sync_region *regions_find(const struct sync_regions *s, uint32_t event);
/* The same of any event of a kept walk. Looks at the event, which in a trace that is decoded in
 * passes may cost the decoding of its block. */
struct sync_region *causality_region(const struct causality *c, uint32_t event);
/* Edge source for an event of a thread, in a kept walk. */
struct edge_source causality_past_point(const struct causality *c, uint32_t event,
                                        uint32_t thread);
void causality_free(struct causality *c);
/* For callers that look up regions during the walk. */
void causality_keep_regions(struct causality *c);
/* Next event of the trace. Every event must be passed, by this or by one of the shortcuts
 * below. */
void causality_step(struct causality *c, uint32_t event);
/* causality_step for an acquire or release (either mode, not inert) without must-order edges,
 * where no regions or edges are kept. */
void causality_lock(struct causality *c, uint32_t event, const struct event *x);
/* Edge into `to`, which must be the current event. */
void causality_edge(struct causality *c, uint32_t to, uint32_t from_thread,
                    struct edge_source from, enum step_rule rule, uint32_t detail, bool base);
/* One more edge into `to`, after its step, from an event of another thread, in a walk that
 * keeps regions. Not in `unobserved`. */
void causality_edge_after(struct causality *c, uint32_t to, uint32_t from, uint32_t from_thread,
                          enum step_rule rule, uint32_t detail);
/* With sections: record that edges may start at an event inside a critical section. */
void sections_origin(struct causality *c, uint32_t event);
/* The current event as the source of later edges. */
static inline struct edge_source causality_point(struct causality *c, uint32_t event)
{
	uint32_t thread = c->t->events[event].thread;

	if (c->depth != NULL && c->depth[thread] > 0)
		sections_origin(c, event);
	return (struct edge_source){ event, clocks_hold(&c->clocks, thread) };
}
/* Free vector clocks that are unreachable. Call when clocks_sweep_due; `mark` marks the clocks
 * that the caller holds. */
void causality_sweep(struct causality *c, void (*mark)(void *context, struct clocks *clocks),
                     void *context);

/* -- one file for each family of edges ---------------------------------------------------- */

struct must_walk *must_walk_new(struct causality *c);
void must_walk_free(struct must_walk *m);
void must_walk_into(struct causality *c, uint32_t event);
void must_walk_from(struct causality *c, uint32_t event);
void must_walk_mark(struct causality *c);

/* Sets c->live. */
void must_live_new(struct causality *c);
void must_live_free(struct must_live *m);
void must_live_into(struct causality *c, uint32_t event);
void must_live_from(struct causality *c, uint32_t event);
void must_live_mark(struct causality *c);

/* `fixed`: only edges that every correct reordering has. */
struct atomics *atomics_new(const struct trace *t, bool fixed);
void atomics_free(struct atomics *a);
/* Edges into an atomic read, and the release sequence that an atomic write heads or ends. An
 * RMW calls both, the read first; a fence has its own. */
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
 * Keep the epochs of each lock's last acquire and last release, adjacent, in the caller's
 * array `last`. The caller may then skip causality_step for a release, and for an
 * exclusive acquire without must-order edges whose thread is ordered after both epochs; it only
 * stores the epoch. A lock with shared sections has `shared` in the place of its acquire: from
 * then on every operation on it needs causality_step. Call before the first event.
 */
void locks_borrow(struct causality *c, epoch *last, epoch shared);
/* Such an acquire whose thread is not yet ordered after the last release. */
void locks_acquire_new(struct causality *c, uint32_t event);
/* Bring a lock's state up to date from the borrowed epochs, and the epochs from an event. */
void locks_settle(struct causality *c, uint32_t object);
void locks_note(struct causality *c, uint32_t event);
void locks_mark(struct causality *c);

struct lock {
	struct lock_points points;
	/* With hidden acquires: earlier exclusive releases that the last release is not
	 * ordered after (struct sync_point). */
	GArray *others;
};
struct locks {
	struct lock *of; /* by object */
	uint64_t count;
	epoch *last; /* borrowed, or NULL */
	epoch shared;
};

struct observations {
	/* By variable, `stride` apart: its last write. causality_step updates it unless the
	 * array is borrowed (observations_borrow). */
	epoch *last;
	uint32_t stride;
	bool borrowed;
	bool plain_only; /* ignore atomic-atomic observations and tries */
	uint64_t variables;
	epoch *last_atomic; /* by variable, with plain_only: its last atomic write; or NULL */
	uint32_t next_try;  /* index of trace_tries's events */
};
struct observations *observations_new(const struct trace *t);
void observations_free(struct observations *o);
/* The caller owns the last writes from now on, and updates them after each causality_step. */
void observations_borrow(struct observations *o, epoch *last, uint32_t stride);
void observations_access(struct causality *c,
                         uint32_t event);                   /* edges into a read; last write */
void observations_try(struct causality *c, uint32_t event); /* edges into a failed try */
void observations_mark(struct causality *c);
static inline epoch *observations_last(const struct observations *o, uint32_t variable)
{
	return &o->last[(size_t)variable * o->stride];
}
/* Is thread `thread` ordered after the last write to the variable? */
static inline bool observations_known(const struct causality *c, uint32_t variable,
                                      uint32_t thread)
{
	epoch last = *observations_last(c->observations, variable);
	uint32_t writer = epoch_thread(last);

	return writer == thread ||
	       epoch_within(last, clocks_now_time(&c->clocks, thread, writer));
}
static inline void observations_write(struct causality *c, uint32_t variable, uint32_t event,
                                      uint32_t thread)
{
	if (!c->observations->borrowed)
		*observations_last(c->observations, variable) = epoch_of(event, thread);
}

/* Sets `depth`. `ordered`: with rule (b) (all but WDC). */
struct sections *sections_new(struct causality *c, bool ordered);
void sections_free(struct sections *s);
void sections_access(struct causality *c, uint32_t event);
void sections_acquire(struct causality *c, uint32_t event);
void sections_release(struct causality *c, uint32_t event);
void sections_mark(struct causality *c);

/*
 * Fast path of causality_step for plain accesses of one variable. True when the critical
 * sections add no edge (`sections`: the order looks at them). The caller must then check that
 * the event is before next_must and, for a read under an order with observations, that
 * observations_known; causality_wrote completes a write. In all other cases causality_step is
 * needed.
 */
static inline __attribute__((always_inline)) bool
causality_quiet(const struct causality *c, const struct event *x, bool sections)
{
	return G_LIKELY(event_simple(x)) && (!sections || c->depth[x->thread] == 0 ||
	                                     sections_quiet(c->sections, &c->clocks, x));
}
/* Complete a write for which causality_quiet was true. */
static inline __attribute__((always_inline)) void
causality_wrote(struct causality *c, uint32_t event, const struct event *x)
{
	if (c->observations != NULL)
		observations_write(c, x->target, event, x->thread);
	if (c->has_atomics)
		atomics_plain_write(c, event);
}
/* Asks for the memory that the walk will need at a later event. (For non-accesses the address
 * is wrong, but harmless.) */
static inline void causality_ahead(const struct causality *c, const struct event *x)
{
	if (c->observations != NULL)
		__builtin_prefetch(observations_last(c->observations, x->target), 1);
}
/* causality_step of any event, by the fast path where that suffices. */
static inline void causality_walk_one(struct causality *c, uint32_t event,
                                      const struct event *x)
{
	if (event >= c->next_must || !causality_quiet(c, x, c->sections != NULL))
		causality_step(c, event);
	else if (x->op == OP_WRITE)
		causality_wrote(c, event, x);
	else if (c->observations != NULL && !observations_known(c, x->target, x->thread))
		causality_step(c, event);
}

#endif
