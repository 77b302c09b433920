/*
 * layout.h - the recording log, written by the runtime in the recorded program and read by
 * import.c, which share nothing else.
 *
 * The file is a page of struct log_header, then chunks of LOG_CHUNK bytes. A chunk is filled
 * with records in memory shared with `heddle record`, and written when full: whatever ends the
 * program (SIGKILL, abort, _exit) loses no record, as the parent writes the last chunk; if both
 * are killed, written chunks remain. A record's first word is stored last, and its tag is never
 * 0: the first 0 tag ends a chunk.
 *
 * A record has a few 64-bit words. The first is
 *     tag (8 bits) | flags << 8 (8 bits) | pc << 16 (48 bits)
 * with the hook's return address pc, so that pc - 1 is inside the recorded instruction. The
 * rest depends on the tag; see LOG_TAGS. Increase LOG_VERSION with every change.
 *
 * Most records are short: one word with the top bit set, unlike first words. Writer and reader
 * keep a table of LOG_SITES sites, indexed by log_site_slot and empty at the begin of each
 * chunk. A long READ, WRITE, AREAD, AWRITE or ENTER sets its site's entry: log_site_key,
 * address and value (0: unknown; the size of a range). A short record repeats the entry with
 * differences:
 *     1 << 63 | slot << 49 | value difference << 25 (24 bits) | address difference (25 bits)
 * both with the lowest difference as the lowest field (LOG_OFFSET_BIAS, LOG_DELTA_BIAS). Below
 * the values' are LOG_DELTA_UNKNOWN: the value is unknown, LOG_DELTA_FOLLOWS: it is the next
 * word. A record FAR before it replaces the entry's address.
 * A write's value is added after its record was written. ENTER has the number of frames
 * left before (LEAVE) instead of the address difference.
 *
 * Free mode and LOG_FILTER, where plain accesses have no values, put two records into one word,
 *     3 << 62 | the second << 31 | the first, each: slot << 18 | address difference (18 bits)
 * with LOG_HALF_NONE as the second until it is written. Value or size do not differ. LEAVE has
 * a site, too, with key LOG_LEAVE, and its count instead of the address difference.
 */
#ifndef HEDDLE_LAYOUT_H
#define HEDDLE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define LOG_MAGIC       "HDLREC\r\n"
#define LOG_VERSION     36
#define LOG_HEADER      4096u
#define LOG_CHUNK       (1u << 20)
#define LOG_BUFFERS     1024
#define LOG_CHUNK_MAGIC 0x4b434448u
#define LOG_FRAME_MAGIC 0x5a434448u
#define LOG_ALL_THREADS UINT32_MAX

struct log_header {
	char magic[8];
	uint32_t version;
	uint32_t chunk_size;
	uint32_t flags;      /* enum log_flag */
	uint32_t status;     /* enum log_status */
	uint64_t chunks;     /* number begun */
	uint64_t first_kept; /* --last: the sequence number of the oldest chunk still there */
	uint64_t repeated;   /* free mode, LOG_FILTER: omitted accesses; set at the end */
	uint32_t pid;
	uint32_t stopped; /* replay: 1 when both threads stand before the pair */
	uint32_t stolen;  /* number of times the watchdog took the token away */
	uint32_t error;   /* errno of LOG_FULL */
	uint64_t steps;   /* accesses and scheduling points so far; for pct */
	uint64_t seed;
	uint64_t replayed; /* replay: number of plan events followed */
	uint64_t filled;   /* a room: bytes of the chunk, at the program's end */
	uint32_t holder;   /* controlled mode: the thread that ran last */
	uint32_t sample;   /* LOG_SAMPLE: one window of accesses in this number is recorded */
	/* Begin of the main stack, and lowest of its argument strings: both at random distances
	 * from the stack's end. 0: unknown. */
	uint64_t stack_begin, arguments;
	uint32_t outcome;  /* enum log_status: the program's ending, even after the recording
	                    * stopped */
	uint32_t misuses;  /* bit set of enum log_misuse; also after the recording stopped */
	uint32_t happened; /* bit set of enum log_happened */
	uint32_t memory;   /* enum log_memory */
	/* Controlled mode: number of chunks that a reader of the run has begun to read; the
	 * program gets at most LOG_AHEAD further. 0: no reader. Written by the parent. */
	uint64_t taken;
	/* The first child process that waits for a mutex that a thread held when it was made,
	 * and that is not in the child: the call's return address (0: none), the mutex, and the
	 * thread that made the child. Written by the child. */
	uint64_t child_pc, child_lock;
	uint32_t child_of;
	/* A run with config.recorder: its end, as far as the runtime sees it, log_ended_by; 0:
	 * not at all. With LOG_AWAITS: it has ended well and waits (1) for the exit status that
	 * the recorder gives it, + 1. */
	uint32_t ended, awaits, answer;
	/* A forked child that is recorded becomes another program, before it has made a thread:
	 * nobody asks for its recording. */
	uint32_t unwanted;
};
enum { LOG_AHEAD = 8 };
/* config.recorder: so many chunks of the log stay in the file, for children by fork. */
enum { LOG_KEPT_CHUNKS = 64 };
/* The values of `ended`: an exit status, or a signal. */
static inline uint32_t log_ended_by(int status, int signal)
{
	return signal ? 512u + (uint32_t)signal : 256u + (uint32_t)(status & 255);
}

/*
 * Replay under a debugger that goes back (LOG_HOLD_CLOCK): a clock by which a repeated run is
 * stopped at the same place. In the header's page, from LOG_DEBUG on. It ticks with each
 * event and each beginning of a thread; between two ticks only the first one's thread runs
 * the program's own code.
 */
enum { LOG_DEBUG = 1024, LOG_DEBUG_THREADS = 512 };
struct log_debug {
	uint64_t clock;
	uint64_t stop_at;   /* the clock at which its thread traps (int1); 0: never */
	uint64_t pc;        /* of the last tick: the address in the program where the thread
	                     * continues */
	uint64_t main;      /* address of the program's main */
	uint64_t pair;      /* the clock when both threads stood before the pair; 0: not yet */
	uint32_t thread;    /* of the last tick */
	uint32_t ready;     /* waits for `go`, before any code of the program */
	uint32_t go;        /* set by the parent */
	uint32_t first;     /* the thread of the pair that goes first: 1 or 2; set by the
	                     * parent */
	uint32_t stop_pair; /* trap at the pair; set by the parent */
	uint32_t trap;      /* enum log_trap: the reason for the last trap */
	int32_t tid[LOG_DEBUG_THREADS]; /* by the runtime's number; 0: none (yet) */
};
enum log_trap { TRAP_NONE, TRAP_CLOCK, TRAP_PAIR, TRAP_END };
/* config.hold: hold at the pair, for a debugger that is attached there; or by the clock. */
enum { LOG_HOLD_PAIR = 1, LOG_HOLD_CLOCK = 2 };
_Static_assert(sizeof(struct log_header) <= LOG_DEBUG &&
                       LOG_DEBUG + sizeof(struct log_debug) <= LOG_HEADER,
               "both in the header's page");

enum log_happened {
	LOG_FORKED = 1,   /* a child process was started, which is not recorded */
	LOG_FILTERED = 2, /* system calls were given up, by a seccomp filter */
	LOG_STRICT = 4,   /* system calls were given up by strict mode, which ended the
	                   * recording */
	LOG_REUSED = 8,   /* LOG_EXPLORE: too much was freed to be kept from reuse */
	LOG_REFUSED = 16, /* LOG_ONE_THREAD: the run needs kernel threads */
	/* Accesses are missing: of threads that the runtime did not see start, or of signal
	 * handlers inside blocking calls. */
	LOG_UNKNOWN_THREAD = 32,
	LOG_UNHELD = 64,
	LOG_CHILD_THREADS = 128, /* a child process created a thread. Written by the child */
	LOG_CLEARED = 256, /* with config.recorder: a program was started without the variable
	                    * by which it would be recorded. Also written by children */
	LOG_CHILD_ENDED = 512, /* a forked child ended without becoming another program. Written
	                        * by the child */
};

enum log_flag {
	LOG_CONTROLLED = 1, /* one stream, exact order and values */
	LOG_ASLR_OFF = 2,   /* addresses are the same in every run */
	LOG_VALUES = 4,
	LOG_REPLAY = 8,
	LOG_COMPRESSED = 16, /* chunks may be frames, with space for both */
	/* No random switches inside invocations; ends of threads are recorded. */
	LOG_EXPLORE = 32,
	LOG_KEEP_INPUTS = 64, /* record input */
	LOG_MISSING = 128,    /* record calls of uninstrumented code */
	LOG_SERVE = 256,      /* fork server: runs are forked from this process */
	LOG_SETTLE = 512,     /* a run that becomes a fork server, at the beginning of main */
	/* Waits for futexes are events (sync/futex.c): in explorations, and where one of their
	 * runs is replayed.  A run along a recording without such events has none either.  When
	 * the handlers of signals run is a choice of the plan there (outside/held.c). */
	LOG_FUTEXES = 1024,
	/* Accesses that are redundant for the analysis are left out (runtime/log/access.h),
	 * and plain ones have no values: for happens-before, for WCP and its kin, or for RD2,
	 * which needs no plain access. */
	LOG_FILTER_HB = 2048,
	LOG_FILTER_WCP = 4096,
	LOG_FILTER_COMMUTE = 8192,
	/* With LOG_SETTLE: in copies of the process, threads are contexts of one kernel thread
	 * (runtime/core/one_thread.h). */
	LOG_ONE_THREAD = 16384,
	/* As LOG_FILTER_HB, and plain accesses outside of the sample are left out
	 * (runtime/core/sampled.c). */
	LOG_SAMPLE = 32768,
	/* With LOG_SETTLE: the run stops when the runtime has begun, before the program's
	 * constructors, in place of the beginning of main. */
	LOG_SETTLE_EARLY = 65536,
	/* Notes with what threads are given and what comes of them (LOG_START_NOTE), to find
	 * those that are interchangeable. */
	LOG_ALIKE = 131072,
	/* As LOG_FILTER_HB, but for the bytes that race alone, not each pair of places. */
	LOG_FILTER_VARIABLES = 262144,
	/* With LOG_FILTER_VARIABLES and LOG_CONTROLLED: plain accesses are compared in the
	 * program, and only pairs of them recorded (runtime/log/shadow.h). */
	LOG_SHADOW = 524288,
	/* With LOG_SHADOW: and those that EDC needs. */
	LOG_SECTIONS = 1048576,
	/* With config.recorder: when the program has ended well, the recorder says with which
	 * status. */
	LOG_AWAITS = 2097152,
	LOG_FILTER = LOG_FILTER_HB | LOG_FILTER_WCP | LOG_FILTER_COMMUTE |
	             LOG_FILTER_VARIABLES | LOG_SAMPLE,
};

/* Notes of LOG_ALIKE, decimal: "THREAD FUNCTION ARGUMENT" at each creation, "THREAD VALUE"
 * where a join takes the thread's value. */
#define LOG_TAKEN_NOTE  "taken" /* "all ADDRESS" or "else ADDRESS": struct record_taken */
#define LOG_START_NOTE  "thread-start"
#define LOG_RESULT_NOTE "thread-result"
/* Note with an operation that used memory of the program's unseen: TRACE_UNSEEN_CALLS_NOTE. */
#define LOG_UNSEEN_NOTE "unseen-call"
/* In an exploration: a child process, and a thread, "thread number", by the kernel's number,
 * which is another one in each run. The first thread's is the process's, too. */
#define LOG_CHILD_NOTE  "child"
#define LOG_NUMBER_NOTE "kernel-number"

enum log_status {
	LOG_RUNNING, /* no regular exit so far (killed, or _exit) */
	LOG_EXITED,  /* through exit() */
	LOG_FULL,    /* the disk was full, or the limit of --max-size was reached */
	LOG_LIMIT,
	LOG_DEADLOCK, /* ended by the runtime: no thread could run */
	LOG_DIVERGED, /* replay: left the plan; see LOG_LEFT_PLAN */
	LOG_EXECED,   /* became another program */
	LOG_CUT,      /* exploration: ended by the runtime, after too many steps */
	LOG_STARVED,  /* replay: ended by the runtime: recorded input is used up */
};

struct log_chunk {
	uint32_t magic;
	uint32_t thread; /* free mode: the records' thread; else LOG_ALL_THREADS */
	uint64_t sequence;
};

/* LOG_COMPRESSED: every chunk in the file is followed by equal space for its frame: the chunk
 * compressed by zstd. The parent writes the frame when the chunk is complete, which then
 * becomes a hole. If both are complete they are equal. */
struct log_frame {
	uint32_t magic;
	uint32_t thread; /* as in the chunk */
	uint64_t sequence;
	uint64_t bytes; /* of zstd's, which follow */
};

/* File offset of the slot-th chunk; its frame is LOG_CHUNK after it. */
static inline uint64_t log_chunk_offset(uint32_t flags, uint64_t slot)
{
	return LOG_HEADER + slot * (flags & LOG_COMPRESSED ? 2 : 1) * LOG_CHUNK;
}

/*
 * LOG_TAG(name, words after the first or 0 when it varies, is it an event of the trace?)
 *
 * READ .. AWRITE: word 1 is address (48 bits) | size code << 48 (3 bits) | small value << 51
 * (13 bits); with LOG_VALUE the value follows in a word of its own, with LOG_SMALL the small
 * value is it, with neither it is not known.  Size code c < 5 means 1 << c bytes; LOG_RANGE
 * means that the next word is the size (and there is no value).
 * RMW: word 1 as above, then old and new value.
 * Flags of accesses: C11 order + 1 (1 rlx, 2 acq, 3 rel, 4 acq_rel, 5 seq_cst) in the low
 * three bits, as in enum memory_order_kind.
 */
#define LOG_TAGS(TAG) \
	TAG(NOTHING, 0, 0) \
	TAG(READ, 0, 1) \
	TAG(WRITE, 0, 1) \
	TAG(AREAD, 0, 1) \
	TAG(AWRITE, 0, 1) \
	TAG(RMW, 3, 1) \
	TAG(FENCE, 0, 1) \
	TAG(ACQ, 1, 1) /* word 1 of ACQ .. TAKE: address of the object */ \
	TAG(REL, 1, 1) \
	TAG(RACQ, 1, 1) \
	TAG(RREL, 1, 1) \
	TAG(TRYFAIL, 1, 1) \
	TAG(TAKETRYFAIL, 1, 1) \
	TAG(DESTROY, 1, 1) \
	TAG(WAIT, 1, 1) \
	TAG(WAKE, 1, 1) \
	TAG(SIGNAL, 1, 1) \
	TAG(BROADCAST, 1, 1) \
	TAG(ARRIVE, 1, 1) \
	TAG(DEPART, 1, 1) \
	TAG(POST, 1, 1) \
	TAG(TAKE, 1, 1) \
	TAG(FORK, 1, 1) /* thread */ \
	TAG(JOIN, 1, 1) \
	TAG(SND, 1, 1) /* message: log_message */ \
	TAG(RCV, 1, 1) \
	TAG(ALLOC, 2, 1) /* address, size */ \
	TAG(FREE, 1, 1)  /* address */ \
	TAG(ENTER, 1, \
	    0) /* pc: after the call; word 1: a pc inside the function, or LOG_CALL_*, and */ \
	       /* << 48 where its frame begins: see LOG_FRAME_UNIT */ \
	TAG(LEAVE, 0, 0)     /* pc: how many frames */ \
	TAG(SWITCH, 0, 0)    /* pc: the thread of the next records */ \
	TAG(TICKET, 0, 0)    /* pc: free mode, the next record's place in the order */ \
	TAG(THREAD, 5, 0)    /* pc: thread; parent, low and high end of its stack, argument, \
	                      * thread pointer (0: not yet known) */ \
	TAG(SEMAPHORE, 2, 0) /* or a barrier: address, count; flags: LOG_MADE */ \
	TAG(INIT, 1, 0)      /* address: begin of a new object; pc: of an initialisation \
	                      * that is allowed only before others and after a destruction, or 0 */ \
	TAG(MODULE, 0, 0)    /* load bias, low and high address; how far below each thread's \
	                      * pointer its thread-local variables begin, and their bytes \
	                      * (0: none, or elsewhere); length; path NUL build-id */ \
	TAG(NOTE, 0, 0)      /* length; key NUL value */ \
	TAG(CLOCK, 2, 0)     /* flags: which clock; seconds, nanoseconds */ \
	TAG(RANDOM, 0, 0)    /* length; bytes */ \
	TAG(INPUT, 0, 0)     /* pc: length of the bytes that follow: see struct log_input */ \
	TAG(DROP, 0, 0)      /* --last: state left by earlier chunks follows */ \
	TAG(FAR, 0, 0)    /* pc: an address, flags: its bit 47; the next record, a short one, \
	                   * differs from it and    not from the last address of its site */ \
	TAG(REPEAT, 0, 0) /* pc: number of immediate repetitions of its thread's last event */ \
	/* flags: LOG_MADE, LOG_LEFT */ \
	TAG(CALL, 0, 1)  /* object; length; type NUL method NUL arguments as text NUL */ \
	TAG(RET, 0, 1)   /* the same with results */ \
	TAG(GIVEN, 2, 0) /* address, size: memory allocated by the C library for itself */ \
	/* MISS: the function (0: the program itself); length in bytes; struct log_reached; \
	 * flags: enum log_miss */ \
	TAG(MISS, 0, 0) \
	TAG(BACK, 1, 0)   /* the function */ \
	TAG(MISUSE, 1, 0) /* flags: enum log_misuse; the address of the object */ \
	/* Facts beside the events. BLOCKED, of a deadlock: pc: thread; flags: enum log_wait; \
	 * its object (of a join: unused), the number of the holder, or of the thread to be \
	 * joined, or LOG_ALL_THREADS; pc of the call; number of the channel, or of the \
	 * message that ends the once-function. */ \
	TAG(BLOCKED, 4, 0) \
	/* Replay: pc: thread; flags: enum log_divergence; step of the plan, pc of the event \
	 */ \
	TAG(LEFT_PLAN, 2, 0) \
	/* Replay, at the pair: pc: which of it, 0 or 1; length; the call stack, innermost \
	 * frame first: struct log_stopped */ \
	TAG(STOPPED, 0, 0) \
	TAG(ENDED, 0, 0)  /* exploration: pc: a thread that came to its end */ \
	TAG(ENDS, 0, 0)   /* exploration: pc: a thread that stood before the program's end */ \
	TAG(CALLED, 0, 0) /* exploration: pc: a function that is not instrumented */ \
	/* Before a signal that ends the program: pc: thread; flags: LOG_FAILED_READ; length; \
	 * address, or 0; a pc in the thread's function, or 0; words of its stack that may be \
	 * return addresses */ \
	TAG(CRASH, 0, 0) \
	/* Beyond sequential consistency (log_config.memory). FLUSH, of a store in its \
	 * thread's buffer: it arrives in memory; the number of earlier events of its thread. \
	 * READS, AFTER: of the next event of the same thread, a read that does not see the \
	 * last store to its place, and a store that is not the last in modification order: \
	 * pc: the thread of the store that it reads, or that it stands after; its number. \
	 * LOG_ALL_THREADS: the initial value. STATE, exploration, of the next event of the \
	 * same thread, an atomic access: a number for the state that the thread makes it in; \
	 * a signal: the thread that it wakes, + 1; of a once-function: where it is. */ \
	TAG(FLUSH, 1, 0) \
	TAG(READS, 1, 0) \
	TAG(AFTER, 1, 0) \
	TAG(STATE, 1, 0) \
	/* Accesses compared in the program (LOG_SHADOW; runtime/log/shadow.h). CONTEXT: pc: \
	 * its number; its caller's or 0, pc after the call, the function and its frame as in \
	 * ENTER. POINT: pc: its number; a pc, tag << 48 and flags << 56 of an access. \
	 * SEGMENT: pc: its number; it begins here. CONFLICT: flags: 1: the thread's last \
	 * event is the second access; the first one's segment and context << 32; its point \
	 * and the second one's \
	 * << 32; the second one's context; log_conflict_memory. USED, of the block that the \
	 * thread is about to free: segment and context << 32; point; log_conflict_memory. \
	 * TOUCH: pc: address; flags: 1: a write, 2: a late one, of the thread's sections that \
	 * are older than the segment; size, segment << 32: an access inside of critical \
	 * sections. */ \
	TAG(CONTEXT, 3, 0) \
	TAG(POINT, 1, 0) \
	TAG(SEGMENT, 0, 0) \
	TAG(CONFLICT, 4, 0) \
	TAG(USED, 3, 0) \
	TAG(TOUCH, 1, 0)

/* Object that a blocked thread waits for: enumerator, word for people. */
#define LOG_WAITS(W) \
	W(NOTHING, "nothing") \
	W(MUTEX, "mutex") \
	W(READ_LOCK, "rwlock") \
	W(WRITE_LOCK, "rwlock") \
	W(CONDITION, "condition") \
	W(BARRIER, "barrier") \
	W(SEMAPHORE, "semaphore") \
	W(THREAD, "the end of") \
	W(ONCE, "once") \
	W(SLEEP, "sleep") \
	W(FILE, "file") /* descriptors */ \
	W(SPIN, "spin lock") \
	W(FUTEX, "futex")   /* a word; may end at any time */ \
	W(LOOK, "a change") /* of memory or a lock at which it looks again and again */ \
	W(LOOP, "nothing")  /* it is in a loop that reads nothing and has no end */
enum log_wait {
#define W(name, word) FOR_##name,
	LOG_WAITS(W)
#undef W
	        LOG_WAIT_COUNT
};

/* Why a replay could not follow its plan. */
enum log_divergence {
	DIVERGED_ORDER,     /* the thread came before another's step */
	DIVERGED_OPERATION, /* its event was of another kind */
	DIVERGED_PLACE,     /* its event was at another place of the code */
	DIVERGED_BLOCKED,   /* its step was next, but it was blocked */
	DIVERGED_SPINS,     /* its step was next, but it ran on without an event */
	DIVERGED_INPUT,     /* it asked for other input: note "input" */
	DIVERGED_ENDED,     /* its step was next, but it had ended */
	DIVERGED_UNBORN,    /* the next step's thread had not been created */
	LOG_DIVERGENCE_COUNT
};

enum { LOG_FAILED_READ = 1 }; /* CRASH: by a read of the runtime before the program's */

struct log_stopped {
	uint64_t function, call; /* pcs: in the function, after the call */
};

/* Kinds of misuse: enumerator, word in the trace. */
#define LOG_MISUSES(M) \
	M(UNLOCK_BY_OTHER, "unlock-by-other") \
	M(UNLOCK_NOT_HELD, "unlock-not-held") \
	M(READ_UNLOCK, "read-unlock") \
	M(DOUBLE_LOCK, "double-lock") \
	M(FORK_HELD, "fork-held") /* by the child; found on import */ \
	M(LOCK_HELD, "lock-held") \
	M(DESTROY_LOCKED, "destroy-locked") \
	M(DESTROY_WAITED, "destroy-waited") \
	M(USE_DESTROYED, "use-destroyed") \
	M(NEVER_INITIALISED, "never-initialised") \
	M(INIT_TWICE, "init-twice") /* found on import */ \
	M(INVALID_VALUE, "invalid-value") \
	M(INVALID_TIME, "invalid-time") \
	M(POST_OVERFLOW, "post-overflow") \
	M(JOIN_SELF, "join-self") \
	M(JOIN_ENDED, "join-ended") \
	M(DETACH_ENDED, "detach-ended") \
	M(CANCEL_ENDED, "cancel-ended") \
	M(IMPOSSIBLE_SIZE, "impossible-size") \
	M(INVALID_ALIGNMENT, "invalid-alignment")
enum log_misuse {
#define M(name, word) MISUSE_##name,
	LOG_MISUSES(M)
#undef M
	        LOG_MISUSE_COUNT
};

enum log_tag {
#define TAG(name, words, visible) LOG_##name,
	LOG_TAGS(TAG)
#undef TAG
	        LOG_TAG_COUNT
};

/* Data that a missing call may reach: a heap block (its begin), else an address of static data,
 * a mapping or a stack; and the number of bytes searched for further pointers. */
struct log_reached {
	uint64_t place; /* address | bit set of the arguments that lead to it << 48 */
	uint64_t bytes;
};
#define LOG_REACHED_SHIFT 48
enum log_miss {
	LOG_MISS_AGAIN = 1, /* continues after a callback */
	LOG_MISS_CUT = 2,   /* the search was cut */
};

/* Threads have numbers below this. */
#define LOG_THREADS    ((1u << 20) - 1)
/* And those of segments, which the log has in a row from 1 on (LOG_SEGMENT). */
#define LOG_SEGMENTS   (1u << 31)
#define LOG_TOUCH_MOST (1u << 30) /* bytes of a TOUCH */

/* A frame's CFA (stack pointer before the call): distance below the high end of the stack in
 * units, rounded down, plus one; 0: unknown. */
#define LOG_FRAME_UNIT  16u
#define LOG_FRAME_SHIFT 48
#define LOG_FRAME_LIMIT 65535u

/* Calls of the C library with frames of their own, "poll@libc": where threads sleep or wait for
 * input, or handlers run. Their numbers are no addresses. */
/* clang-format off */
#define LOG_CALLS(C) \
	C(sleep) C(usleep) C(nanosleep) C(clock_nanosleep) \
	C(poll) C(ppoll) C(select) C(pselect) C(epoll_wait) C(epoll_pwait) \
	C(read) C(readv) C(recv) C(recvfrom) C(recvmsg) C(accept) C(accept4) \
	C(sigwait) C(sigwaitinfo) C(sigtimedwait) C(signal) C(exit) C(_exit) C(_Exit) C(quick_exit)
/* clang-format on */
enum log_call {
	LOG_CALL_none,
#define C(name) LOG_CALL_##name,
	LOG_CALLS(C)
#undef C
	        LOG_CALL_COUNT
};

/*
 * Input of a program, and results of calls on its environment, in the order of a thread: a
 * struct log_input, followed by its parts (at most three) without gaps. The first LOG_INPUT
 * begins with the struct; the rest follows in further ones with LOG_MORE.
 *
 * LOG_INPUTS(name of the call, its need: enum log_asks)
 */
/* clang-format off */
#define LOG_INPUTS(C) \
	C(descriptor, STATES) /* no call: this inherited descriptor is from outside */ \
	C(signal, STATES)     /* no call: `result` arrived, after `ordinal` events */ \
	C(read, TAKES) C(readv, TAKES) C(recv, TAKES) C(recvfrom, TAKES) C(recvmsg, TAKES) \
	C(accept, TAKES) C(accept4, TAKES) \
	C(poll, WAITS) C(ppoll, WAITS) C(select, WAITS) C(pselect, WAITS) \
	C(epoll_wait, WAITS) C(epoll_pwait, WAITS) \
	C(write, GIVES) C(writev, GIVES) C(send, GIVES) C(sendto, GIVES) C(sendmsg, GIVES) \
	C(sendfile, GIVES) \
	C(bind, STATES) C(listen, STATES) C(connect, STATES) C(shutdown, STATES) \
	C(getsockname, STATES) C(getpeername, STATES) C(getsockopt, STATES) \
	C(setsockopt, STATES) C(ioctl, STATES) C(epoll_ctl, STATES) \
	C(socket, MAKES) C(open, MAKES) C(pipe, MAKES) C(socketpair, MAKES) C(eventfd, MAKES) \
	C(epoll_create, MAKES) C(timerfd_create, MAKES) C(signalfd, MAKES) \
	C(inotify_init, MAKES) C(memfd_create, MAKES) C(dup, MAKES) \
	C(sigwait, WAITS)
/* clang-format on */
enum log_asks {
	LOG_STATES, /* nothing, or a state */
	LOG_TAKES,  /* bytes, or a connection */
	LOG_WAITS,  /* until input is available */
	LOG_GIVES,  /* for output */
	LOG_MAKES,  /* a descriptor, by number */
};
enum log_input_call {
#define C(name, asks) LOG_INPUT_##name,
	LOG_INPUTS(C)
#undef C
	        LOG_INPUT_COUNT
};
enum { LOG_MORE = 1 }; /* of LOG_INPUT */
/* `extra` of open: a FIFO whose other end is outside; a file that the kernel makes up. */
enum { LOG_FIFO = 1, LOG_KERNEL_FILE };
enum { LOG_PARTS = 3 };
enum log_input_flag {
	LOG_BECAME = 1, /* a wait that began with internal descriptors only */
	LOG_TAKEN = 2,  /* replay: given out of order */
	LOG_OWN = 4,    /* a datagram sent by the process to itself */
};
struct log_input {
	uint32_t thread;
	uint8_t call, flags; /* enum log_input_call, enum log_input_flag */
	uint16_t spare;
	int32_t fd, error; /* descriptor, or -1; errno if the result is negative */
	int64_t result;
	uint64_t ordinal;           /* number of earlier events of the thread */
	uint32_t length[LOG_PARTS]; /* of its parts, in bytes */
	uint32_t extra;             /* further result: a length, or flags */
};

#define LOG_RANGE 5u /* as size code: the size is a word of its own */

enum log_record_flag {
	LOG_ORDER_MASK = 7,
	LOG_VALUE = 8,
	LOG_SMALL = 16,
	LOG_VOLATILE = 32, /* EVENT_VOLATILE */
	LOG_SHARED = 32,   /* of TRYFAIL: EVENT_SHARED */
	LOG_HELD = 128,    /* of SND, RCV: EVENT_SHARED, a signal (outside/held.c) */
	LOG_TRY = 64,      /* of ACQ .. TAKE: EVENT_TRY */
	LOG_TIMED = 128,   /* of ACQ .. TAKE with LOG_TRY, TRYFAIL, TAKETRYFAIL: EVENT_TIMED */
	LOG_SUM = 64,      /* of RMW: it adds a number or takes one away */
	LOG_SECOND =
	        128, /* of WRITE: by a call that may have made a READ before it, as memcpy */
	LOG_SITE_FLAGS = LOG_ORDER_MASK | LOG_VOLATILE | LOG_SECOND, /* of a site's accesses */
	LOG_BEGINS = 32, /* of SND: begin of the operation that ends with this message number */
};

/* Fields of a message: its number; of a channel of the process alone that channel's number,
 * its room in pages (0: not known) and the number of bytes written. */
enum {
	LOG_MESSAGE_BITS = 32,
	LOG_CHANNEL_BITS = 12,
	LOG_PAGES_BITS = 8,
	LOG_BYTES_BITS = 12,
	LOG_CHANNELS = (1 << LOG_CHANNEL_BITS) - 1,
	LOG_CHANNEL_PAGES = (1 << LOG_PAGES_BITS) - 1,
};
enum log_channel_bytes {
	LOG_CHANNEL_CLOSED = 0,                         /* a writer has closed it */
	LOG_CHANNEL_SHARED = (1 << LOG_BYTES_BITS) - 1, /* others write to it from now on */
	LOG_CHANNEL_MOST = LOG_CHANNEL_SHARED - 1,      /* or more */
};

/* Further flags of ACQ .. TAKE. Where objects can be initialised without a call
 * (PTHREAD_MUTEX_INITIALIZER, constexpr constructors), destruction leaves a mark in the object
 * that disappears when it is overwritten. */
enum log_object_flag {
	LOG_DEAD = 8,    /* the mark was present at the operation */
	LOG_MARKED = 16, /* of DESTROY: the mark was written */
};

/* Addresses of objects without one: OpenMP's unnamed critical section, the lock of its atomics,
 * and from LOG_OMP_BARRIERS on team barriers at distance LOG_OMP_STEP. */
enum { LOG_OMP_CRITICAL = 8, LOG_OMP_ATOMIC = 16, LOG_OMP_BARRIERS = 64, LOG_OMP_STEP = 8 };
/* Variables of teams beside their barriers: distribution of work shares. */
enum { LOG_OMP_SHARES = 1 << 20 };
#define LOG_OMP_END   (1u << 20) /* of the objects; shares end at twice that */
/* Addresses for a futex whose waits are modelled, which no memory has: from the futex word's
 * address with this bit set on: the lock under which the kernel compares and sleeps, the
 * condition that sleepers wait for, a variable with their number. */
#define LOG_FUTEX_BIT (1ull << 47)
enum { LOG_FUTEX_LOCK, LOG_FUTEX_SLEEPERS, LOG_FUTEX_COUNT };
/*
 * In an exploration operations on channels (pipes, pairs of sockets, eventfds) are accesses of
 * a variable of the channel, which no memory has: the N-th that was made is at
 * LOG_CHANNEL_PLACES
 * + 8 * N, and further on by what it is. A call first asks, once for each channel that it is
 * about, before it waits, and then acts: an update where it changes what is in a channel, else
 * a read. The value says what: an operation, flags, two numbers.
 * runtime/outside/channel_steps.c writes them, explore/runs/channel_steps.c says what they do.
 */
#define LOG_CHANNEL_PLACES (LOG_FUTEX_BIT | 1 << 16)
enum log_channel_form {
	LOG_CHANNEL_PIPE,
	LOG_CHANNEL_SOCKET,
	LOG_CHANNEL_EVENTFD,
	LOG_CHANNEL_FORMS
};
enum { LOG_CHANNELS_OF_FORM = 40000 }; /* three times as many end in the first MB */
enum log_channel_op {
	LOG_CHANNEL_MAKES = 1, /* kind; large: an eventfd's count. The new value: the descriptor
	                        * that reads from it, above the address where the program has
	                        * its descriptors */
	LOG_CHANNEL_COPIES,    /* ends */
	LOG_CHANNEL_CLOSES,    /* ends; by a shutdown all copies of them */
	LOG_CHANNEL_READS,     /* asks. large: bytes at most */
	LOG_CHANNEL_WRITES, /* asks. small: bytes; large: number of their contents, or what is
	                     * added to an eventfd; 0: not to be compared */
	LOG_CHANNEL_POLLS,  /* asks */
	LOG_CHANNEL_ACTS,   /* large: the result, or -errno; of a poll whether any is ready */
};
enum log_channel_flag {
	LOG_CHANNEL_STREAM = 0, /* kinds */
	LOG_CHANNEL_PACKETS = 1,
	LOG_CHANNEL_COUNTER = 2,
	LOG_CHANNEL_SEMAPHORE = 3,
	LOG_CHANNEL_READER = 1, /* ends */
	LOG_CHANNEL_WRITER = 2,
	LOG_CHANNEL_ALL = 4,
	LOG_CHANNEL_AT_ONCE = 1, /* of what asks: it does not wait, or has a limit in time */
	LOG_CHANNEL_IN = 2,      /* of a poll: the events asked for */
	LOG_CHANNEL_OUT = 4,
	LOG_CHANNEL_HANGUP = 8,
	LOG_CHANNEL_WRITING = 16, /* it looks at the end that writes to the channel */
	LOG_CHANNEL_TIMED = 32,   /* with LOG_CHANNEL_AT_ONCE: it has a limit in time */
};
/* No value is an address. */
#define LOG_CHANNEL_VALUE(op, flags, small, large) \
	((uint64_t)(op) << 56 | (uint64_t)(flags) << 48 | (uint64_t)((small)&0xffffu) << 32 | \
	 (uint32_t)(large))
/* Addresses of what misuse may refer to beside objects: the heap, and thread N at N more than
 * LOG_THREAD_OBJECTS, where no memory is either: no futex lies below the first MB. */
enum { LOG_HEAP_OBJECT = 24 };
#define LOG_THREAD_OBJECTS LOG_FUTEX_BIT

#define LOG_PC_SHIFT     16
#define LOG_PC_BITS      47
#define LOG_ADDRESS_MASK ((1ull << 48) - 1)
/* Of CALL, SEMAPHORE: the call made a new object at the address. */
#define LOG_MADE         1
#define LOG_LEFT         2 /* RET: left by a jump, an exception or the thread's end */
#define LOG_SIZE_SHIFT   48
#define LOG_SMALL_SHIFT  51
#define LOG_SMALL_LIMIT  (1ull << 13)

/* Short records and their sites. */
#define LOG_SHORT            (1ull << 63)
#define LOG_SITE_BITS        13
#define LOG_SITES            (1u << LOG_SITE_BITS)
#define LOG_SLOT_SHIFT       49
#define LOG_DELTA_SHIFT      25
#define LOG_DELTA_BITS       24
#define LOG_OFFSET_BITS      25
/* Two records in a word. */
#define LOG_PAIR             (1ull << 62)
#define LOG_HALF_BITS        31
#define LOG_HALF_OFFSET_BITS 18
/* Fields of differences: the number added to a difference, and the highest field. */
#define LOG_OFFSET_BIAS      (1ull << (LOG_OFFSET_BITS - 1))
#define LOG_OFFSET_MOST      ((1ull << LOG_OFFSET_BITS) - 1)
#define LOG_DELTA_UNKNOWN    0ull
#define LOG_DELTA_FOLLOWS    1ull
#define LOG_DELTA_LOWEST     2ull /* the lowest difference's */
#define LOG_DELTA_BIAS       (1ull << (LOG_DELTA_BITS - 1))
#define LOG_DELTA_MOST       ((1ull << LOG_DELTA_BITS) - 1 - LOG_DELTA_LOWEST)
#define LOG_HALF_BIAS        (1ull << (LOG_HALF_OFFSET_BITS - 1))
#define LOG_HALF_NONE        ((1ull << LOG_HALF_OFFSET_BITS) - 1) /* no record */
#define LOG_HALF_MOST        (LOG_HALF_NONE - 1)

/* By slot; for ENTER: pc in the function, and begin of the frame. */
struct log_site {
	uint64_t key; /* 0: none yet */
	uint64_t address, value;
	/* Writer, accesses: the short record with fields of 0, except a READ whose value is
	 * recorded with LOG_DELTA_LOWEST, as that is known at once. */
	uint64_t word;
};
struct log_sites {
	struct log_site at[LOG_SITES];
};

/* A long record's first word without the flags of its value; their bits and that of LOG_TRY
 * hold the size code. */
static inline uint64_t log_site_key(uint64_t first, unsigned code)
{
	return (first & ~(uint64_t)((LOG_VALUE | LOG_SMALL) << 8)) |
	       (uint64_t)((code & 3) << 3 | (code & 4) << 4) << 8;
}
static inline unsigned log_site_code(uint64_t key)
{
	return (key >> 11 & 3) | (key >> 12 & 4);
}
/* Neighbours in the program are neighbours in the table, as return addresses of hooks are at
 * least 8 bytes apart; and few pages of it are used by a small program. Of a call that makes
 * two records each has a slot, or it would evict the other's; the second one's is far away, as
 * the next slot is often that of the next instruction. */
static inline unsigned log_pc_slot(uint64_t pc, unsigned flags)
{
	return ((pc >> 3) + (flags & LOG_SECOND ? LOG_SITES / 2 : 0)) & (LOG_SITES - 1);
}
static inline unsigned log_site_slot(uint64_t key)
{
	return log_pc_slot(key >> LOG_PC_SHIFT, key >> 8 & LOG_SECOND);
}

/* The runtime's configuration: a struct log_config in a memory file whose descriptor number is
 * in the environment variable HEDDLE_RECORD (constant length in every run). For replay followed
 * by the plan. */
#define LOG_ENVIRONMENT  "HEDDLE_RECORD"
/* A fork server's value of LD_BIND_NOW: symbols are looked up once, not in each run. */
#define LOG_BIND_NOW     "for heddle"
/* In the names of libraries made by interpose.c, which are no part of the program. */
#define LOG_BIND_LIBRARY "heddle-bind-"

/* FIRST is for exploration: the lowest runnable thread, without preemption. */
#define LOG_STRATEGIES(S) \
	S(RANDOM, "random") \
	S(PCT, "pct") \
	S(NOISE, "noise") \
	S(RR, "rr") \
	S(FIRST, "first") S(POS, "pos") S(SURW, "surw") S(TURNS, "turns") S(PAUSE, "pause")
enum log_strategy {
#define S(name, word) STRATEGY_##name,
	LOG_STRATEGIES(S)
#undef S
	        STRATEGY_COUNT
};

/* pause: seeds below this have a meaning (runtime/sched/sched_pause.c). */
enum { LOG_PAUSES = 8 };

/* surw: the events whose interleavings are to be equally likely: those of one place.
 * `weights`: the number of these that a thread (by its number) and its descendants have;
 * LOG_WEIGHTS and above share one. */
enum { LOG_WEIGHTS = 256 };
struct log_target {
	uint64_t place;
	uint32_t size;    /* bytes, or 1 for an object (a lock, ...); 0: no such event */
	uint32_t threads; /* number of weights */
	uint16_t weight[LOG_WEIGHTS];
};

/* turns: the thread goes on until it has made `until` events (visible ones: LOG_TAGS). */
enum { LOG_TURNS = 4096 };
struct log_turn {
	uint32_t thread;
	uint32_t until; /* UINT32_MAX: its end */
};

/* Memory models; the words are weak_model_words, trace/weak.h. */
enum log_memory { LOG_SC, LOG_TSO, LOG_RC11 };

/* Number of examined arguments of a missing call. A line "F NAME MASK" has a bit for each
 * argument that reaches everything, above these a bit for each that reaches its own block
 * only, and for each that reaches this and the blocks its words point to. */
#define LOG_ARGUMENTS 6

/* A call of an atomic operation in the program's own file: the parts of its thread's state
 * that are dead after it (debuginfo/dead.h). */
enum { LOG_DEAD_SITES = 512, LOG_DEAD_RANGES = 6 };
struct log_dead {
	uint32_t address;  /* return address, less the load bias; 0: end of the list */
	uint8_t registers; /* bits of rbx, rbp, r12 to r15 */
	uint8_t count;
	struct {
		uint16_t from, bytes; /* on the stack, from the stack pointer after the call
		                       * on */
	} range[LOG_DEAD_RANGES];
};

struct log_config {
	uint32_t version;
	uint32_t flags; /* enum log_flag */
	uint32_t strategy;
	uint32_t depth;  /* pct */
	uint32_t memory; /* enum log_memory; not sc: controlled mode only */
	uint32_t held;   /* pct: this thread + 1 runs only when no other can; 0: none */
	uint64_t seed;
	uint64_t steps; /* pct: approximate number of scheduling points; with LOG_EXPLORE the
	                 * bound after the plan (0: none) */
	struct log_target target; /* surw */
	uint32_t turn_count;      /* turns */
	uint32_t sample;          /* LOG_SAMPLE: as in the header */
	uint64_t max_bytes;       /* of the log; 0: no limit */
	uint64_t keep_bytes;      /* --last; 0: all */
	uint64_t watchdog_ms;
	char log[2048]; /* absolute path of the log */
	uint64_t start_low,
	        start_high; /* --start-at: the function, less the load bias; 0: at once */
	uint32_t had_preload, had_library_path;
	int32_t buffer;         /* descriptor of the shared chunks */
	uint32_t buffer_chunks; /* one, or in free mode (LOG_BUFFERS) one for each thread */
	/* -- replay */
	uint32_t plan_length;  /* struct log_step, after the config */
	uint32_t thread_count; /* struct log_thread, after the steps */
	uint32_t answer_count; /* struct log_answer (clocks), after the threads */
	uint32_t input_count;  /* struct log_input, by thread, after the answers */
	uint64_t input_bytes;  /* total bytes with parts, each padded to 8 bytes */
	uint32_t first;        /* the thread of the pair that goes first: 1 or 2; 0: stop
	                        * there */
	uint32_t pair[2];      /* threads of the pair; LOG_ALL_THREADS: none */
	uint32_t hold;         /* for a debugger: LOG_HOLD_PAIR, LOG_HOLD_CLOCK; or 0 */
	uint32_t poison;  /* the block freed by this step (less one) is filled with LOG_POISON
	                   * and not reused; 0: none */
	int32_t gate;     /* descriptor to read from while holding */
	int32_t recorder; /* the process that records it where that is not its parent; or 0 */
	uint32_t fill;    /* LOG_EXPLORE: the contents of memory that nothing was written to,
	                   * log_fill_byte; 0: as it comes */
	/* -- turns alone */
	struct log_turn turns[LOG_TURNS]; /* then the lowest thread, without preemption */
	/* -- what all runs of a fork server share: a copy of a settled process has it already */
	char missing[32768];                  /* LOG_MISSING: lines of the specifications;
	                                         runtime/missing/modules.c */
	struct log_dead dead[LOG_DEAD_SITES]; /* LOG_EXPLORE: by address */
	char preload[2048]; /* value of LD_PRELOAD before ours ("" for unset), to be restored */
	char library_path[2048];
};
/* Contents of fresh memory, by config.fill (1 or 2, which differ in each bit) and the place in
 * its page: of a heap block up to LOG_FILLED bytes (calloc has zeros), of a thread's stack
 * where its first frames are, as at place 0. */
enum { LOG_FILLED = 1 << 20, LOG_STACK_FILLED = 4096 };
static inline uint8_t log_fill_byte(uint32_t fill, uint64_t address)
{
	uint64_t place = address & 4095;
	uint8_t byte = (uint8_t)(0x5b + place * 0x25 + (place >> 8) * 0x11);
	if (byte == 0 || byte == 0xff) /* these have a meaning in many programs */
		byte = 0x5a;
	return fill == 1 ? byte : (uint8_t)~byte;
}
#define LOG_CONFIG_OWN offsetof(struct log_config, turns)

/*
 * Fork server (LOG_SERVE): before any code of the program, the runtime waits at a socket
 * (config.buffer) for requests: one byte, with descriptors of a config, its buffer and a file
 * for output (or only the first two). For each it forks a child, which continues as if started
 * with that config. It answers at the child's begin and end. Closing the socket ends the
 * server.
 *
 * A child with LOG_SETTLE has a socket in the place of the output, then a room (below), and a
 * file for the output of all runs. It serves there from the beginning of main (with
 * LOG_SETTLE_EARLY from before the program's constructors): it first
 * answers with its own pid, and in the status field with the number of bytes filled in the
 * room's chunk; or with a negative number, and ends, if its runs could differ from runs that
 * begin earlier. Then a request is one byte alone, and it answers at the child's end alone.
 * With LOG_ONE_THREAD a child may answer itself, at the end of its run, and take the next
 * request; at its end the process that it was forked from answers.
 *
 * The room is a file of memory which the parent, the settled process and its copies share, so
 * that a run opens, maps and makes nothing: the log's header, its chunk, the config (of which
 * a copy reads LOG_CONFIG_OWN bytes, and its turns) and the plan. The parent restores header
 * and chunk for each run to the state that the settled process left. A log of more than one
 * chunk goes to config.log as usual.
 */
struct log_served {
	int32_t pid;    /* pid of the child; negative: an errno; 0: the copy continues with the
	                 * next run */
	int32_t status; /* status at the end, as by waitpid */
};
enum { LOG_ROOM_CONFIG = LOG_HEADER + LOG_CHUNK }; /* offset of the config in the room */
enum { LOG_PASSED = 5 };                           /* most descriptors of a request */

/* The next event of the plan; tag FLUSH (TSO): the oldest store in the thread's buffer
 * arrives. Before a step that needs an empty buffer, the remaining stores arrive without
 * steps. */
struct log_step {
	uint32_t thread;
	uint16_t tag; /* enum log_tag */
	/* For a WAKE: no signal ended the wait, but its limit in time, or nothing (a spurious
	 * wake-up). For an RCV: a signal's handler begins (runtime/outside/held.c). */
	uint8_t late;
	/* The end of an uninterrupted invocation: its thread's events up to it may differ from
	 * the recording. */
	uint8_t whole;
	uint64_t pc;      /* absolute, with address randomisation off; 0: any */
	uint64_t repeats; /* number of repetitions before another thread continues */
	/* RC11: an atomic read of this step reads this store, an atomic store is inserted
	 * right after this one in modification order (an rmw after the store that it reads).
	 * SIGNAL: STEP_STORE + the number of the thread that it wakes.
	 * SND, RCV: the recording's message (log_message), its low and high half; 0: not known.
	 */
	uint32_t reads, after;
};
/* Values of log_step.reads, .after: the last store in modification order, the initial value,
 * or the store of step i: STEP_STORE + i. */
enum { STEP_LAST = 0, STEP_INITIAL = 1, STEP_STORE = 2 };
/* Thread i is the ordinal-th child of its parent. */
struct log_thread {
	uint32_t parent, ordinal;
};
/* Instead of a clock: the result of a futex wait, 0 or an errno, as seconds. */
#define LOG_FUTEX_CLOCK 255
#define LOG_POISON      0xa5
/* The answer of a clock, in the order of the thread's queries. */
struct log_answer {
	uint32_t thread, clock;
	int64_t seconds, nanoseconds;
};

#endif
