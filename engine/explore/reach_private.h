/*
 * reach_private.h - a state of the search over states (reach.c), and what synchronisation does
 * in it (reach_sync.c).
 *
 * A state is an array of words: how many events of each thread are done; the last write + 1 of
 * each variable that threads share; the abstract state of each object that is looked at by
 * results; and a bit for each thread in each of enum thread_bit.
 */
#ifndef HEDDLE_REACH_PRIVATE_H
#define HEDDLE_REACH_PRIVATE_H

#include "engine/explore/flips_private.h"
#include "engine/explore/symmetry.h"

/* A run with more is left to the solver: so many states, and so many bytes of them. */
enum { MOST_STATES = 1000000, MOST_STATE_BYTES = 128 << 20 };

struct origin {
	uint32_t state;  /* it came from, NONE: the first */
	uint32_t thread; /* whose event was taken */
	uint32_t woken;  /* the waiter that it woke, or NONE */
};

/* A reversal in a state. */
struct candidate {
	uint32_t event, thread, state, other;
	uint64_t key;     /* the same: the same outcome */
	const char *text; /* as in struct flip */
	enum flip_kind kind;
	enum op op; /* as what the event would be seen; OP_COUNT: as what it is */
};

struct held_section { /* of a lock: held from one step of its thread to another */
	uint32_t acquire, thread;
	uint32_t from, to; /* positions among the thread's events; to: NONE: to the end */
	bool shared;
};

struct reach {
	struct search *x;
	const struct trace *t;
	uint32_t threads, slots, objects;
	uint32_t bits;             /* where the bits begin, in words */
	size_t size;               /* of a state, in words */
	uint8_t *visible;          /* by event */
	uint32_t *slot_of;         /* by variable: NONE where threads do not share it */
	uint32_t *object_slot;     /* by object of the model: its abstract state, or NONE */
	struct symmetry *symmetry; /* where objects are looked at by results, else NULL */
	uint32_t *waits;         /* by event: the wait or arrival in force after it, or NONE */
	uint32_t *counted;       /* by event: the semaphore whose count it reads, or NONE */
	uint32_t *begins, *ends; /* by message of a once-function: its events, or NONE */
	uint8_t *tried;          /* by object: tries, or looks at its count, tell its state */
	GArray *sections;        /* struct held_section, by object */
	uint32_t *sections_of;   /* by object: its first among `sections` */
	GArray *keepers;         /* uint32_t: events that may keep a thread from going on */
	uint64_t end;            /* what the variables of --final hold at the end */
	GArray *states;          /* uint32_t */
	GArray *origins;         /* struct origin */
	uint32_t *known;         /* hash table of states: 0, or one more than its number */
	uint32_t known_mask;
	GHashTable *candidates;  /* what makes them alike -> GArray of struct candidate */
	GArray **rivals;         /* by call: events, or NULL: not looked at yet */
	uint32_t *scratch, *cut;
	uint32_t count;
};

enum thread_bit {
	BIT_WOKEN,    /* it waits for a condition, and a signal has ended that */
	BIT_RELEASED, /* its round of a barrier is complete */
	BIT_SERIAL,   /* and it was the last to arrive */
	BIT_KINDS
};

static inline uint32_t bit_word(const struct reach *r, enum thread_bit bit, uint32_t thread)
{
	return r->bits + (uint32_t)bit * ((r->threads + 31) / 32) + thread / 32;
}
static inline bool bit_of(const struct reach *r, const uint32_t *state, enum thread_bit bit,
                          uint32_t thread)
{
	return state[bit_word(r, bit, thread)] >> thread % 32 & 1;
}
static inline void set_bit(const struct reach *r, uint32_t *state, enum thread_bit bit,
                           uint32_t thread, bool on)
{
	uint32_t *word = &state[bit_word(r, bit, thread)], mask = UINT32_C(1) << thread % 32;
	*word = on ? *word | mask : *word & ~mask;
}

static inline bool is_done(const struct reach *r, const uint32_t *state, uint32_t event)
{
	return r->t->index->position[event] < state[r->t->events[event].thread];
}

/* What an operation does in a state. */
enum answer {
	ANSWER_SAME,  /* it ends as in the run */
	ANSWER_OTHER, /* it ends otherwise */
	ANSWER_WAITS, /* not yet */
};
struct outcome {
	enum answer answer;
	/* Of ANSWER_OTHER: as what it would be seen (history_after_as). */
	enum flip_kind kind;
	enum op op;
	uint64_t seen;
	uint32_t other; /* as in struct flip */
};

static inline const uint32_t *reach_state(const struct reach *r, uint32_t state)
{
	return &g_array_index(r->states, uint32_t, state * r->size);
}

/* reach.c: with the first state, which has number 0; reach_end. */
void reach_begin(struct reach *r, struct search *x);
void reach_end(struct reach *r);
/* May the thread's next event come as in the run?  What comes in its place is noted as a
 * candidate. */
enum answer reach_look_at(struct reach *r, uint32_t state, uint32_t thread);
/* By this answer, and as one of its kind (symmetry.h): may it go on? */
bool reach_may_go(const struct reach *r, uint32_t state, uint32_t thread, enum answer answer);
bool reach_is_premature(const struct reach *r, uint32_t state, uint32_t thread);
/* Notes what may come otherwise than in the run there as candidates.  The threads whose next
 * events may come as in the run: their number, and in `threads`, which has room for all. */
uint32_t reach_look(struct reach *r, uint32_t state, uint32_t *threads);
/* The waiters that the thread's next event, a signal, may wake, one of them; NONE alone: it
 * wakes nobody.  Their number. */
uint32_t reach_waiters(const struct reach *r, uint32_t state, uint32_t thread,
                       uint32_t *waiters);
/* The state after the thread's next event, by number. */
uint32_t reach_add_next(struct reach *r, uint32_t state, uint32_t thread, uint32_t woken);
/* Gives the reversal to the taker. */
void reach_give(struct reach *r, const struct candidate *c);
/* Is the search out of time, or cancelled? */
bool reach_is_stopped(struct reach *r);

/* Fills the tables by event, message and object. */
void sync_prepare(struct reach *r);
void sync_release(struct reach *r);
/* Whether the event's place in the order can be told from that of other threads. */
bool sync_is_visible(const struct reach *r, uint32_t event);
/* Has everything come that must come before? */
bool sync_must_hold(const struct reach *r, const uint32_t *state, uint32_t event);
/* The event's outcome in a state in which its thread stands before it; of accesses that of
 * their must-orders alone. */
struct outcome sync_outcome(const struct reach *r, const uint32_t *state, uint32_t event);
/* What it changes but its thread's place.  `woken`: the waiter that a signal wakes, NONE: none
 * waits. */
void sync_take(const struct reach *r, uint32_t *state, uint32_t event, uint32_t woken);
/* May a signal of this state wake `thread`? */
bool sync_may_wake(const struct reach *r, const uint32_t *state, uint32_t signal,
                   uint32_t thread);
/* The wait or arrival that the thread is in, or NONE. */
uint32_t sync_waits(const struct reach *r, const uint32_t *state, uint32_t thread);
/* What a look at a semaphore's count sees, as a number. */
uint64_t sync_sees_count(const struct reach *r, const uint32_t *state, uint32_t event);
/* Some of the run's operations have outcomes that only the search over states knows. */
bool sync_has_outcomes(const struct trace *t);

#endif
