/*
 * sched.h - controlled mode's scheduler: one thread of the program runs at a time, the holder
 * of the token.
 *
 * How one enters.  sched_point, before an event that may interact with other threads, is where
 * the token may go to another thread.  A thread that has to wait for an object that the runtime
 * models calls sched_block with the reason and the object, and the thread that changes that
 * object calls sched_wake; to be woken means "look again", so the caller loops.  Waiting for
 * descriptors is sched_wait_files, sleeping is a block with a deadline of virtual time.  Around
 * a call that blocks and is not modelled stand sched_leave and sched_rejoin:
 * others run meanwhile, and the run may not come again.
 *
 * Guarantees: between two of these calls no other thread of the program runs, so that
 * the log and the runtime's tables need no lock of their own.  The strategy, the seed
 * (sched_strategy.c) or the plan (replay/) decide which thread is next; speed decides only
 * where a call that is not modelled was left, or the watchdog took the token from a thread that
 * does not come back.  Fields that threads without the token may touch (struct thread_sched,
 * struct scheduler) are under sched_lock().  In free mode only thread_new, thread_forget and
 * thread_retire are of use.
 *
 * The folder's own declarations are in sched_private.h.
 */
#ifndef HEDDLE_RUNTIME_SCHED_H
#define HEDDLE_RUNTIME_SCHED_H

#include "engine/record/runtime/core/contexts.h"
#include "engine/record/runtime/core/base.h"
#include "engine/record/runtime/log/log.h"

enum { MAX_THREADS = LOG_THREADS, SPIN_LIMIT = 3 };

enum state { STATE_READY, STATE_RUNNING, STATE_BLOCKED, STATE_OUTSIDE, STATE_DONE };

/* A thread that is about to end the program, by a failure or not (sched_outlast). */
enum end_of_run { END_NONE, END_GOOD, END_FAILS };

/* Whether a thread can run, and the object it waits for; under sched_lock(). */
struct thread_sched {
	enum state state;
	volatile int go; /* futex: it has the token */
	enum end_of_run end;
	enum log_wait reason;
	const void *object;
	uintptr_t pc; /* return address of the call in which it blocks */
	bool timed, timed_out;
	bool cancelled;      /* by pthread_cancel; */
	bool uncancellable;  /* PTHREAD_CANCEL_DISABLE; */
	bool cancel_at_once; /* PTHREAD_CANCEL_ASYNCHRONOUS: cancel.c */
	bool spins;          /* it lost the token because it spun, and has not come back */
	uint64_t deadline;   /* virtual nanoseconds, when timed */
	unsigned passed;     /* waits whose time had passed already, one after the other */
	uint64_t since;      /* order of blocking: first come, first served where it matters */
	int64_t priority;    /* pct, pos, surw */
	/* Memory that the thread's next event is about, and whether the event changes it; NULL:
	 * unknown.  For strategies that decide before each event (sched_events.c). */
	const volatile void *place;
	uint32_t size;
	bool changes;
	bool synchronises;     /* it is an operation on a lock, a condition, ... */
	bool noticed, entered; /* pause: others may notice an earlier event; the last was
	                        * synchronisation */
	bool held;             /* surw: another thread's event comes first */
	uint32_t stops;        /* pause: number of its stops, and its beginning */
	uint32_t left; /* surw: events of the target that it still has; pause: windows to
	                * pass by */
	struct pollfd *fds;
	unsigned fd_count;
	bool files_came;        /* it was woken since one of them was ready */
	struct context context; /* rt.one_thread: saved while it waits for the token */
};

/* A thread that waits by looking at atomics repeatedly: polls.c. */
enum { POLL_PLACES = 8, POLL_FRAMES = 4 };
struct poll {
	uint32_t spins;       /* looks in a row that saw nothing new: it spins at SPIN_LIMIT */
	uint32_t patience;    /* looks until it gives way again */
	uint32_t left;        /* looks left, for a thread that yields itself */
	uint64_t worked;      /* its count of accesses at the last look */
	uint32_t yields;      /* in a row when no other thread could run, */
	uint64_t yield_turns; /* and hand-overs at the last one */
	uint32_t looks;       /* all of them */
	/* --filter: the end of the log at a scheduling point, and its accesses when that was
	 * first seen. */
	const uint64_t *filtered_at;
	uint64_t filtered;
	uint64_t unwritten; /* --filter commute: new accesses since then */
	/* the last look at each place: how often the place had been written, and its number */
	struct {
		const volatile void *place;
		uint64_t value;
		uint32_t written, look;
	} seen[POLL_PLACES];
	/* the last look's record: its end and chunk; its place, value, instruction, and the
	 * innermost frames, by index % POLL_FRAMES */
	const uint64_t *end;
	uint64_t chunk;
	const volatile void *place;
	uint64_t value;
	uintptr_t pc;
	struct frame frames[POLL_FRAMES];
	uint64_t repeats; /* number of repetitions; replay: those still to be made */
};

/* ---- the token ---- */
void sched_init(void);
void sched_begin_again(void); /* called by main in a copy of the process, for another config */
void sched_point_slow(struct thread *t); /* t holds the token: may go to another thread */
void sched_access(struct thread *t);     /* the budget is used up */
void sched_yield_point(struct thread *t, bool lower);
bool sched_let_others(struct thread *t); /* another thread runs first; false: none can */
void sched_leave(struct thread *t);
void sched_rejoin(struct thread *t);
void sched_detach_all(void); /* recording ends: lets all threads run freely */
bool sched_force(struct thread *t, struct thread *next, bool fire_timeout);
void sched_lowest(struct thread *t); /* the ready thread with the lowest number runs, or t */
uint64_t sched_steps(void);
/* A hook of a thread whose gate is not open: may it record after this check? The second is
 * for accesses. Code between two events that is not recorded is a step all the same: a thread
 * that spins there gives way. */
bool hook_slow(struct thread *t);
/* The same for the program's accesses: such a one that is not recorded is told in the header.
 */
bool hook_slow_access(struct thread *t);
bool hook_slow_atomic(struct thread *t);

/* Describes the thread's next event, before a point. */
static inline void sched_about(struct thread_sched *s, const volatile void *place,
                               uint32_t size, bool changes)
{
	s->place = place;
	s->size = size;
	s->changes = changes;
	s->synchronises = false;
}

/* ---- waiting ---- */
bool sched_block(struct thread *t, enum log_wait reason, const void *object, bool timed,
                 uint64_t deadline); /* false: timed out */
unsigned sched_wake(const void *object, enum log_wait reason, unsigned most);
/* The number of threads that wait for it; for a condition those that no signal has woken
 * yet. */
unsigned sched_waiters(const void *object, enum log_wait reason);
unsigned sched_at_barrier(const void *barrier); /* how many wait there */
void sched_open_barrier(const void *barrier);
void sched_signal(const void *condition, unsigned most);
/* The thread that a signal wakes: `planned`, the plan's (UINT32_MAX: none), if it waits, or
 * another; NULL: none waits. sched_wake_waiter wakes it. */
struct thread *sched_waiter(const void *condition, uint32_t planned);
void sched_wake_waiter(struct thread *t);
void sched_cancel(struct thread *t);
/* Interrupts a thread that is cancelled at once, in case that it comes to no event. */
void endless_interrupt(const struct thread *t);
/* Does the thread end at its next cancellation point? */
static inline bool sched_cancelled(const struct thread_sched *s)
{
	return unlikely(s->cancelled) && !s->uncancellable;
}
bool sched_wait_files(struct thread *t, struct pollfd *fds, unsigned count, bool timed,
                      uint64_t deadline);

/* Replaces a blocking call that waits for these: as sched_leave, and while the thread is
 * outside it calls sched_look_outside from time to time, until the call has ended. */
void sched_leave_for(struct thread *t, struct pollfd *fds, unsigned count);
void sched_look_outside(void);

/* ---- birth and end ---- */
struct thread *thread_new(struct thread *parent);
void thread_forget(struct thread *t);
/* A thread that has ended, and that no call of the program can name any more (it was joined, or
 * is detached), gives its memory to a later one, as soon as the kernel's thread is gone.  Of
 * others this does nothing. */
void thread_retire(struct thread *t);
void sched_start(struct thread *t); /* a new thread waits for its first turn */
void sched_end(struct thread *t);
/* The thread is about to end the program: others may go on before. */
void sched_linger(struct thread *t);
/* Lets the other threads go on until none of them can: they have ended, or wait, perhaps here.
 * Of those that wait here one that `fails` returns before one that does not. */
void sched_outlast(struct thread *t, bool fails);
/* Replay: waits, in real time, for the thread of a timer to come; false: no timer is set, or
 * the thread has not come two seconds after it was to. */
bool sched_await_birth(uint32_t id);
void sched_adopt(struct thread *t); /* a new thread that no thread created: waits for its
                                     * turn */
void sched_expect(int more);        /* changes the number of such threads that may come */
/* The thread runs on without the token, unscheduled, until a token holder calls sched_unpark;
 * `next` gets the token, or (NULL) the strategy chooses. */
void sched_park(struct thread *t, struct thread *next);
void sched_unpark(struct thread *t);       /* it is ready, */
void sched_await_unpark(struct thread *t); /* called by the parked thread: waits for its turn */
void sched_leave_park(struct thread *t);   /* called by a parked thread that is about to end */

/* ---- sched_files.c ---- */
/* Reads the beginning of a file of /proc, NUL-terminated, and returns its length; -errno.
 * Never uses a descriptor of the program. Under lock. */
long sched_read_file(const char *path, char *text, size_t room);
/* Append to a string in `room` bytes. */
void sched_append(char *out, size_t room, const char *text);
void sched_append_number(char *out, size_t room, uint64_t n, unsigned base);

/* ---- virtual time, in nanoseconds ---- */
uint64_t virtual_now(void);
void sched_tick(uint64_t nanoseconds);

/* ---- the processor that all threads share: affinity.c ---- */
void rt_pin(void); /* pins to one processor, as long as one thread runs at a time */

/* ---- polls.c ---- */
/* An atomic read of `value` by the instruction before `pc`: is it a repetition, which needs
 * no record? Otherwise poll_look follows its record. */
bool poll_again(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc);
void poll_look(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc);
void poll_remember(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc);
void poll_settle(struct thread *t);
/* Exploration: has the thread only repeated its last steps several times? */
bool poll_cycles(struct thread *t);
bool poll_spins(struct thread *t); /* has it seen nothing new, and done no work of its
                                    * own? */
/* Does it spin, and has no place been written to since it looked there? */
bool poll_waits(const struct thread *t);
void poll_wrote(const volatile void *p); /* an atomic write there */
/* Number of writes to atomics, synchronisations, and changes of state by any thread
 * (memory.h). */
uint64_t poll_changes(void);
void poll_changed(void);

#endif
