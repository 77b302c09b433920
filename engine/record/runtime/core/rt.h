/*
 * rt.h - the runtime as a whole: a thread, the run, and how every function of the runtime
 * begins.
 *
 * Each folder's header says what it is for; this one puts their parts of a thread together, and
 * every file of the runtime includes it.  The compiler's hooks (hooks.c, atomics.c) and the
 * interposed functions of all folders are the ways into the runtime.  Each begins with
 * recording(): the calling thread when its events are to be recorded, else NULL, and then the
 * function is the real one and nothing else.
 *
 * Guarantees: `me` is the calling thread, never NULL (`nobody` for a thread that the
 * runtime has not seen start), and only the thread itself changes its struct, but for the parts
 * whose headers say otherwise.  In controlled mode only the thread that holds the token
 * runs code of the program (sched/sched.h).  Without HEDDLE_RECORD in the environment `rt.on`
 * stays false and no gate opens.
 */
#ifndef HEDDLE_RUNTIME_RT_H
#define HEDDLE_RUNTIME_RT_H

#include "base.h"
#include "engine/record/runtime/libc/libc.h"
#include "engine/record/runtime/log/log.h"
#include "engine/record/runtime/log/sample.h"
#include "engine/record/runtime/log/shadow.h"
#include "engine/record/runtime/memory/memory.h"
#include "engine/record/runtime/missing/missing.h"
#include "engine/record/runtime/outside/outside.h"
#include "engine/record/runtime/replay/replay.h"
#include "engine/record/runtime/sched/sched.h"
#include "engine/record/runtime/sync/sync.h"

#define HOOK_CALLER() ((uintptr_t)__builtin_return_address(0))
/* Of an interposed function, which code that is not instrumented may have jumped to at its end.
 */
#define CALLER()      real_caller(HOOK_CALLER())

/* Reasons why a thread's hooks do not record: bits of thread.gate. */
enum gate {
	GATE_FOREIGN = 1,  /* a thread that the runtime did not see start */
	GATE_OFF = 2,      /* recording has ended, or this is a forked child */
	GATE_INSIDE = 4,   /* inside the runtime, or inside a call made for it */
	GATE_OUTSIDE = 8,  /* in a blocking call, without the token */
	GATE_STOLEN = 16,  /* the watchdog took the token away */
	GATE_IGNORE = 32,  /* __tsan_ignore_thread_begin: plain accesses alone */
	GATE_WAITING = 64, /* waits for the token; a handler that is not wrapped may run */
	GATE_OWN = 128,    /* inside a lock of the program's own making: own_locks.c */
	GATE_QUIET = GATE_IGNORE | GATE_OWN, /* the program's code runs, and is scheduled */
};

/* Work that is due at a thread's next access or call. The bits differ from a gate's: a hook
 * tests both at once. */
enum todo {
	TODO_FRAMES = 1 << 8,  /* the log's idea of the call stack is not the thread's */
	TODO_EPOCHS = 1 << 9,  /* always, where the thread has epochs */
	TODO_NOBODY = 1 << 10, /* always set in `nobody` */
	TODO_VALUE = 1 << 11,  /* of the last write */
	/* with TODO_VALUE: the size code, 0 to 3; is its record a long one? */
	TODO_CODE_SHIFT = 12,
	TODO_LONG = 1 << 14,
	TODO_OF_VALUE = TODO_VALUE | 3 << TODO_CODE_SHIFT | TODO_LONG,
	TODO_COPY = 1 << 15,    /* the last write is not recorded yet: thread.copy */
	TODO_COVERED = 1 << 16, /* always with --filter variables, with TODO_EPOCHS */
};
_Static_assert((int)GATE_OWN < (int)TODO_FRAMES, "gates are the bits below");

/* Open invocations by bind lines: bind.c. */
struct heddle_bound;
struct open_call {
	uintptr_t frame, pc;
	const void *self;
	const struct heddle_bound *bound;
};
enum { MAX_OPEN_CALLS = 16 };
struct thread_calls {
	struct open_call open[MAX_OPEN_CALLS];
	unsigned open_count;
	unsigned told_calls; /* open calls that the program itself annotates (heddle.h) */
	uintptr_t bound_pc;  /* return address of the last bound function */
	uint64_t begun;      /* the thread's ordinal after the last one's call */
	uintptr_t from;      /* the place that the program's functions, which the runtime calls
	                      * now, are called from; or 0 */
};

/* A write that is recorded with the read of the same copy: copies.c. */
struct thread_copy {
	const void *to;
	size_t size;
	unsigned flags;
	uintptr_t pc, next; /* return addresses of its hook, and of the read's */
};

struct thread {
	/* The fast path of an access and of a call: three cache lines. */
	union {
		struct {
			volatile uint32_t gate;
			uint32_t unusual; /* access_rest has work to do */
		};
		volatile uint64_t attention; /* 0: an access has only to be written */
	};
	uint32_t todo;    /* bits of enum todo, due before it is written; always stored
	                   * whole, as hooks load it whole */
	int32_t budget;   /* accesses until the next scheduling point */
	int32_t drawn;    /* its value when accesses were last counted */
	uint64_t counted; /* accesses that were counted so far */
	struct stream *stream;
	/* TODO_VALUE: the end of the last write's record, whose value is not yet known, and its
	 * site. */
	uint64_t *pending;
	struct log_site *pending_site;
	/* Free mode and --filter: a new number after each synchronisation, and a hash of it
	 * and (without --filter) the calling context; an access that the instruction has made
	 * before with the same two is counted, not written. In other modes, and for nobody:
	 * 0. */
	uint64_t epoch, context, repeated;
	/* --filter variables: a table in pages of its own (log/access.h), the epoch in its
	 * entries, and the addresses that were looked at, and left out, since the last
	 * scheduling point, joined by or and by and. */
	uint64_t *covered;
	uint64_t covered_epoch, looked_or, looked_and;
	uint64_t lives; /* runtime.lives when the thread last began to run */
	uint32_t id;
	uint64_t ordinal; /* visible events so far */
	uint32_t depth, emitted, low;
	/* Missing calls: the innermost one has called back a frame with this index; and when
	 * `depth` falls below resume_below, a frame that concerns them has been left. */
	uint32_t callback_at, resume_below;
	struct frame *frames;

	/* State by folder; each type is in the header of its folder. */
	struct thread_sched sched;
	struct thread_replay replay;
	struct thread_life life;
	struct thread_sync sync;
	struct thread_openmp openmp;
	struct thread_libc libc;
	struct thread_signals signals;
	struct thread_input input;
	struct thread_calls calls;
	struct thread_copy copy; /* TODO_COPY */
	unsigned forks;          /* forks whose messages it has received (child_brought) */
	int ignoring;            /* nested __tsan_ignore_thread_begin: GATE_IGNORE */
	int own_depth;           /* nested insides of locks of the program's making: GATE_OWN */
	const void *diverted_from; /* the lock whose code it left for a moment, or NULL */
	unsigned own_steps;        /* in the outermost of these */
	struct thread_missing missing;
	struct thread_memory memory;
	struct poll poll;
	/* Plain accesses are not written: always with --filter commute, with --sample outside
	 * of the sample. */
	bool unwritten;
	struct thread_sample sample;
	struct thread_shadow shadow;
	struct stream own; /* free mode: `stream` */
	/* free mode and --filter: log/access.h; whole pages */
	uint64_t seen[1 << SEEN_BITS] __attribute__((aligned(4096)));
	uint16_t calls_of[SAMPLE_FUNCTIONS]; /* --sample: of each function, by a hash */
};
_Static_assert(offsetof(struct thread, sched) <= 3 * 64,
               "the hooks' fields in three cache lines");

extern __thread struct thread *me __attribute__((tls_model("initial-exec")));
extern struct thread nobody __attribute__((visibility("hidden")));

struct runtime {
	bool on;             /* recording was asked for and has not ended */
	bool controlled;     /* else free mode */
	bool one_thread;     /* its threads are contexts of one kernel thread: one_thread.h */
	bool filter;         /* accesses that are redundant for happens-before are left out, */
	bool filter_wcp;     /* or those redundant for WCP and its kin */
	bool filter_commute; /* or all plain ones, */
	bool filter_variables; /* or those of bytes that the thread has accessed, */
	bool shadow;           /* and the rest is compared here (log/shadow.h), */
	bool sections;         /* but for those that EDC needs, */
	bool sample;           /* or those outside of the sample */
	bool replay;
	bool clocked;           /* a debugger follows: replay/clock.c */
	enum log_memory memory; /* not LOG_SC: controlled mode */
	enum inputs inputs;
	bool values;
	bool missing;        /* calls into code that is not instrumented are recorded, */
	bool reaching;       /* and the program has such code: allocations must be known */
	bool protects;       /* the program has made some memory unreadable */
	bool async_handlers; /* controlled: the program handles signals that come at any time */
	bool timers;         /* it has set a timer that sends one */
	bool full;
	bool waiting; /* for --start-at's function: no accesses yet */
	bool watched; /* calls are watched: `waiting`, or bind lines exist */
	uintptr_t start_low, start_high;
	uint32_t thread_count; /* numbers in use, those of the plan's threads from the start on
	                        */
	bool several;          /* a second thread has been created */
	unsigned unjoined;     /* threads beside the first one that no thread has joined */
	unsigned forks;        /* made since then: child_brought */
	uint64_t repeated;     /* of retired threads */
	/* controlled mode: lives of blocks that have ended, and writes of atomics */
	uint64_t lives;
	struct log_header *header;
	uint64_t random;
	uintptr_t bind_low, bind_size; /* the library of the bind lines */
	uintptr_t cxx_low, cxx_high;   /* the C++ library */
	uintptr_t glib_low, glib_high;
	uintptr_t gomp_low, gomp_high; /* GCC's library of OpenMP */
	uintptr_t libc_low, libc_high, ld_low, ld_high, own_low, own_high;
	/* in a cache line of its own, as all threads of free mode write it */
	volatile uint64_t ticket __attribute__((aligned(64)));
	uint64_t messages __attribute__((aligned(64)));
	struct stream stream; /* controlled mode */
	cpu_set_t *affinity;
	volatile int poke; /* a signal handler has changed a real lock or semaphore */
	/* the large ones last: a copy of the process (serve.c) pays for each page it writes to
	 */
	struct log_config config;
	struct thread *threads[MAX_THREADS]; /* NULL: none, or retired */
};
extern struct runtime rt;

/* Do pipes and sockets of the process to itself work for real? Not where inputs are
 * replayed. */
ALWAYS_INLINE bool messages_real(void)
{
	return rt.inputs != INPUTS_NONE && rt.inputs != INPUTS_GIVEN;
}

/* A message that the thread is about to send. */
static inline uint64_t message_new(const struct thread *t)
{
	uint64_t planned = unlikely(rt.replay) ? replay_message(t, LOG_SND) : 0;
	return planned ? planned : __atomic_add_fetch(&rt.messages, 1, __ATOMIC_RELAXED);
}

static inline uint64_t next_random(void) /* xorshift64* */
{
	rt.random ^= rt.random >> 12;
	rt.random ^= rt.random << 25;
	rt.random ^= rt.random >> 27;
	return rt.random * 0x2545f4914f6cdd1dull;
}

/* Are repeated looks at an atomic (sched/polls.c) counted rather than recorded?  Exploration
 * wants every look recorded, as the next may see another value. */
ALWAYS_INLINE bool looks_count(void)
{
	return rt.config.strategy != STRATEGY_FIRST && !(rt.config.flags & LOG_EXPLORE) &&
	       rt.memory == LOG_SC;
}
/* Does the strategy decide before each event? */
ALWAYS_INLINE bool sched_each_event(void)
{
	return rt.config.strategy >= STRATEGY_POS;
}

/* ---- invoke.c ---- */
/* `made`: the call made the object. */
void invoke_record(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                   const char *type, const void *object, const char *method,
                   const char *values);

/* ---- bind.c ---- */
/* Makes a function begin with a jump to another; the bytes there are lost.  Before any
 * thread but this one may run it. */
bool entry_jump(uint8_t *entry, const void *target);

/* ---- processes.c ---- */
void processes_init(void);
/* Before a call that starts another process, by whatever way: what it brings to other threads
 * comes after this. */
void child_starts(struct thread *t, uintptr_t pc);
void rt_happened(enum log_happened fact); /* told in the log's header */
/* The effects of a forked process (it posts a semaphore, writes to a pipe, ends) come after
 * the fork: the thread receives a message from each fork so far, once. That may order more than
 * the program does, never less. `at`: an object in memory that such a process may share; NULL:
 * the effect is known to be such a process's. */
void child_brought(struct thread *t, const volatile void *at, uintptr_t pc);
/* In a child process, before a call that locks the mutex: tells the parent's log if another
 * thread of the parent held it when the child was made, so that the call never returns. */
void child_locks(const pthread_mutex_t *m, uintptr_t pc);
/* In a child process, after it created a thread: tells the parent's log. */
void child_created_thread(void);
/* In a child process, another program has not taken its place: it ends, with this status. */
void child_ended(int status);
/* ---- forked.c ---- */
void forked_init(char **env);
/* Before a fork: what a child needs to go on with the recording. */
void forked_prepare(const struct thread *t);
/* After it, in the parent, and in the child: is the child recorded? */
void forked_parent(void);
bool forked_child(void);
/* Is this such a child, and has made nothing but the program that it is about to become? */
bool forked_to_exec(void);

bool rt_other_process(void); /* Is this a process that only shares our memory? */
/* The program's syscall() makes a process: true, and the kernel's answer, in both processes. */
bool process_syscall(struct thread *t, long number, long a[6], long *result);

/* ---- init.c, libraries.c ---- */
void rt_finish(enum log_status status); /* the recording is left in this state */
/* Called by the first constructor, before any other may call one of the functions that the C
 * library has in several versions. */
void forwards_init(void);

/* serve.c: wait for requests of exploration; returns in each child, with the config of its run
 * in `rt`.  `fd`: where the config was. */
void serve(int fd);
/* The runtime has begun, and code of the program may follow: returns in each copy of a process
 * that settles here (LOG_SETTLE_EARLY), and at once in any other. */
void serve_early(void);
/* init.c: in a copy of a settled process (serve.c): initialises the parts that depend on the
 * run, from its config in the room. */
bool begin_again(int room);

#include "engine/record/runtime/log/emit.h"

/*
 * The beginning of an interposed function: the thread when its events are to be recorded,
 * else NULL: then the function only calls the real one. The value of the thread's last write
 * is filled in.
 */
ALWAYS_INLINE struct thread *recording(void)
{
	struct thread *t = me;
	if (unlikely(t->gate) && !hook_slow(t))
		return NULL;
	if (unlikely(rt.async_handlers))
		handlers_run(t);
	log_value(t);
	return t;
}
/* Brackets a call into code that may come back through interposed functions. */
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
