/*
 * memory.h - runs under a memory model beyond sequential consistency (rt.memory), in controlled
 * mode: under TSO stores wait in buffers (buffers.c), under RC11 atomic loads see older stores
 * and atomic stores take earlier places in modification order (stores.c, views.c, order.c).
 *
 * How one enters.  The hook of a plain access calls memory_before, then writes its record,
 * which ends in memory_logged; the hooks of atomics (core/atomics.c) call memory_load,
 * memory_store, memory_update, memory_fence in place of the operation and its record; an event
 * of synchronisation (log_event) calls memory_event, and an interposed function memory_call.
 * The scheduler calls memory_view when the token goes to another thread, and memory_end at a
 * thread's end.
 *
 * Guarantees: with rt.memory LOG_SC none of these is called, at the cost of one
 * branch. All of it is under the token.  Chance is the run's own (next_random), so one seed is
 * one run; a plan says what is chosen (log_step.reads, .after, steps FLUSH), and in an
 * exploration what follows the plan is sequentially consistent.
 *
 * Not modelled, and sequentially consistent: atomics of 16 bytes, atomics of which some bytes
 * are accessed in another size or by plain accesses that happen in no order with them (a note
 * says so), more than WEAK_THREADS threads; under TSO, stores to the thread's own stack arrive
 * before another thread looks there, and stores of code that is not instrumented arrive at
 * once.
 */
#ifndef HEDDLE_RUNTIME_MEMORY_H
#define HEDDLE_RUNTIME_MEMORY_H

#include "engine/record/runtime/core/base.h"

struct buffer;
struct views;
enum { STATES = 8 };
struct thread_memory {
	struct buffer *buffer; /* TSO: its stores that have not arrived, or NULL: none so far */
	struct views *views;   /* RC11 */
	bool buffers;          /* the next record is of a store that waits */
	bool again;            /* the next event synchronises nothing */
	uintptr_t stack;       /* the end of its frames on its stack; 0: not known */
	uint64_t specific;     /* digest of its thread-specific data */
	uint64_t states[STATES];
	/* consecutive atomic accesses in one of the last states, since other threads changed
	 * memory */
	unsigned looks;
	uint64_t changes;      /* poll_changes at the first of these */
	bool section;          /* the next event enters or leaves a section, whose acquire has a
	                        * state */
	unsigned held;         /* number of locks taken with states */
	unsigned least;        /* the least number of them at one of these looks */
	const uint64_t *wrote; /* the end of its last plain write's record at that time */
	uintptr_t looked, pc;  /* the last look: its place and code */
	/* the last try that failed at one of these looks, NULL: none; for what it is tried */
	const volatile void *failed;
	enum log_wait failed_for;
};

/* Operations of an update. */
enum update {
	UPDATE_EXCHANGE,
	UPDATE_ADD,
	UPDATE_SUB,
	UPDATE_AND,
	UPDATE_OR,
	UPDATE_XOR,
	UPDATE_NAND
};

void memory_init(void);
/* Before a plain access of `t`: other threads' stores may arrive. */
void memory_before(struct thread *t, enum log_tag tag, const void *p, size_t size);
/* The record of a write or read was written, its event counted. */
void memory_logged(struct thread *t, enum log_tag tag, unsigned order, const void *p,
                   size_t size);
/* An event of another kind than an access comes. */
void memory_event(struct thread *t, enum log_tag tag, uintptr_t object);
/* The next event, of a recursive mutex that `t` has anyway, synchronises nothing. */
void memory_again(struct thread *t);
/* A block ends, or memory is unmapped: `size` bytes. */
void memory_gone(struct thread *t, uintptr_t address, size_t size);
/* `t` enters a call in which others cannot see the stores that wait: they arrive. */
void memory_call(struct thread *t);
/* `t` may be about to synchronise. Where the arrivals are chosen at random, its stores
 * arrive, and other threads may run between two of them. */
void memory_point(struct thread *t);
void memory_end(struct thread *t);
void memory_left(struct thread *t); /* it runs on without the token: its stores arrive */
void memory_fence(struct thread *t, unsigned order);

/* Atomics of 1 << code bytes, code < 4; orders as in enum memory_order_kind.  With their
 * records. */
uint64_t memory_load(struct thread *t, const volatile void *p, unsigned code, unsigned order,
                     uintptr_t pc);
void memory_store(struct thread *t, volatile void *p, unsigned code, uint64_t value,
                  unsigned order, uintptr_t pc);
/* Returns the value before; *made: the value after. */
uint64_t memory_update(struct thread *t, volatile void *p, unsigned code, enum update how,
                       uint64_t value, unsigned order, uintptr_t pc, uint64_t *made);
/* Leaves the value that it saw in *expected. */
bool memory_compare(struct thread *t, volatile void *p, unsigned code, uint64_t *expected,
                    uint64_t value, unsigned order, unsigned failure, uintptr_t pc);
void memory_wide(struct thread *t); /* one of 16 bytes comes */

/* The state of the thread's next event, for exploration (LOG_STATE); 0: none. */
void memory_tell(struct thread *t, uint64_t what);
extern bool memory_states __attribute__((visibility("hidden"))); /* is it wanted? */
/* state.c: the record STATE of the atomic access that comes; its place, order and operands. */
/* Does the thread only look, repeatedly? */
bool memory_waits(const struct thread *t);
/* Does it hold a lock that it did not hold at all of its looks since the last change? */
bool memory_looks_within(const struct thread *t);
/* It looks once more as often before it is said to wait. */
void memory_looks_again(struct thread *t);
/* Does it look in vain, while all threads have changed only plain memory? */
bool memory_waits_on(const struct thread *t);
void memory_state(struct thread *t, const volatile void *p, unsigned order, uint64_t operand,
                  uint64_t expected);
/* The record STATE of the next acquire, of a lock that the program's call of an ENTRY has
 * taken; and the release of one. */
void memory_acquires(struct thread *t, const volatile void *lock, bool exclusive);
void memory_releases(struct thread *t);
/* The same of a try that comes, of a lock of the kind for which FOR_... waits; `taken`: it has
 * succeeded. `seen`: the thread's own memory
 * that it changes when it fails. */
void memory_tries(struct thread *t, const volatile void *lock, enum log_wait as, uint64_t seen,
                  bool taken);
/* `t` has written plain memory since its last look: values that others have seen may have
 * changed. */
void memory_wrote(struct thread *t);
void memory_program(uintptr_t bias); /* of the program's own file */
/* A module of the process, but for the runtime, and where its thread-local variables are:
 * how far below the thread pointer, and their bytes (0: none). */
void memory_module(const char *path, uintptr_t below, size_t bytes);

/* `next` gets the token (NULL: no thread does): makes memory as that thread sees it. Under
 * lock. */
void memory_view(struct thread *next);
/* Executes a step FLUSH of the plan: false when the buffer is empty. */
bool memory_arrive(struct thread *t);

/* ---- between the files ---- */
enum { WEAK_THREADS = 64 };
void memory_note(const char *what); /* once each: accesses left sequentially consistent */
/* Draws: true once in 1 << shift times. */
bool memory_chance(unsigned shift);
bool memory_chooses(void); /* may chance choose, or is everything sequentially consistent? */
void *memory_new(size_t bytes); /* zeroed, never given back */

/* buffers.c */
void buffers_drain(struct thread *t);
void buffers_leave(struct thread *t);
void buffers_tick(struct thread *t);
void buffers_touched(const struct thread *t, uintptr_t address, size_t size);
void buffers_freed(struct thread *t, uintptr_t address, size_t size);
void buffers_room(struct thread *t); /* for one more */
void buffers_add(struct thread *t, uintptr_t address, size_t size, bool there);

/* stores.c */
void stores_plain(struct thread *t, bool write, uintptr_t address, size_t size);
void stores_forget(uintptr_t address, size_t size);
void stores_checkpoint(void); /* from now on no event sees, or is inserted before, an earlier
                               * store */

#endif
