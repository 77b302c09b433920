/*
 * awaits.h - loops that wait by looking, as one step: "looked until it was so".
 *
 * A round without effect (memory/rounds.h: the thread is in the same state again, and has
 * changed nothing) is left out of a run's view, so that runs which differ by the number of
 * looks are of one class. The value that an access must see for such a round is kept, so that
 * no other run is made for it. Where a schedule begins a round that its run then leaves by
 * looking again, that beginning alone is kept, as others may leave the loop from there.
 *
 * A round may have whole critical sections: it begins with an acquire, and leaves memory and
 * locks as they were. A schedule without it is one of the program's if no other thread saw that
 * a lock was held, which only a try does (docs/waiting-loops.md, "Failed tries that tell").
 * After the last look a round must not wait for a lock: that look decides that the round has no
 * effect, and a schedule in which a thread waits in it for ever has all looks before.
 */
#ifndef HEDDLE_AWAITS_H
#define HEDDLE_AWAITS_H

#include "engine/explore/worklist.h"
#include "engine/record/plan_run.h"

/* A round: the steps of a thread from one event up to another. */
struct await_round {
	uint32_t thread, first, next; /* events */
	uint32_t last;  /* its last event that may see another value: the steps after it do not
	                 * depend on other threads */
	uint32_t looks; /* number of such events */
};

/* The rounds of one run. */
struct await_rounds {
	uint64_t *states; /* by event: the thread's state before it; 0: unknown */
	GArray *list;     /* struct await_round: inner ones before those around them */
	bool *in_vain;    /* by event */
	bool *several;    /* by variable: do several threads access it, in some run? */
	bool *constant; /* by variable: is it never written while there are several threads? */
	GArray *constants; /* uint32_t: reads of the latter that count as no looks */
	bool idle; /* the run ended because all threads waited, some by looking, whose last
	            * rounds are steps */
};
/* What is known of a run's memory from all runs. A round may read and write its thread's stack,
 * where no other thread uses it, and read what is constant, and neither is a look. */
struct await_memory {
	bool *several, *constant; /* by variable: as in struct await_rounds; owned */
	/* Variables, or NONE: on a stack, used by several threads, first in this run; written
	 * while there are several threads, though earlier rounds took it to be constant. */
	uint32_t new_on_stack, new_written;
};
/* Of this run alone. */
void await_memory_init(struct await_memory *m, const struct trace *t);
/* Finds the rounds of a run from which none is left out, outside of its scopes (NULL: none);
 * with those that have `sections`? Takes ownership of what `memory` owns. await_rounds_release.
 */
void await_rounds_find(struct await_rounds *rounds, const struct plan_run *run,
                       const struct scopes *scopes, const bool *sections,
                       const struct await_memory *memory);
void await_rounds_release(struct await_rounds *rounds);

/* Does the event change nothing but the thread's own value: neither memory nor the thread's
 * next steps? */
bool await_rounds_unchanging(const struct await_rounds *rounds, const struct trace *t,
                             uint32_t event);
/* May the event see another value in another run? */
bool await_rounds_looks(const struct await_rounds *rounds, const struct trace *t,
                        uint32_t event);

/* Did the run end because all threads wait for ever, some in rounds without effect? False
 * when the runtime says so, but a thread changes memory meanwhile. */
bool await_rounds_judge(const struct await_rounds *rounds, const struct plan_run *run);

/* For an idle run: the number of its class without the threads that look for ever. */
uint64_t await_rounds_class(const struct await_rounds *rounds, const struct plan_run *run,
                            const struct history *h);

/* Knowledge from all runs. */
struct awaits;
struct awaits *awaits_new(void);
void awaits_free(struct awaits *a);
/* Forgets all but what is known of memory; the pointer is valid no more. */
struct awaits *awaits_anew(struct awaits *a);
/* How much is known. */
struct awaits_size {
	uint32_t prefixes, within, looks, begins, sections, wide, tried, any, stacks, written,
	        relied, by_all, otherwise;
};
struct awaits_size awaits_size(const struct awaits *a);
/* Writes the entries beyond `from`, or adds those that are read. */
void awaits_archive(struct awaits *a, struct awaits_size from, struct archive *archive);
/* Adds the other's entries, or only those of memory. */
void awaits_adopt(struct awaits *a, const struct awaits *other);
void awaits_adopt_memory(struct awaits *a, const struct awaits *other);
/* Learns how a run uses memory, and fills `m`. */
void awaits_see_memory(struct awaits *a, const struct history *h, struct await_memory *m);
/* Is memory written that rounds took to be constant? */
bool awaits_constants_change(const struct awaits *a);
/* Learns from the rounds of a run, whose history without them is `reduced`, and with them
 * `raw`. */
void awaits_learn(struct awaits *a, const struct await_rounds *rounds,
                  const struct history *reduced, const struct history *raw);
/* Does a thread whose history has this number stand within a round without effect, after a
 * step of it, in a known run? */
bool awaits_within(const struct awaits *a, uint64_t prefix);
/* If the event sees that value, does its thread end a round without effect? `states`: of the
 * run, see above. */
bool awaits_in_vain(const struct awaits *a, const uint64_t *states, const struct history *h,
                    uint32_t event, uint64_t seen);
/* The same of a try that fails, as operation `op`. */
bool awaits_fails_in_vain(const struct awaits *a, const uint64_t *states,
                          const struct history *h, uint32_t event, enum op op);

/* Is this acquire known to begin a round without effect? */
bool awaits_begins(const struct awaits *a, const uint64_t *states, const struct history *h,
                   uint32_t event);
/* The number of a lock, equal in all runs. */
uint64_t awaits_lock(const struct history *h, uint32_t object);
/* Learn of which locks a try fails that is not the last look of a round without effect: what
 * its thread does next may depend on that failure, and so on a round that takes the lock.
 * After awaits_learn. */
void awaits_see_tries(struct awaits *a, const struct await_rounds *rounds,
                      const struct history *reduced);
/* Learn which locks std::lock takes in the run, each round of it from the first one on, and
 * which are tried otherwise: of the facts of a run. */
void awaits_see_taken(struct awaits *a, const struct history *h, const GArray *taken);
/* Are both said of some lock? */
bool awaits_all_are_tried(const struct awaits *a);
/* Does a known run have such a try of the lock? */
bool awaits_are_tried(const struct awaits *a, uint64_t lock);
/* Was a round left out of a run that may be seen by such a try; or, if it is wide, by any try?
 */
bool awaits_are_seen(const struct awaits *a, uint64_t lock);
/* The same of any lock. */
bool awaits_any_seen(const struct awaits *a);

/* The first steps of threads that a schedule asked for, within rounds of its run: by event,
 * is it left out otherwise (owned); and by thread, in `stops`, the look after which the round
 * has no effect, NONE: none. NULL: the run has no such rounds. `raw`: with all rounds. */
bool *awaits_kept(const struct await_rounds *rounds, const struct history *raw,
                  const struct pending *s, uint32_t *stops);

#endif
