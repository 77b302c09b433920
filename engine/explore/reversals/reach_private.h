/*
 * reach_private.h - the search over states: the states (reach_states.c), synchronisation
 * in them (reach_sync.c), and the reversals found in them (reach.c and others).
 *
 * A state is an array of words: the number of done events of each thread; of each shared
 * variable the last write + 1, or the place of its value + 1 where it is a counter
 * (`counters`), 0: initial; the abstract state of each object viewed by results; a bit for
 * each thread for each enum thread_bit; and the state of each channel.
 */
#ifndef HEDDLE_REACH_PRIVATE_H
#define HEDDLE_REACH_PRIVATE_H

#include "engine/explore/awaits/pasts.h"
#include "engine/explore/reversals/reversals_private.h"
#include "engine/explore/objects/symmetry.h"
#include "engine/trace/lock_sections.h"
#include "engine/trace/state_rules.h"

/* Bounds of the search over states; a run beyond them is left to the solver. */
enum { MOST_STATES = 1000000, MOST_STATE_BYTES = 128 << 20 };

struct origin {
	uint32_t state;  /* predecessor; NONE: the first */
	uint32_t thread; /* the thread that took a step */
	uint32_t woken;  /* the waiter it woke, or NONE */
};

/* A reversal in a state. */
struct candidate {
	uint32_t event, thread, state, other;
	uint64_t key;     /* identity of the outcome */
	const char *text; /* as in struct reversal */
	enum reversal_kind kind;
	enum op op; /* the operation if it differs, else OP_COUNT */
};

/* Two threads stand before conflicting accesses in a state. */
struct reach_race {
	uint32_t first, second, state;
};

struct counter {
	bool is, begins_known;
	uint64_t begins; /* its value at the beginning of the run */
};

/* A detour of a thread, by its first and last addition. */
struct reach_detour {
	struct detour detour;
	uint32_t thread, first, last;
};

struct reach {
	struct search *x;
	const struct trace *t;
	uint32_t threads, slots, objects;
	uint32_t bits;     /* first word of the bits */
	uint32_t looked;   /* first word of those of detours (reach_detours.c) */
	uint32_t channels; /* first word of the states of channels (runs/channel_steps.h) */
	GArray *detours;   /* struct reach_detour */
	size_t size;       /* of a state, in words */
	uint8_t *visible;  /* by event */
	bool *left; /* by event: its outcome in the run ends a round in vain or a longer past */
	uint32_t *slot_of; /* by variable: NONE where threads do not share it */
	/* By variable: a counter, to which additions are made whose result the code does not
	 * use. Its value depends on which were made, not on the last one. NULL: there are none.
	 */
	struct counter *counters;
	GArray *values;            /* uint64_t: of counters, in states */
	GHashTable *valued;        /* uint64_t -> its place in `values` + 1 */
	GHashTable *texts;         /* char *: values in words; or NULL */
	uint32_t *object_slot;     /* by object of the model: its abstract state, or NONE */
	struct symmetry *symmetry; /* if objects are viewed by results, else NULL */
	uint32_t *waits;   /* by event: the wait or arrival in force after it, or NONE */
	GArray *receipts;  /* uint32_t: receipts of signals whose handler may run anywhere */
	uint32_t *last_of; /* by thread: the event of its end, for signals; or NONE */
	GArray *spurious;  /* uint32_t: the run's spurious wake-ups */
	uint32_t *counted; /* by event: the semaphore, or the futex's sleepers, whose
	                    * number it reads; or NONE */
	uint32_t *must;    /* by event: start of its must-edges in `edges` */
	GArray *edges;     /* struct must_edge */
	uint32_t *begins, *ends; /* by message of a once-function: its events, or NONE */
	uint8_t *tried;          /* by object: its state is observed by tries, or by reads of
	                          * its count */
	struct lock_sections sections;
	GArray *keepers; /* uint32_t: events that may keep a thread from continuing */
	uint64_t end;    /* the values of the variables of --final at the end */
	GArray *states;  /* uint32_t */
	GArray *origins; /* struct origin */
	uint32_t *known; /* hash table of states: 0, or one more than its number */
	uint32_t known_mask;
	GHashTable *candidates; /* key of equal candidates -> GArray of struct candidate */
	GArray **rivals;        /* by call: events, or NULL: not computed yet */
	GArray *races;          /* struct reach_race: of each pair of sites the first found */
	GArray *early;      /* uint32_t: of each of limits->early the first state, or NONE */
	GHashTable *raced;  /* uint64_t: these pairs of sites */
	uint32_t *accesses; /* scratch, by thread */
	uint32_t *scratch;
	struct thread_prefix *looks; /* of a state in which no thread continues but by looks */
	uint32_t *writers; /* for the present read: the writer of each of its variables */
	uint32_t count;
	bool *barred; /* by thread: running it now would exceed the bound on preemptions
	               * (reach_bound.c) */
};

enum thread_bit {
	BIT_WOKEN,    /* its wait for a condition was ended by a signal */
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

/* The result of an operation in a state. */
struct outcome {
	enum answer answer;
	/* For ANSWER_OTHER: the outcome (history_after_as). */
	enum reversal_kind kind;
	enum op op;
	uint64_t seen;
	uint32_t other; /* as in struct reversal */
};

static inline const uint32_t *reach_state(const struct reach *r, uint32_t state)
{
	return &g_array_index(r->states, uint32_t, state * r->size);
}

/* -- states (reach_states.c) --------------------------------------------------------------- */

/* Lays out the states, finds the visible events, and adds the initial state, number 0. */
void states_begin(struct reach *r);
/* The thread's next event in a state, or NONE. */
uint32_t reach_next(const struct reach *r, const uint32_t *state, uint32_t thread);
/* Can the event's thread have begun, so that it may stand before the event? */
bool reach_has_begun(const struct reach *r, const uint32_t *state, uint32_t event);
/* Has the thread begun, and steps left? */
bool reach_stands(const struct reach *r, uint32_t state, uint32_t thread);
/* The event of a variable's last write in a state, or NONE. */
uint32_t reach_last_write(const struct reach *r, const uint32_t *state, uint32_t variable);
/* The number of the value that a read sees in a state. *other: a write that it did not see in
 * the run, or NONE. */
uint64_t reach_sees(const struct reach *r, const uint32_t *state, uint32_t read,
                    uint32_t *other);
bool reach_sees_the_same(const struct reach *r, const uint32_t *state, uint32_t read);
/* The end of life of the event's object, if their order differs from the run; else NONE. */
uint32_t reach_turned_end(const struct reach *r, const uint32_t *state, uint32_t event);
/* A call in a state, of an object viewed by results; else NULL. */
const struct abstract_step *reach_call_step(const struct reach *r, const uint32_t *state,
                                            const struct view_call *call);
/* Would the event, with its outcome in the run, end a detour that nobody has seen? */
bool reach_leaves_as_in_run(const struct reach *r, const uint32_t *state, uint32_t event);
/* Has the event, as its thread's next, the outcome that it has in the run? */
bool reach_comes_as_in_run(const struct reach *r, const uint32_t *state, uint32_t event);
/* And is it not the end of the program? */
bool reach_may_come(const struct reach *r, const uint32_t *state, uint32_t event);
/* The number of the state after the thread's next event. */
uint32_t reach_add_next(struct reach *r, uint32_t state, uint32_t thread, uint32_t woken);
/* Appends the events of a path, struct origin with the last first. */
void reach_sequence(const struct reach *r, const GArray *way, GArray *sequence);
/* Sets `sequence` to the events that lead to a state. */
void reach_sequence_to(const struct reach *r, uint32_t state, GArray *sequence);

/* -- candidates (reach_candidates.c) --------------------------------------------------------- */

/* Is it a reversal at the end of a run, where no thread continues? */
bool reach_is_end(enum reversal_kind kind);
void reach_add_candidate(struct reach *r, struct candidate candidate);
/* Adds the other places of the thread's handlers of signals that it may run next; true when it
 * may run one, or go on without one that the run has next. */
bool reach_look_at_handlers(struct reach *r, uint32_t state, uint32_t thread);
/* Adds the spurious end of a wait; without it the thread goes on waiting. `wake`: the wait's
 * end in the run, or NONE. */
void reach_look_at_wait(struct reach *r, uint32_t state, uint32_t wait, uint32_t wake);

/* -- ends of runs (reach_ends.c) ------------------------------------------------------------- */

/* Adds a candidate that is no other outcome of an event; `other`, `key`: as in the candidate.
 */
void ends_add(struct reach *r, uint32_t state, uint32_t thread, uint32_t other,
              enum reversal_kind kind, uint64_t key);
/* May a thread that has done all its recorded steps without ending continue here? */
enum answer ends_look_at_going(struct reach *r, uint32_t state, uint32_t thread);
/* Values of the variables of --final in a state (NULL: at the end of the run), as a number. */
uint64_t ends_values(const struct reach *r, const uint32_t *state);
/* Adds other values of --final, when all threads have ended. */
void ends_look_at_values(struct reach *r, uint32_t state);
/* The number of the class of a run that ends here. */
uint64_t ends_class(const struct reach *r, const uint32_t *state);
/* Does the thread stand before a look that may be without effect, by the answer of
 * reach_look_at? *prefix: the number of its history with the look's outcome here; 0: not
 * known. */
bool ends_is_before_look(const struct reach *r, uint32_t state, uint32_t thread,
                         enum answer answer, uint64_t *prefix);
/* The identity of a state in which no thread continues but by looks: the class of a run that
 * ends there, and what the looks see, which the class does not say. */
uint64_t ends_idle_key(const struct reach *r, uint32_t state, const struct thread_prefix *looks,
                       uint32_t count);

/* -- reversals in states (reach.c) ----------------------------------------------------------- */

/* Begins with the initial state; reach_end. */
void reach_begin(struct reach *r, struct search *x);
void reach_end(struct reach *r);
/* Can the thread's next event come as in the run? Another outcome is added as a candidate. */
enum answer reach_look_at(struct reach *r, uint32_t state, uint32_t thread);
/* Can the thread's next event come as in the run? */
bool reach_can_go(const struct reach *r, uint32_t state, uint32_t thread);
/* May the thread continue by this answer, and among equivalent threads (symmetry.h)? */
bool reach_may_go(const struct reach *r, uint32_t state, uint32_t thread, enum answer answer);
/* Does the thread's next acquire begin a section in which a read has another outcome than in
 * the run? Checks the first read of each variable in the section. */
bool reach_is_premature(const struct reach *r, uint32_t state, uint32_t thread);
/* Add other outcomes of next events as candidates. Returns the number of threads whose next
 * event may come as in the run, listed in `threads`. */
uint32_t reach_look(struct reach *r, uint32_t state, uint32_t *threads);
/* Waiters that the thread's next event, a signal, may wake; a single NONE: nothing to wake.
 * Returns their number. */
uint32_t reach_waiters(const struct reach *r, uint32_t state, uint32_t thread,
                       uint32_t *waiters);
/* Passes the reversal to the taker. */
void reach_give(struct reach *r, const struct candidate *c);
/* Is the search out of time, or cancelled? */
bool reach_is_stopped(struct reach *r);

/* -- other looks at states -------------------------------------------------------------------- */

/* reach_races.c: notes the pairs of threads that stand before conflicting accesses. */
void reach_look_at_races(struct reach *r, uint32_t state);
/* Pass these to the taker. */
void reach_give_races(struct reach *r);
/* reach_early.c: notes the early uses that may come next. */
void reach_look_at_early(struct reach *r, uint32_t state);
/* Pass these to the taker. */
void reach_give_early(struct reach *r);
/* reach_observed.c: does every observation of another thread, in each schedule of the run's
 * class, order by happens-before what it depends on? */
bool reach_is_synchronised(const struct reach *r);
/* reach_bound.c: visit all states within the limits' bound on preemptions; false when these are
 * more than `most`, or the search was stopped. */
bool reach_bounded(struct reach *r, uint32_t most);

/* -- synchronisation (reach_sync.c) ----------------------------------------------------------- */

/* reach_counters.c: find those of the run. */
void counters_find(struct reach *r);
void counters_release(struct reach *r);
/* Keeps the text, once, as long as `r`; NULL stays NULL. */
const char *reach_keep_text(struct reach *r, char *text);
/* The counter that the event accesses, as its variable; NONE: it accesses none. */
uint32_t counters_of(const struct reach *r, uint32_t event);
/* A counter's value in a state; false: it is not known. */
bool counters_value(const struct reach *r, const uint32_t *state, uint32_t counter,
                    uint64_t *value);
/* The event writes a counter. */
void counters_take(const struct reach *r, uint32_t *state, uint32_t event, uint32_t counter);
/* The number of the value that the read of a counter sees in a state. */
uint64_t counters_see(const struct reach *r, const uint32_t *state, uint32_t event,
                      uint32_t counter);
/* The value that a read of a counter sees, in words, owned by `r`; NULL: it reads none. */
const char *counters_text(struct reach *r, const uint32_t *state, uint32_t event);

/* reach_detours.c: find those of the run. */
void detours_find(struct reach *r);
/* The state changes by an event, whose thread has not moved on yet. */
void detours_take(const struct reach *r, uint32_t *state, uint32_t event);
/* Would the thread, with this outcome of its next event (the number of its history), have made
 * a detour at which no other thread looked? */
bool detours_end(const struct reach *r, const uint32_t *state, uint32_t event, uint64_t prefix);

/* Make the tables by event, message and object. */
void sync_prepare(struct reach *r);
void sync_release(struct reach *r);
/* Can other threads observe when the event happens? */
bool sync_is_visible(const struct reach *r, uint32_t event);
/* Have all events required before it happened? */
bool sync_must_hold(const struct reach *r, const uint32_t *state, uint32_t event);
/* The event's outcome when its thread is before it; for accesses only by must-orders. */
struct outcome sync_outcome(const struct reach *r, const uint32_t *state, uint32_t event);
/* Change the state, except the thread's position. `woken`: the waiter woken by a signal, or
 * NONE. */
void sync_take(const struct reach *r, uint32_t *state, uint32_t event, uint32_t woken);
/* Can a signal in this state wake `thread`? */
bool sync_may_wake(const struct reach *r, const uint32_t *state, uint32_t signal,
                   uint32_t thread);
/* May the wait end without a signal though it has no time limit, within the bound on spurious
 * wake-ups? */
bool sync_may_end_early(const struct reach *r, const uint32_t *state, uint32_t wait);
/* Is the event a wake-up that no signal and no time limit caused? (Needs INDEX_MATCH.) */
bool sync_is_spurious(const struct trace *t, uint32_t event);
/* Does the thread wait at the event, which is next, though it has a limit in time? */
bool sync_waits_in_time(const struct reach *r, const uint32_t *state, uint32_t event);
/* The wait or arrival that the thread is in, or NONE. */
uint32_t sync_waits(const struct reach *r, const uint32_t *state, uint32_t thread);
/* Is the event a look at a semaphore's count? */
bool sync_is_count(const struct reach *r, uint32_t event);
/* The number of the value seen by a read of a semaphore's count. */
uint64_t sync_sees_count(const struct reach *r, const uint32_t *state, uint32_t event);
/* Does the run have operations whose outcomes only the search over states considers? */
bool sync_has_outcomes(const struct trace *t);

#endif
