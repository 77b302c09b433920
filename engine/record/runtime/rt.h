/*
 * rt.h - the recording runtime's inside: what its files share.
 *
 * The runtime lives in the user's program.  It must not call anything that it interposes
 * itself, allocate from the program's heap, keep a descriptor open, or print (but for
 * rt_say, for what the user must know at once).  In controlled mode only the thread that
 * holds the token runs code of the program, so that the log and the tables below need no
 * lock of their own; what threads without the token may touch is under sched.lock.
 */
#ifndef HEDDLE_RT_H
#define HEDDLE_RT_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "engine/record/layout.h"
#include "interposed.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define likely(x)     __builtin_expect(!!(x), 1)
#define unlikely(x)   __builtin_expect(!!(x), 0)
#define HOOK_CALLER() ((uintptr_t)__builtin_return_address(0))
/* Of an interposed function, which code that is not instrumented may have jumped to at its end.
 */
#define CALLER()      real_caller(HOOK_CALLER())
#define BARRIER()     __asm__ volatile("" ::: "memory")

enum {
	MAX_THREADS = LOG_THREADS,
	MAX_FRAMES = 1 << 16,
	SPIN_LIMIT = 3,
};

/* Why a thread's hooks do not record, bits of thread.gate. */
enum gate {
	GATE_FOREIGN = 1,  /* a thread that the runtime did not see start */
	GATE_OFF = 2,      /* recording has ended, or this is a forked child */
	GATE_INSIDE = 4,   /* inside the runtime, or inside a call made for it */
	GATE_OUTSIDE = 8,  /* in a blocking call, without the token */
	GATE_STOLEN = 16,  /* the watchdog took the token away */
	GATE_IGNORE = 32,  /* __tsan_ignore_thread_begin */
	GATE_WAITING = 64, /* waits for the token; a handler that is not wrapped may run */
};

struct stream { /* where records go: one for all in controlled mode, else one a thread */
	uint64_t *next, *end;
	void *chunk;
	uint64_t *half; /* free mode: `next`, when the word before it has room for a record */
	uint32_t thread;
	uint32_t last;           /* controlled: the thread of the last record */
	struct log_sites *sites; /* as the reader will know them; layout.h */
	uint16_t *hints;         /* of ENTER's sites: see frame_begin */
};

struct frame {
	uintptr_t call, function, sp;
	uint64_t context; /* free mode: a hash of this frame's call and its callers' */
};

enum { SEEN_BITS = 13 }; /* of a thread's table of accesses that have been written */

enum state { STATE_READY, STATE_RUNNING, STATE_BLOCKED, STATE_OUTSIDE, STATE_DONE };

enum reason { /* what a blocked thread waits for */
	      FOR_NOTHING,
	      FOR_MUTEX,
	      FOR_READ_LOCK,
	      FOR_WRITE_LOCK,
	      FOR_CONDITION,
	      FOR_BARRIER,
	      FOR_SEMAPHORE,
	      FOR_THREAD,
	      FOR_ONCE,
	      FOR_SLEEP,
	      FOR_FILE, /* descriptors */
	      FOR_SPIN,
	      FOR_FUTEX, /* a word; may end at any time */
};

struct pollfd;
struct iovec;

/* What comes from outside; ASKED: it is asked for, as nothing of it was recorded. */
enum inputs { INPUTS_NONE, INPUTS_KEPT, INPUTS_ASKED, INPUTS_GIVEN };

struct heddle_bound;
struct open_call { /* an invocation by a bind line: bind.c */
	uintptr_t frame, pc;
	const void *self;
	const struct heddle_bound *bound;
};
enum { MAX_OPEN_CALLS = 16 };

struct kept_arrival; /* a signal: handlers.c */
struct team;         /* OpenMP */
struct task;
struct family;
struct region; /* a missing call: missing.c */
struct reach;  /* reach.c */

/* What a thread waits for by looking at atomics again and again: polls.c. */
enum { POLL_PLACES = 8, POLL_FRAMES = 4 };
struct poll {
	uint32_t spins;    /* looks in a row that told it nothing new: it spins at SPIN_LIMIT */
	uint32_t patience; /* looks until it gives way again, */
	uint32_t left;     /* where it yields itself: so many of them are left */
	uint64_t worked;   /* its accesses at the last look */
	uint64_t news;     /* polls_news, when it last gave way */
	struct {
		const volatile void *place;
		uint64_t value;
	} seen[POLL_PLACES];
	/* the last look's record, */
	const uint64_t *end;
	uint64_t chunk;
	const volatile void *place;
	uint64_t value;
	uintptr_t pc;
	struct frame
	        frames[POLL_FRAMES]; /* the innermost frames then, by index % POLL_FRAMES */
	uint64_t repeats; /* and how often it was made again; replay: is still to be */
};

struct thread {
	/* hot */
	union {
		struct {
			volatile uint32_t gate;
			uint32_t unusual; /* access_rest has something to see to */
		};
		volatile uint64_t attention; /* 0: an access has but to be written */
	};
	uint32_t dirty;   /* the log's idea of the call stack is not ours */
	int32_t budget;   /* accesses until the next scheduling point */
	int32_t drawn;    /* what it was when accesses were last counted */
	uint64_t counted; /* accesses that were counted so far */
	struct stream *stream;
	uint64_t
	        *pending; /* the end of the last write's record, whose value is not yet known */
	/* Free mode: a new number after each synchronisation, and a hash of it and the calling
	 * context; an access that the instruction has made in both before is not written
	 * again, but counted.  Controlled mode, and nobody: 0. */
	uint64_t epoch, context, repeated;
	uint32_t pending_code, pending_slot;
	uint32_t id;
	uint64_t ordinal; /* visible events so far */
	uint32_t depth, emitted, low;
	/* Missing calls: a frame with this index is called back by the innermost one; and when
	 * `depth` falls below that, a frame of interest to them has been left. */
	uint32_t callback_at, resume_below;
	struct frame *frames;

	/* scheduling; under sched.lock */
	enum state state;
	volatile int go; /* futex: it has the token */
	enum reason reason;
	const void *object;
	bool timed, timed_out, cancelled;
	uint64_t deadline; /* virtual nanoseconds, when timed */
	bool spins;        /* it lost the token because it spun, and has not come back */
	/* replay: how often it gave way since its `ordinal` + 1 became `paused`, and its
	 * processor time, in nanoseconds, when that had begun */
	uint64_t pauses, paused, pause_start;
	uint64_t released; /* replay: its `ordinal` + 1 when the plan last ended its futex wait
	                    */
	uint64_t since;    /* order of blocking: first come, first served where it matters */
	int64_t priority;  /* pct */
	struct pollfd *fds;
	unsigned fd_count;

	/* birth and end */
	uint32_t parent, children;
	pid_t tid;
	pthread_t handle;
	void *(*start)(void *);
	void *argument;
	void *result;
	uintptr_t stack_low, stack_high;
	int end_rounds;
	bool detached, started, joined, c11;
	bool lends; /* timers name it as their threads' parent: it is never given to another */
	bool retired; /* ended; nothing but its memory is left: thread_retire */
	struct thread *next_retired;
	const void *barrier;   /* waits there, even while a handler runs */
	const void *condition; /* waits for it, from the `wait` event on */
	bool woken;
	struct stream own;
	uint64_t questions; /* clocks asked */
	uint64_t random;    /* state of its random bytes */
	uintptr_t pc;       /* of what it blocks in */
	struct poll poll;
	struct open_call open[MAX_OPEN_CALLS];
	unsigned open_count;
	unsigned told_calls; /* those that the program itself tells of (heddle.h), open */
	uintptr_t bound_pc;  /* who called the bound function that was called last */
	/* OpenMP: openmp.h */
	struct team *team;      /* whose region it is in, or NULL */
	struct task *task;      /* that it runs, or NULL */
	struct family *family;  /* children of its implicit tasks, or NULL */
	uintptr_t called_from;  /* a frame that the runtime calls is called from there; or 0 */
	bool parked;            /* in libgomp's own code, where the scheduler does not look */
	struct region *regions; /* open missing calls, or NULL */
	unsigned region_count;
	struct reach *reach; /* or NULL */
	/* signals whose handlers are still to run: handlers.c */
	struct kept_arrival *arrivals;
	volatile unsigned arrived;
	volatile bool away; /* in a blocking call, without the token */
	bool interrupted;   /* a handler has run since this was last cleared, */
	bool must_end;      /* and one that ends calls which others let go on (no SA_RESTART) */
	bool reminded;
	int reminder; /* the kernel's id of the timer, while `reminded` */
	/* what comes from outside: inputs.c */
	bool starves;    /* replay: waits for what is not in the recording */
	unsigned hungry; /* how often it asked for such */
	const struct log_input *input, *input_end; /* replay: what is still to be given */
	/* free mode: access.h; whole pages */
	uint64_t seen[1 << SEEN_BITS] __attribute__((aligned(4096)));
};

extern __thread struct thread *me __attribute__((tls_model("initial-exec")));
extern struct thread nobody __attribute__((visibility("hidden")));

struct runtime {
	bool on;         /* recording was asked for and has not ended */
	bool controlled; /* else free mode */
	bool replay;
	enum inputs inputs;
	bool values;
	bool missing;        /* calls into code that is not instrumented are recorded, */
	bool reaching;       /* and there is such code: what is allocated must be known */
	bool protects;       /* the program has made memory unreadable */
	bool async_handlers; /* the program handles signals that may come at any time */
	bool timers;         /* it has set a timer that sends one */
	bool full;
	bool waiting; /* for --start-at's function: no accesses yet */
	uintptr_t start_low, start_high;
	uint32_t thread_count;
	struct thread *threads[MAX_THREADS]; /* NULL: none, or retired */
	uint64_t repeated;                   /* of retired threads */
	struct log_config config;
	struct log_header *header;
	uint64_t random;
	uintptr_t bind_low, bind_size; /* the library of the bind lines */
	uintptr_t cxx_low, cxx_high;   /* the C++ library */
	uintptr_t glib_low, glib_high;
	uintptr_t gomp_low, gomp_high; /* GCC's library of OpenMP */
	uintptr_t libc_low, libc_high, ld_low, ld_high, own_low, own_high;
	/* in a cache line of its own: all threads of free mode write it */
	volatile uint64_t ticket __attribute__((aligned(64)));
	uint64_t messages __attribute__((aligned(64)));
	struct stream stream; /* controlled mode */
	cpu_set_t *affinity;
	volatile int poke; /* a signal handler has changed a real lock or semaphore */
};
extern struct runtime rt;

/* ---- log.c ---- */
bool log_open(void);
void log_close(void);
void log_flush(void);
void log_stream_end(struct stream *s);
void log_more(struct stream *s, unsigned words); /* makes room */
void log_frames(struct thread *t);
/* The record, or NULL when it is too long for one. */
uint64_t *log_blob(struct thread *t, enum log_tag tag, uint64_t pc, const uint64_t *words,
                   unsigned count, const void *bytes, uint64_t length);
void log_invocation(struct thread *t, enum log_tag tag, unsigned flags, uint64_t pc,
                    const void *self, const char *text, size_t length);
void log_note(const char *key, const char *value);
void log_thread(struct thread *t);
/* An object has been initialised: what was at its address is another one. */
void log_init(struct thread *t, const volatile void *object);
void log_modules(void);
void log_switch(struct thread *t);
void log_clock(struct thread *t, clockid_t clock, const struct timespec *time);

/* ---- access.c; the hot part is in access.h ---- */
void log_fill(struct thread *t); /* the value of the last write, which has been done by now */
void log_access(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc, const void *p,
                unsigned code, bool known, uint64_t value);
void log_range(struct thread *t, enum log_tag tag, uintptr_t pc, const void *p, size_t size);
void log_rmw(struct thread *t, unsigned flags, uintptr_t pc, const void *p, unsigned code,
             uint64_t old, uint64_t new_value);

/* ---- sched*.c ---- */
void sched_init(void);
void sched_point_slow(struct thread *t); /* t holds the token: may go to another thread */
void sched_access(struct thread *t);     /* the budget is used up */
void sched_yield_point(struct thread *t, bool lower);
bool sched_block(struct thread *t, enum reason reason, const void *object, bool timed,
                 uint64_t deadline); /* false: timed out */
unsigned sched_wake(const void *object, enum reason reason, unsigned most);
/* How many wait for it; of a condition those that no signal has woken yet. */
unsigned sched_waiters(const void *object, enum reason reason);
unsigned sched_at_barrier(const void *barrier); /* how many wait there */
void sched_open_barrier(const void *barrier);
void sched_signal(const void *condition, unsigned most);
void sched_leave(struct thread *t);
void sched_rejoin(struct thread *t);
void sched_start(struct thread *t); /* a new thread waits for its first turn */
void sched_end(struct thread *t);
void sched_adopt(struct thread *t); /* a new one that no thread created: waits for its turn */
/* Out of the scheduler's sight, running, until somebody who has the token calls it back; `next`
 * gets the token, or (NULL) who is chosen. */
void sched_park(struct thread *t, struct thread *next);
void sched_unpark(struct thread *t);       /* it is ready, */
void sched_await_unpark(struct thread *t); /* and waits here for its turn */
void sched_leave_park(struct thread *t);   /* by itself: its end has come */
void sched_expect(int more);               /* so many more, or fewer, may come like that */
bool sched_wait_files(struct thread *t, struct pollfd *fds, unsigned count, bool timed,
                      uint64_t deadline);
void sched_detach_all(void); /* recording ends: let everybody run freely */
bool hook_slow(struct thread *t);
uint64_t virtual_now(void);
void sched_tick(uint64_t nanoseconds);
uint64_t sched_steps(void);
struct thread *thread_new(struct thread *parent);
void thread_forget(struct thread *t);
/* A thread that has ended, and that no call of the program can name any more (it was joined, or
 * is detached), gives its memory to a later one, as soon as the kernel's thread is gone.  Of
 * others this does nothing. */
void thread_retire(struct thread *t);
void sched_cancel(struct thread *t);
bool sched_force(struct thread *t, struct thread *next, bool fire_timeout);
void futex_wait(volatile int *word, int value, uint64_t nanoseconds);
void futex_wake(volatile int *word, int count);
static inline uint64_t next_random(void) /* xorshift64* */
{
	rt.random ^= rt.random >> 12;
	rt.random ^= rt.random << 25;
	rt.random ^= rt.random >> 27;
	return rt.random * 0x2545f4914f6cdd1dull;
}

/* ---- polls.c ---- */
/* Exploration wants every look for itself, for the next may see something else. */
ALWAYS_INLINE bool looks_count(void)
{
	return rt.config.strategy != STRATEGY_FIRST && !(rt.config.flags & LOG_EXPLORE);
}
/* An atomic read of `value` by the instruction before `pc`: is it a mere repetition, which
 * needs no record?  Else poll_look comes after its record. */
bool poll_again(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc);
void poll_look(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc);
void poll_remember(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc);
void poll_settle(struct thread *t);
/* Exploration: are the last things that the thread did, alone, the same several times over? */
bool poll_cycles(struct thread *t);
bool poll_spins(struct thread *t);       /* nothing new since, and no work of its own */
bool poll_waits(const struct thread *t); /* it spins, and nothing new has been written since */
uint64_t poll_news(const struct thread *t);
void poll_wrote(const volatile void *p); /* an atomic write there */

/* ---- threads.c, blocking.c ---- */
void thread_begin(struct thread *t);
/* Virtual nanoseconds of an absolute time of a clock. */
uint64_t deadline_of(clockid_t clock, const struct timespec *at);
void clock_now(clockid_t clock, struct timespec *now); /* the virtual one, not recorded */

/* ---- abi.c ---- */
/* Synchronisation that is none of POSIX's: what was before a release at `key`, any number but
 * 0, is before what comes after the next acquire there. */
void message_release(uintptr_t key, uintptr_t pc);
void message_acquire(uintptr_t key, uintptr_t pc);
/* The key's message; `anew`: what was released there before counts no more.  0: there is no
 * memory to know it. */
uint64_t message_of(uintptr_t key, bool anew);

/* ---- invoke.c ---- */
/* `made`: the call made the object. */
void invoke_record(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                   const char *type, const void *object, const char *method,
                   const char *values);

/* ---- bind.c ---- */
/* Makes a function begin with a jump to another; the bytes there are lost.  Before any
 * thread but this one may run it. */
bool entry_jump(uint8_t *entry, const void *target);

/* ---- missing.c ---- */
/* Where a missing call returns to: it stands for its caller. */
extern const char missing_return[] __attribute__((visibility("hidden")));
uintptr_t missing_caller(void);
ALWAYS_INLINE uintptr_t real_caller(uintptr_t pc)
{
	return unlikely(pc == (uintptr_t)missing_return) ? missing_caller() : pc;
}
struct dl_phdr_info;
/* A module that has been loaded. */
void missing_module(const struct dl_phdr_info *info, const char *path, uintptr_t low,
                    uintptr_t high);
void missing_take_over(void); /* when all of them are known */
/* log_frames: the frame to be written is called back by a missing call; frames that were
 * written have been left. */
void missing_callback(struct thread *t);
void missing_settle(struct thread *t);
void missing_left(struct thread *t); /* the same at once, by the hook */
/* A thread whose first function is not instrumented begins, and ends. */
void missing_begin_thread(struct thread *t, const void *start, const void *argument);
void missing_end_thread(struct thread *t);
/* A jump or a caught exception leaves what the frames up to `sp` have called. */
void missing_jump(struct thread *t, uintptr_t sp);

/* ---- orders.c ---- */
/* The program does what may do otherwise in another order, which exploration does not try;
 * `operation` is a constant.  None where there never was another thread. */
void order_matters(const char *operation);
#define ROBUST_LEFT "a thread's end with a robust mutex in its hands"
/* The same of what is read and written there; `at_offset`: at a place that the call gives. */
void order_of_descriptor(int fd, bool writes, bool at_offset);
/* Of functions with a state of their own that nothing here stands before, by name. */
enum order_kind {
	ORDER_NEVER,
	ORDER_ALWAYS,
	ORDER_OBJECT,   /* the object is its first argument */
	ORDER_LOOKS,    /* it looks for a file by its name, the first argument */
	ORDER_LOOKS_IN, /* the same, the second */
};
struct ordered {
	const char *pattern;
	enum order_kind kind;
	const char *operation; /* as it is told of; NULL: by its name */
};
const struct ordered *order_named(const char *name); /* NULL: none of them */
/* Such a function is called: it is told of, when others run and the object may be theirs. */
void order_call(const struct thread *t, const struct ordered *f, const char *name,
                const uint64_t *arguments);

/* ---- order_files.c ---- */
struct stat;
/* A file is made, or emptied, or looked for. */
void order_of_name(const char *path, bool makes);
void order_of_content(const struct stat *s, int fd, bool writes, bool at_offset);
void order_of_stream(const void *stream, bool may_read);
void order_of_stream_end(const void *stream);
void order_of_use(int fd, bool closed);
void order_of_close(int fd);

/* ---- blocks.c ---- */
bool blocks_init(void); /* false: no memory */
void block_begins(const void *p);
void block_ends(const void *p);
/* The last block that begins at an address or before it, or 0; the address may lie behind it.
 */
uintptr_t block_before(uintptr_t address);

/* ---- reach.c ---- */
void reach_init(void); /* what is allocated from now on is known */
void reach_mapped(const void *p, size_t size);
void reach_data(uintptr_t low, uintptr_t high); /* writable, of a module of the program */
void reach_stack(uintptr_t low, uintptr_t high);
/* Where the frame's return address lies on the stack, below `limit`; 0: not found. */
uintptr_t frame_return(const struct frame *f, uintptr_t limit);
/* What the arguments whose bits are in `mask` (layout.h, LOG_ARGUMENTS) reach: the thread's
 * list, until the next call. */
unsigned reach_scan(struct thread *t, const uint64_t *arguments, unsigned mask,
                    const struct log_reached **list, bool *cut);

/* ---- memory.c ---- */
bool memory_shared(const void *p); /* in a mapping that other processes may have, too */

/* A system call without the C library, whose functions are interposed: what the kernel answers,
 * -errno for a failure. */
static inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

/* ---- futex.c: what the runtime itself calls by the name of syscall() ---- */
/* A system call of the runtime's own: what the kernel answers, -errno for a failure.  errno is
 * the program's, and stays. */
long rt_syscall(long number, ...);
#define syscall(...) rt_syscall(__VA_ARGS__)

/* ---- glib.c ---- */
void glib_take_over(void); /* once GLib is loaded */

/* ---- random.c ---- */
void random_device_read(int fd, void *p, ssize_t n); /* of a random device: from the seed */

/* ---- replay.c ---- */
void strings_init(void);
void clocks_init(void);
bool replay_load(int fd, uint64_t offset);
void replay_point(struct thread *t);
void replay_pause(struct thread *t); /* no event follows: it gives way */
void replay_event(struct thread *t, enum log_tag tag, uintptr_t pc);
bool replay_answer(struct thread *t, uint32_t clock, struct timespec *answer);
uint32_t replay_child(uint32_t parent, uint32_t ordinal);
/* What thread `id` got from outside; an empty range when nothing. */
void replay_inputs(uint32_t id, const struct log_input **from, const struct log_input **end);
/* Before a call that is no event: waits for the thread's turn. */
void replay_call(struct thread *t);
/* Is this the thread's next event in the plan? */
bool replay_expects(const struct thread *t, enum log_tag tag, uintptr_t pc);
/* Is everybody still before the pair, so that nothing may differ? */
bool replay_strict(void);
/* The thread asked for something else from outside than in the recording: `text` says what. */
void replay_left(struct thread *t, const char *text);
/* Is the block that has just been freed to stay, filled, for the use after its free? */
bool replay_poisons(void);
uint64_t replay_turn(uint32_t thread);
uint64_t replay_wake_turn(uint32_t thread); /* when it comes next in the plan */
uint32_t replay_next(void);                 /* whose turn it is; UINT32_MAX: nobody's */
void replay_blocked(void);

/* ---- stream_input.c ---- */
void streams_init(void);
/* fopen of a FIFO to read from; NULL: it is none. */
FILE *fifo_stream(const char *path, const char *mode, uintptr_t pc);

/* ---- inputs.c ---- */
/* A handler runs now; `within`: the process sent the signal itself. */
void input_keep_signal(struct thread *t, int number, bool within);
/* Replay: the handlers run that did when the thread was as far as it is.  True when one did. */
bool input_signals(struct thread *t);

/* ---- handlers.c ---- */
bool signal_has_handler(int number);
/* The thread stands at a safe place, with the token: handlers of signals that have come run. */
void handlers_run(struct thread *t);
/* Replay: the handler runs that did here; false when the program has none. */
bool handler_given(struct thread *t, int number, bool within);
/* After a signal was sent within the process: it has come to its thread, unless that blocks it.
 * `before`: signals_arrived() before the sending. */
void signal_settle(int number, unsigned before);
unsigned signals_arrived(void);
void timer_signal(int number, bool armed, uintptr_t pc); /* a timer that sends it was set */
/* The program's syscall() installs a handler: true, and the kernel's answer. */
bool handler_syscall(struct thread *t, long number, const long a[6], long *result);

/* ---- signals.c ---- */
uint64_t signal_message(int number); /* of who sent it, once; or 0 */

/* ---- processes.c ---- */
void processes_init(void);
void rt_child(void);         /* in a child that has a copy of the memory: it is not recorded */
bool rt_other_process(void); /* is this one that only shares our memory? */
/* The program's syscall() makes a process: true, and the kernel's answer, in both of them. */
bool process_syscall(struct thread *t, long number, long a[6], long *result);

/* ---- init.c ---- */
void rt_pin(void); /* to one processor, as long as one thread runs at a time */
void rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void rt_die(int signal_number);
void *rt_pages(size_t bytes);
/* Pages that are read first and written later would be changed under all threads' feet, which
 * costs more than to have them at once.  Where the kernel cannot do it, that is how it is. */
void rt_populate(void *pages, size_t bytes);
void rt_unpages(void *pages, size_t bytes);
void *rt_next(const char *name);
void rt_finish(enum log_status status);

#define REAL(name) \
	({ \
		static __typeof__(name) *real_; \
		if (unlikely(!real_)) \
			real_ = (__typeof__(name) *)rt_next(#name); \
		real_; \
	})

/* serve.c: wait for requests of exploration; returns in each child, with the config of its run
 * in `rt`.  `fd`: where the config was. */
void serve(int fd);

/* ---- emitting ---- */

ALWAYS_INLINE uint64_t *log_room(struct stream *s, unsigned words)
{
	if (unlikely(s->next + words > s->end))
		log_more(s, words);
	return s->next;
}

ALWAYS_INLINE uint64_t log_word(enum log_tag tag, unsigned flags, uintptr_t pc)
{
	return tag | flags << 8 | (uint64_t)pc << LOG_PC_SHIFT;
}

/* Free mode: the calling context of a call from one that has the hash `parent`. */
ALWAYS_INLINE uint64_t context_of(uint64_t parent, uintptr_t call, uintptr_t function)
{
	uint64_t h = ((parent << 7 | parent >> 57) ^ call ^ (uint64_t)function << 17) *
	             0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

/* What `context` is in the frame of that hash. */
ALWAYS_INLINE uint64_t context_now(const struct thread *t, uint64_t frame)
{
	return frame ^ t->epoch * 0xd6e8feb86659fd93u;
}

/* The thread has called or returned, or its epoch has ended; frames[-1] is nobody's. */
ALWAYS_INLINE void context_renew(struct thread *t)
{
	uint32_t depth = t->depth < MAX_FRAMES ? t->depth : MAX_FRAMES;
	t->context = context_now(t, t->frames[(int32_t)depth - 1].context);
}

/* Everything that must be written before an event of `t`. */
ALWAYS_INLINE void log_before(struct thread *t)
{
	if (t->pending)
		log_fill(t);
	if (unlikely(t->stream->last != t->id))
		log_switch(t);
	if (t->dirty)
		log_frames(t);
}

/* A scheduling point, before an event that may interact with other threads. */
ALWAYS_INLINE void sched_point(struct thread *t)
{
	if (t->pending)
		log_fill(t);
	if (rt.controlled)
		sched_point_slow(t);
}
/* Before an event that is no scheduling point. */
ALWAYS_INLINE void plan_point(struct thread *t)
{
	if (unlikely(rt.replay)) {
		if (t->pending)
			log_fill(t);
		replay_point(t);
	}
}

/* Free mode: the next record's place in the order of synchronisation. */
static inline void log_ticket(struct thread *t)
{
	uint64_t *w = log_room(t->stream, 1);
	w[0] = log_word(LOG_TICKET, 0, __atomic_add_fetch(&rt.ticket, 1, __ATOMIC_SEQ_CST));
	t->stream->next = w + 1;
}

/* What the thread does from now on matters even if it has done the same before. */
static inline void log_afresh(struct thread *t)
{
	if (!t->epoch)
		return;
	t->epoch++;
	context_renew(t);
}

static inline void log_epoch(struct thread *t)
{
	log_ticket(t);
	log_afresh(t);
}

ALWAYS_INLINE void count_event(struct thread *t, enum log_tag tag, uintptr_t pc)
{
	t->ordinal++;
	if (unlikely(rt.replay))
		replay_event(t, tag, pc);
}

/*
 * A frame for a call of the C library (enum log_call), so that the trace shows where its
 * thread may block; `now`: even if nothing happens inside.  The thread holds the token.
 */
void frame_enter(struct thread *t, enum log_call call, uintptr_t pc, bool now);
void frame_leave(struct thread *t);

/* A record with one or two words after the first. */
void log_event(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc, uint64_t a,
               uint64_t b, unsigned words);
static inline void log_object(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                              const void *object)
{
	log_event(t, tag, flags, pc, (uintptr_t)object, 0, 1);
}
static inline void log_sync(struct thread *t, enum log_tag tag, uintptr_t pc,
                            const void *object)
{
	log_object(t, tag, 0, pc, object);
}
/* The same of an operation that may also end without it: a try, or with a time limit. */
static inline void log_try(struct thread *t, enum log_tag tag, uintptr_t pc, const void *object)
{
	log_object(t, tag, LOG_TRY, pc, object);
}

/*
 * The beginning of an interposed function: the thread when its events are to be recorded,
 * else NULL, and the function is to call the real one and nothing else.  The thread's last
 * write has its value.
 */
ALWAYS_INLINE struct thread *recording(void)
{
	struct thread *t = me;
	if (unlikely(t->gate) && !hook_slow(t))
		return NULL;
	if (unlikely(rt.async_handlers))
		handlers_run(t);
	if (t->pending) /* what follows may write there unseen */
		log_fill(t);
	return t;
}
/* Around a call into code that may come back through interposed functions. */
#define INSIDE(t, expression) \
	({ \
		(t)->gate |= GATE_INSIDE; \
		__typeof__(expression) result_ = (expression); \
		int saved_ = errno; \
		(t)->gate &= ~GATE_INSIDE; \
		errno = saved_; \
		result_; \
	})

/* Is a return address in the C library or the loader, whose own use of the heap depends
 * on which thread comes first and is no concern of the user's; or in the runtime itself? */
ALWAYS_INLINE bool in_libc(uintptr_t pc)
{
	return (pc >= rt.own_low && pc < rt.own_high) ||
	       (pc >= rt.libc_low && pc < rt.libc_high) || (pc >= rt.ld_low && pc < rt.ld_high);
}

#endif
