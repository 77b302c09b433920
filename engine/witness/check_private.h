/*
 * check_private.h - the parts of the checker among themselves: the facts of the trace
 * (check_facts.c, and check_missing.c for code that was not recorded), what an event asks
 * (check_rules.c: rules 1 to 4 and 6; check_invocations.c: rule 5), and what a sequence
 * claims (check.c; check_c11.c for races that only C11 shows).
 *
 * The facts are made once, in linear passes; the rest of struct checker is the state that the
 * events taken so far have led to.  Every change of it goes through cell_set, so that a tail
 * can be tried and taken back.  Includes the event model and nothing else of the engine.
 */
#ifndef HEDDLE_CHECK_PRIVATE_H
#define HEDDLE_CHECK_PRIVATE_H

#include "engine/witness/check.h"

/* A must-order: `before` has to be taken before `after`. */
struct need {
	uint32_t after, before;
};

/* "wait before its waker", which holds only where the wake is in. */
struct wake {
	uint32_t waker, wait, wake;
};

/* A failed try needs some other thread to hold the lock: where it was held exclusively in the
 * trace, so again (it may have been a try to share it), beside readers anyhow. */
enum tried { TRIED_EXCLUSIVE = 1, TRIED_ANY, TRIED_DESTROYED };

struct facts {
	uint32_t *place;   /* by event: its index in its thread */
	uint32_t *start;   /* by thread: where its events begin in `own`; one more at the end */
	uint32_t *own;     /* events, thread by thread */
	GArray *needs;     /* struct need, by `after` */
	GArray *wakes;     /* struct wake, by `waker` */
	GHashTable *woken; /* wake -> 1 + its index in wakes */
	uint64_t *blocked; /* a bit for each event that has something to look up in needs */
	uint32_t *writer;  /* by event: what a read of one variable read; by wide read: index */
	GArray *wide;      /* uint32_t: writers of the variables of wide reads */
	uint32_t *initial; /* by variable: value of its initial content where a read tells it */
	GHashTable *tried; /* tryfail -> enum tried: what has to hold the lock; or, where it had
	                    * been destroyed and not taken again, TRIED_DESTROYED + that event */
	GHashTable *empty;   /* set of taketryfail that saw no count in the trace */
	uint32_t *destroy;   /* by event: the destroy that ends its object's life; or NULL */
	uint32_t *stack_of;  /* by block: the thread whose stack it is, or NONE */
	/* specified objects (rule 5) */
	uint32_t *scope;      /* by event: the call of the outermost specified scope it is in */
	uint32_t *lock_owner; /* by object: instance in whose scopes alone it is used */
	uint64_t *unreliable; /* a bit for each instance whose effects contradict the trace */
};

struct change { /* for taking back */
	uint32_t *cell, old;
};
struct change_log {
	struct change *of;
	uint32_t count, room;
};

struct checker {
	const struct trace *t;
	struct check_options options;
	struct facts f;
	/* the state */
	uint32_t *taken;   /* by thread: how many of its events */
	uint32_t *last;    /* by variable: last writer, or NONE */
	uint32_t *owner;   /* by object: the thread that holds it exclusively, or NONE */
	uint32_t *readers; /* by object: how many hold it shared */
	uint32_t *count;   /* by object: of a semaphore */
	uint32_t *spoiled; /* by wake (index of f.wakes): its waker came before its wait */
	uint32_t *busy;    /* by instance: thread inside of a scope on it, or NONE */
	void **abstract;   /* by instance: the specification's state */
	GArray **invoked;  /* by instance: invocations taken, in order */
	uint32_t prefix;   /* the recorded events 0 .. prefix-1 are taken in their order */
	bool undoing;      /* changes are logged */
	bool rewinds; /* the prefix has been asked to become shorter: its changes are logged */
	struct change_log changes;
};

/* Of what an event asks, the claims leave some out for their pair. */
struct asked {
	bool observation, freed, result;
};
#define EVERYTHING ((struct asked){ true, true, true })

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
		c->changes.of[c->changes.count++] = (struct change){ cell, *cell };
	}
	*cell = value;
}

static inline bool taken(const struct checker *c, uint32_t e)
{
	return c->f.place[e] < c->taken[at(c, e)->thread];
}

static inline uint32_t thread_first(const struct checker *c, uint32_t u)
{
	return c->f.start[u] < c->f.start[u + 1] ? c->f.own[c->f.start[u]] : NONE;
}

static inline uint32_t thread_last(const struct checker *c, uint32_t u)
{
	return c->f.start[u] < c->f.start[u + 1] ? c->f.own[c->f.start[u + 1] - 1] : NONE;
}

static inline bool specified(const struct checker *c, uint32_t instance)
{
	const struct semantics *s = c->options.semantics;

	return s != NULL && s->specified != NULL && s->commutes != NULL &&
	       s->specified(s->context, instance);
}

/* Append why an event is refused, "RULE: event E OPERATION ...", and return false.  `reason`
 * may be NULL. */
bool check_refuse(const struct checker *c, GString *reason, const char *rule, uint32_t e,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* check_facts.c */
void facts_make(struct checker *c);
void facts_release(struct facts *f);
void facts_need(struct facts *f, uint32_t after, uint32_t before);
/* The first of the entries of a table sorted by its first member that has this key. */
guint facts_first(const GArray *table, uint32_t key);
/* Growing arrays of events by an index: the lists, and one of them, made where it is not there.
 */
GHashTable *facts_lists(void);
GArray *facts_list(GHashTable *lists, uint32_t key);

/* check_missing.c: the must-orders of barrier pairs */
void facts_missing(struct checker *c);

/* check_rules.c */
/* The must-order, alone. */
bool rule_must(const struct checker *c, uint32_t e, GString *reason);
/* May the event come now, by all rules but the fifth? */
bool rules_allow(const struct checker *c, uint32_t e, struct asked asked, GString *reason);
/* Take it, whatever the rules say. */
void rules_take(struct checker *c, uint32_t e);

/* check_invocations.c: rule 5 */
void facts_invocations(struct checker *c);
/* Moves the specification's state on: to be asked last, and once. */
bool rule_invocation(struct checker *c, uint32_t e, bool free_result, GString *reason);
void invocation_take(struct checker *c, uint32_t e);
/* The invocation (ACT or CALL) that takes effect at an ACT or RET. */
uint32_t invocation_of(const struct checker *c, uint32_t e);
/* Scopes on specified objects are in whole or not at all; `spared`: but this thread's. */
bool invocations_closed(const struct checker *c, uint32_t spared, GString *reason);

/* check.c */
bool claim_conflicts(const struct checker *c, const uint32_t *pair, GString *reason);
bool claim_ends_with(const uint32_t *last_two, const uint32_t *pair);
bool claim_prefix(struct checker *c, const uint32_t *sequence, size_t length, GString *reason);
/* One step: false and `reason` when the event breaks a rule of those asked, else it is taken. */
bool checker_step_asked(struct checker *c, uint32_t e, struct asked asked, GString *reason);

/* check_order.c */
bool claim_cov(struct checker *c, const uint32_t *sequence, size_t length, const uint32_t *pair,
               GString *reason);

/* check_c11.c */
bool claim_c11(struct checker *c, const uint32_t *sequence, size_t length, const uint32_t *pair,
               GString *reason);

#endif
