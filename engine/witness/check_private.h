/*
 * check_private.h - internals of the checker, from the bottom up: the state (check_state.c),
 * facts of the trace (check_facts.c; check_missing.c for barrier pairs), the rules
 * (check_rules.c: 1 to 4 and 6; check_invocations.c: 5), steps (check_steps.c), the claims
 * (check_race.c, check_order.c, check_c11.c, check_stuck.c, check.c).
 *
 * Facts are computed once. The rest of struct checker is the state after the events applied so
 * far; every change goes through cell_set, so that a tail can be undone. Includes only the
 * event model of the engine.
 */
#ifndef HEDDLE_CHECK_PRIVATE_H
#define HEDDLE_CHECK_PRIVATE_H

#include "engine/witness/check.h"

/* A must-order: `before` precedes `after`; or, with `many`, all events of list `before` of
 * facts.lists do: those that leave one round of a barrier share a list. */
struct must_need {
	uint32_t after, before;
	bool many;
	uint32_t object; /* an object whose state may pair these operations differently; or
	                  * NONE */
};

/* "wait before its waker", which holds only if the wake is in the reordering. */
struct condition_wake {
	uint32_t waker, wait, wake;
};

/* The condition for a failed try: another thread holds the lock, exclusively if it did so in
 * the trace (the try may have been for shared mode), in any mode otherwise; or the lock was
 * destroyed. */
enum tried { TRIED_EXCLUSIVE = 1, TRIED_ANY, TRIED_DESTROYED };

/* May an access to a block come now, by rules 4 and 6? */
enum life {
	LIFE_OPEN,  /* yes */
	LIFE_STACK, /* where it is of the thread whose stack it is */
	LIFE_ASKED, /* the rules say: it is not allocated yet, or is freed */
};

struct thread_facts {
	uint32_t count, first, last; /* events; undefined ends without any */
	uint32_t start;              /* begin of its events in facts.own */
};

struct facts {
	uint32_t *place;              /* by event: index in its thread */
	struct thread_facts *threads; /* by thread */
	uint32_t *own;                /* events, thread by thread; NULL until facts_own */
	GArray *needs;                /* struct must_need, by `after` */
	GPtrArray *lists;             /* GArray of uint32_t */
	GArray *wakes;                /* struct condition_wake, by `waker` */
	GHashTable *woken;            /* wake -> index in wakes + 1 */
	uint64_t *blocked;            /* bit set of the events with an entry in needs */
	uint32_t *
	        writer; /* by read of one variable: its writer; by wide read: index of `wide` */
	GArray *wide;   /* uint32_t: writers of the variables of wide reads */
	uint32_t *initial; /* by variable: initial value, where a read shows it */
	GHashTable *tried; /* tryfail -> enum tried; for a destroyed lock TRIED_DESTROYED + the
	                      destroy */
	GHashTable *empty; /* taketryfails that found no count in the trace */
	uint32_t
	        *destroy; /* by event: the next destroy of its object plus one, or 0; or NULL */
	uint32_t *stack_of; /* by block: thread whose stack it is, or NONE */
	/* -- specified objects (rule 5) */
	uint32_t *scope;      /* by event: CALL of its outermost specified scope */
	uint32_t *lock_owner; /* by object: the only instance in whose scopes it is used */
	uint64_t *unreliable; /* bit set of instances whose effects contradict the trace */
};

/* An undo record. */
struct undo_change {
	uint32_t *cell, old;
};
struct change_log {
	struct undo_change *of;
	uint32_t count, room;
};

struct checker {
	const struct trace *t;
	struct check_options options;
	struct facts f;
	/* -- the state */
	uint32_t *taken;           /* by thread: number of its events applied */
	uint32_t *last;            /* by variable: last writer; NONE: as the first `recorded`
	                            * events leave it */
	uint32_t *owner;           /* by object: exclusive holder, or NONE */
	uint32_t *readers;         /* by object: number of shared holders */
	uint32_t *count;           /* by object: count of a semaphore */
	uint32_t *life;            /* by block: enum life */
	uint32_t *waker_too_early; /* by wake (index of f.wakes): its waker came before its wait
	                            */
	uint32_t *busy;            /* by instance: thread in a scope on it, or NONE */
	void **abstract;           /* by instance: the specification's state */
	GArray **invoked;          /* by instance: invocations applied, in order */
	uint32_t prefix;           /* recorded events 0 .. prefix-1 are applied, in order; NONE:
	                            * and others after them */
	uint32_t recorded;         /* as many events were applied as recorded, before others */
	uint32_t verified;         /* the rules allow as many recorded events, in order */
	uint32_t *taken_before;    /* scratch: `taken`, to be put back */
	struct waits *waits;       /* check_stuck.c; NULL until the first such claim */
	bool *lacking; /* by object: the trace lacks operations on it, so that the recorded
	                * pairing counts */
	bool decides;  /* the state decides pairings: a claim of check_stuck.c */
	bool undoing;  /* changes are logged */
	bool by_event; /* also those of `taken`, with which each event's changes begin */
	bool rewinds;  /* a shorter prefix was requested, so its changes are logged */
	struct change_log changes;
};

/* Requirements on an event; claims drop some for their pair. */
struct requirements {
	bool observation, freed, result;
};
#define ALL_REQUIREMENTS ((struct requirements){ true, true, true })

static inline const struct event *at(const struct checker *c, uint32_t e)
{
	return &c->t->events[e];
}

void change_log_grow(struct change_log *log);
static inline void cell_set(struct checker *c, uint32_t *cell, uint32_t value)
{
	if (c->undoing) {
		if (G_UNLIKELY(c->changes.count == c->changes.room))
			change_log_grow(&c->changes);
		c->changes.of[c->changes.count++] = (struct undo_change){ cell, *cell };
	}
	*cell = value;
}

/* Another event of the thread is applied. */
static inline void take_place(struct checker *c, uint32_t thread)
{
	if (c->by_event)
		cell_set(c, &c->taken[thread], c->taken[thread] + 1);
	else
		c->taken[thread]++;
}

/* Is `writer` (NONE: none) the variable's last one, for a read that is not recorded before it?
 * Of the recorded events the read's own last writer is always the last one, if it is among
 * them: no write lies between the two. */
static inline bool last_is(const struct checker *c, uint32_t variable, uint32_t writer)
{
	uint32_t last = c->last[variable];

	return last == writer || (last == NONE && writer < c->recorded);
}

/* With --values a read looks at the last write itself: all are followed. */
static inline bool follows_writes(const struct checker *c)
{
	return c->options.use_values;
}

static inline bool taken(const struct checker *c, uint32_t e)
{
	return c->f.place[e] < c->taken[at(c, e)->thread];
}

static inline uint32_t thread_first(const struct checker *c, uint32_t u)
{
	return c->f.threads[u].count > 0 ? c->f.threads[u].first : NONE;
}

static inline uint32_t thread_last(const struct checker *c, uint32_t u)
{
	return c->f.threads[u].count > 0 ? c->f.threads[u].last : NONE;
}

static inline bool specified(const struct checker *c, uint32_t instance)
{
	const struct semantics *s = c->options.semantics;

	return s != NULL && s->specified != NULL && s->commutes != NULL &&
	       s->specified(s->context, instance);
}

/* Is the pairing of the object's operations decided by the state? */
static inline bool waits_decide(const struct checker *c, uint32_t object)
{
	return c->decides && !c->lacking[object];
}

/* check_state.c: back to the state before the first event. */
void checker_clear(struct checker *c);
/* Undo changes until the log has `length` entries. */
void checker_undo(struct checker *c, uint32_t length);
/* Append "RULE: event 7, T1's write x: 5 at a.c:3 ..." to `reason` (may be NULL); returns
 * false. */
bool check_refuse(const struct checker *c, GString *reason, const char *rule, uint32_t e,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same, with another event between `before` and `after`. */
bool check_refuse_by(const struct checker *c, GString *reason, const char *rule, uint32_t e,
                     const char *before, uint32_t other, const char *after);

/* check_facts.c */
void facts_make(struct checker *c);
/* After facts_make, and the additions of check_missing.c and check_invocations.c. */
void facts_sort(struct checker *c);
void facts_release(struct facts *f);
void facts_need(struct facts *f, uint32_t after, uint32_t before);
/* The events of a thread, facts.threads[thread].count of them. (The first call takes a pass
 * over the trace, and 4 bytes an event.) */
const uint32_t *facts_own(const struct checker *c, uint32_t thread);
/* First entry with this key in a table sorted by its first member. */
guint facts_first(const GArray *table, uint32_t key);
/* Map from index to growing lists of events; facts_list creates on demand. */
GHashTable *facts_lists(void);
GArray *facts_list(GHashTable *lists, uint32_t key);

/* check_missing.c: must-orders of barrier pairs */
void facts_missing(struct checker *c);

/* The events before, of a need. */
static inline const uint32_t *need_events(const struct facts *f, const struct must_need *n,
                                          uint32_t *count)
{
	const GArray *list = n->many ? f->lists->pdata[n->before] : NULL;

	*count = n->many ? list->len : 1;
	return n->many ? (const uint32_t *)(const void *)list->data : &n->before;
}

/* check_rules.c */
/* Must-order alone. */
bool rule_must(const struct checker *c, uint32_t e, GString *reason);
/* Has the object been destroyed, or its block freed, before event `e`, which operates on it? */
bool rule_alive(const struct checker *c, uint32_t e);
/* May the event come now, by all rules except 5? */
bool rules_allow(const struct checker *c, uint32_t e, struct requirements asked,
                 GString *reason);
/* Apply the event without a check. */
void rules_take(struct checker *c, uint32_t e);

/* check_invocations.c: rule 5 */
void facts_invocations(struct checker *c);
/* Rule 5 for an event. Changes the state of the specification: call it last, and once. */
bool rule_invocation(struct checker *c, uint32_t e, bool free_result, GString *reason);
void invocation_take(struct checker *c, uint32_t e);
/* The invocation (ACT or CALL) that takes effect at an ACT or RET. */
uint32_t invocation_of(const struct checker *c, uint32_t e);
/* No invocation may be open, except by thread `spared`. */
bool invocations_closed(const struct checker *c, uint32_t spared, GString *reason);

/* Does the thread hold the object in shared mode? */
bool holds_shared(const struct checker *c, uint32_t thread, uint32_t object);
/* Is the lock requested in exclusive mode? A want has no mode: exclusive is assumed when only
 * readers kept it waiting at the end of the recording, else shared mode, which excludes
 * less. */
bool asks_exclusive(const struct checker *c, uint32_t e);

/* check_steps.c */
/* One step: false and `reason` when a requirement fails, else the event is applied. */
bool checker_step_asked(struct checker *c, uint32_t e, struct requirements asked,
                        GString *reason);
/* Apply a whole sequence. */
bool checker_take_all(struct checker *c, const uint32_t *sequence, size_t length,
                      GString *reason);
/* Applies the sequence as checker_step does; in the end no invocation may be open. */
bool claim_prefix(struct checker *c, const uint32_t *sequence, size_t length, GString *reason);
/* Undo the last events of the prefix, as far as the log goes. */
void checker_rewind(struct checker *c, uint32_t prefix);
/* Apply the recording up to `prefix`. */
bool checker_take_recorded(struct checker *c, uint32_t prefix, GString *reason);

/* check_race.c */
bool claim_conflicts(const struct checker *c, const uint32_t *pair, GString *reason);
bool claim_ends_with(const uint32_t *last_two, const uint32_t *pair);
bool claim_race(struct checker *c, const uint32_t *sequence, size_t length,
                const uint32_t *pair, GString *reason);

/* check_stuck.c */
bool claim_stuck(struct checker *c, const uint32_t *sequence, size_t length,
                 const uint32_t *requests, size_t count, GString *reason);
void waits_free(struct waits *waits); /* may be NULL */

/* check_order.c */
bool claim_cov(struct checker *c, const uint32_t *sequence, size_t length, const uint32_t *pair,
               GString *reason);

/* check_c11.c */
bool claim_c11(struct checker *c, const uint32_t *sequence, size_t length, const uint32_t *pair,
               GString *reason);

#endif
