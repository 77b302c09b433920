/*
 * sync.h - the program's own synchronisation: threads, POSIX's and C11's locks, conditions,
 * semaphores, barriers and once, futexes, GLib's locks, OpenMP.
 *
 * One enters by the program's call: each function here stands before one of the C library's or
 * libgomp's (INTERPOSED), and has the shape of all of them: recording(), a scheduling point,
 * the operation by the real try-call or in the scheduler alone, the event, a wake for those who
 * wait. Other folders need only the declarations below: a thread that the runtime takes in by
 * itself begins with thread_begin, and synchronisation that no event stands for is a message.
 *
 * Guarantees: an acquire's event is logged after it, a release's before it, in the
 * same turn of the token, so that the log's order is that of the objects.  In free mode the
 * real call does it all.  The folder's own declarations are in sync_private.h and openmp.h.
 */
#ifndef HEDDLE_RUNTIME_SYNC_H
#define HEDDLE_RUNTIME_SYNC_H

#include "engine/record/runtime/core/base.h"

/* A thread's birth and end: threads.c, sched/sched_threads.c. */
struct thread_life {
	uint32_t parent, children; /* numbers: of the parent; how many threads it has created */
	pid_t tid;
	pid_t former; /* of a child by fork that is recorded: in its parent, whose mutexes it
	               * has as well; or 0 */
	pthread_t handle;
	void *(*start)(void *);
	void *argument;
	void *result;
	uintptr_t stack_low, stack_high;
	int end_rounds;
	bool detached, started, joined, c11;
	bool masked;   /* it begins with all signals blocked, and then takes this mask */
	uint64_t mask; /* as the kernel has it */
	bool lends; /* timers name it as their threads' parent, so its number is never reused */
	bool retired; /* ended; only its memory is left: thread_retire */
	struct thread *next_retired;
};

/* The object that a thread waits at even while a handler runs. */
struct thread_sync {
	const void *barrier;
	const void *condition; /* from the `wait` event on */
	bool woken;
	bool takes_all; /* within std::lock (take_all.c) */
};
/* A try of the lock comes, also one with a time limit. */
void lock_tried(struct thread *t, const void *lock);

struct team; /* OpenMP: openmp.h */
struct task;
struct family;
struct thread_openmp {
	struct team *team;     /* whose region it is in, or NULL */
	struct task *task;     /* that it runs, or NULL */
	struct family *family; /* children of its implicit tasks, or NULL */
	bool parked;           /* in libgomp's own code, where the scheduler does not look */
};

/* Tells the explorer the kernel's number of the thread. */
void thread_note_number(const struct thread *t);
void *thread_main(void *thread);     /* where it starts */
void thread_begin(struct thread *t); /* called by the new thread itself, before its first
                                      * event */
/* The message that a thread waits for until a once-function of this thread (or
 * LOG_ALL_THREADS) ends. */
uint64_t once_message(const void *key);
uint32_t once_runner(const void *key);
void glib_take_over(void); /* once GLib is loaded */

/* Synchronisation other than POSIX's (core/abi.c): events before a release at `key`, any
 * number but 0, happen before events after the next acquire there. */
void message_release(uintptr_t key, uintptr_t pc);
void message_acquire(uintptr_t key, uintptr_t pc);
/* The key's message; `anew`: earlier releases there no longer count. 0: no memory for it. */
uint64_t message_of(uintptr_t key, bool anew);
bool message_exists(uintptr_t key); /* has it been asked for? */

/* futex.c: an exploration, or a replay of one of its runs? */
bool futexes_are_steps(void);

#endif
