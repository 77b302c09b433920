/*
 * layout.h - the recording log: what the runtime in the recorded program writes and
 * import.c reads.  The only thing that the two share.
 *
 * The file is one page of struct log_header, then chunks of LOG_CHUNK bytes.  A chunk is
 * filled with records in memory that the recording process shares with `heddle record`,
 * and written whole when it is full: so whatever ends the program (SIGKILL, abort, _exit)
 * loses no record, for the parent writes the last chunk; and when both die, what had been
 * written is there.  A record's first word is stored last, and its tag is never 0: the
 * first 0 tag ends a chunk.
 *
 * A record is a few 64-bit words.  The first is
 *
 *     tag (8 bits) | flags << 8 (8 bits) | pc << 16 (48 bits)
 *
 * where pc is the return address of the hook, so that pc - 1 lies in the instruction that
 * is meant.  What follows depends on the tag; see LOG_TAGS.  Bump LOG_VERSION with every
 * change.
 *
 * Most records are short: one word with the top bit set, which no first word has.  Writer
 * and reader keep a table of sites, LOG_SITES entries chosen by log_site_slot, empty at the
 * beginning of each chunk.  A long READ, WRITE, AREAD, AWRITE or ENTER fills its site's entry
 * with log_site_key, its address and value (0 when it is not known; of a range the size).  A
 * short record repeats the entry's with the differences of both:
 *
 *     1 << 63 | slot << 49 | value difference << 25 (24 bits) | address difference (25 bits)
 *
 * both signed; LOG_DELTA_UNKNOWN means that the value is not known, LOG_DELTA_FOLLOWS that it
 * is the next word.  A write's value is known only after its record has been written.  ENTER
 * has in the place of the address difference how many frames are left first (LEAVE).
 *
 * Free mode, whose plain accesses have no values, puts two records into one word,
 *
 *     3 << 62 | the second << 31 | the first, each: slot << 18 | address difference (18 bits)
 *
 * where the second is LOG_HALF_NONE until there is one.  The value or size does not differ.
 * LEAVE has a site, too, of the key LOG_LEAVE, and its count in the place of the address
 * difference.
 */
#ifndef HEDDLE_LAYOUT_H
#define HEDDLE_LAYOUT_H

#include <stdint.h>

#define LOG_MAGIC       "HDLREC\r\n"
#define LOG_VERSION     18
#define LOG_HEADER      4096u
#define LOG_CHUNK       (1u << 20)
#define LOG_CHUNK_MAGIC 0x4b434448u
#define LOG_FRAME_MAGIC 0x5a434448u
#define LOG_ALL_THREADS UINT32_MAX

struct log_header {
	char magic[8];
	uint32_t version;
	uint32_t chunk_size;
	uint32_t flags;      /* enum log_flag */
	uint32_t status;     /* enum log_status */
	uint64_t chunks;     /* how many were begun */
	uint64_t first_kept; /* --last: the sequence number of the oldest chunk still there */
	uint64_t lost;       /* events that a signal handler inside a blocking call made */
	uint64_t repeated;   /* free mode: accesses that were left out; at the end */
	uint32_t pid;
	uint32_t stopped; /* replay: 1 when both threads stand before the pair */
	uint32_t stolen;  /* how often the watchdog had to take the token away */
	uint32_t error;   /* errno of LOG_FULL */
	uint64_t steps;   /* accesses and scheduling points so far; for pct */
	uint64_t seed;
	uint64_t replayed; /* replay: how many events of the plan have been followed */
	uint32_t holder;   /* controlled mode: the thread that ran last */
	/* Where the main thread's stack began, and the lowest of its arguments' strings: all
	 * three lie at random distances from the stack's end.  0: not known. */
	uint64_t stack_begin, arguments;
	uint32_t outcome; /* enum log_status: what the program came to, also where the recording
	                   * had ended before */
	uint32_t misuses; /* the enum log_misuse that were met, as bits; the same */
};

enum log_flag {
	LOG_CONTROLLED = 1, /* one stream, exact order and values */
	LOG_ASLR_OFF = 2,   /* addresses are the same in every run */
	LOG_VALUES = 4,
	LOG_REPLAY = 8,
	LOG_COMPRESSED = 16, /* chunks may be frames; there is room for both */
	LOG_EXPLORE = 32, /* chance does not switch inside of an invocation; the ends of threads
	                   * are noted */
	LOG_KEEP_INPUTS = 64, /* what comes from outside is recorded */
	LOG_MISSING = 128,    /* calls into code that is not instrumented are recorded */
	LOG_SERVE = 256,      /* no run: runs are forked from it */
};

enum log_status {
	LOG_RUNNING, /* the program has not come to its exit (it was killed, or _exit) */
	LOG_EXITED,  /* through exit() */
	LOG_FULL,    /* the disk was full, or the limit of --max-size was reached */
	LOG_LIMIT,
	LOG_DEADLOCK, /* ended by the runtime: nobody could run */
	LOG_DIVERGED, /* replay: left the plan; a LOG_NOTE says where */
	LOG_EXECED,   /* became another program */
	LOG_CUT,      /* exploration: ended by the runtime, after so many steps */
	LOG_STARVED,  /* replay: ended by the runtime, for there is no more recorded input */
};

struct log_chunk {
	uint32_t magic;
	uint32_t thread; /* free mode: whose records these are; else LOG_ALL_THREADS */
	uint64_t sequence;
};

/*
 * LOG_COMPRESSED: every chunk's place in the file is followed by one as large for its frame:
 * the chunk as zstd has it.  The parent writes the frame when the runtime has finished the
 * chunk, which then becomes a hole.  Where both are whole, they say the same.
 */
struct log_frame {
	uint32_t magic;
	uint32_t thread; /* as in the chunk */
	uint64_t sequence;
	uint64_t bytes; /* of zstd's, which follow */
};

/* Where in the file the chunk lies that is the slot-th; its frame is LOG_CHUNK further. */
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
	TAG(SND, 1, 1) /* message number */ \
	TAG(RCV, 1, 1) \
	TAG(ALLOC, 2, 1) /* address, size */ \
	TAG(FREE, 1, 1)  /* address */ \
	TAG(ENTER, 1, \
	    0) /* pc: after the call; word 1: a pc inside the function, or LOG_CALL_*, and */ \
	       /* << 48 where its frame begins: see LOG_FRAME_UNIT */ \
	TAG(LEAVE, 0, 0)     /* pc: how many frames */ \
	TAG(SWITCH, 0, 0)    /* pc: the thread of what follows */ \
	TAG(TICKET, 0, 0)    /* pc: free mode, the next record's place in the order */ \
	TAG(THREAD, 3, 0)    /* pc: thread; parent, low and high end of its stack */ \
	TAG(SEMAPHORE, 2, 0) /* or a barrier: address, count; flags: LOG_MADE */ \
	TAG(INIT, 1, 0)      /* address: an object begins; what was there before is another */ \
	TAG(MODULE, 0, 0)    /* load bias, low and high address; length; path NUL build-id */ \
	TAG(NOTE, 0, 0)      /* length; key NUL value */ \
	TAG(CLOCK, 2, 0)     /* flags: which clock; seconds, nanoseconds */ \
	TAG(RANDOM, 0, 0)    /* length; bytes */ \
	TAG(INPUT, 0, 0)     /* pc: length of the bytes that follow: see struct log_input */ \
	TAG(DROP, 0, 0)      /* --last: the state that earlier chunks had left begins here */ \
	TAG(REPEAT, 0, 0)    /* pc: how often its thread made its last event again, at once */ \
	/* flags: LOG_MADE, LOG_LEFT */ \
	TAG(CALL, 0, 1)  /* object; length; type NUL method NUL arguments as text NUL */ \
	TAG(RET, 0, 1)   /* the same with results */ \
	TAG(GIVEN, 2, 0) /* address, size: memory that the C library allocated for itself */ \
	/* MISS: the function (0: the program itself); length in bytes; struct log_reached; \
	 * flags: enum log_miss */ \
	TAG(MISS, 0, 0) \
	TAG(BACK, 1, 0)   /* the function */ \
	TAG(MISUSE, 1, 0) /* flags: enum log_misuse; the address of the object */

/* How a lock, condition, semaphore or barrier was misused: enumerator, word in the trace. */
#define LOG_MISUSES(M) \
	M(UNLOCK_BY_OTHER, "unlock-by-other") \
	M(UNLOCK_NOT_HELD, "unlock-not-held") \
	M(DOUBLE_LOCK, "double-lock") \
	M(DESTROY_LOCKED, "destroy-locked") \
	M(DESTROY_WAITED, "destroy-waited") \
	M(USE_DESTROYED, "use-destroyed") \
	M(NEVER_INITIALISED, "never-initialised")
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

/*
 * What a missing call may reach: a heap block (its beginning), else a place in static data, a
 * mapping or a stack; and how many bytes from there on were looked at for more.
 */
struct log_reached {
	uint64_t place; /* address | arguments that it was found through << 48 (a bit each) */
	uint64_t bytes;
};
#define LOG_REACHED_SHIFT 48
enum log_miss {
	LOG_MISS_AGAIN = 1, /* goes on after a function that it had called back */
	LOG_MISS_CUT = 2,   /* it reaches more than was looked at */
};

/* Threads of a recording: their numbers lie below. */
#define LOG_THREADS ((1u << 20) - 1)

/* A frame's CFA (the stack pointer before the call): so many units below the high end of the
 * thread's stack, rounded down to a unit, plus one; 0: unknown. */
#define LOG_FRAME_UNIT  16u
#define LOG_FRAME_SHIFT 48
#define LOG_FRAME_LIMIT 65535u

/*
 * Calls of the C library that are frames of their own, "poll@libc": where a thread sleeps or
 * waits for the outside, and what runs handlers.  Their numbers are no addresses.
 */
/* clang-format off */
#define LOG_CALLS(C) \
	C(sleep) C(usleep) C(nanosleep) C(clock_nanosleep) \
	C(poll) C(ppoll) C(select) C(pselect) C(epoll_wait) C(epoll_pwait) \
	C(read) C(readv) C(recv) C(recvfrom) C(recvmsg) C(accept) C(accept4) \
	C(sigwait) C(sigwaitinfo) C(sigtimedwait) C(signal) C(exit)
/* clang-format on */
enum log_call {
	LOG_CALL_none,
#define C(name) LOG_CALL_##name,
	LOG_CALLS(C)
#undef C
	        LOG_CALL_COUNT
};

/*
 * What a call of the program brought from outside, and the result of a call that went there, in
 * the order of its thread's: a struct log_input, and its parts (at most three) behind it
 * without a gap.  The first LOG_INPUT of it begins with the struct; what has no room there
 * follows in more, with LOG_MORE.
 *
 * LOG_INPUTS(name of the call, what it asks for: enum log_asks)
 */
/* clang-format off */
#define LOG_INPUTS(C) \
	C(descriptor, STATES) /* no call: this one, which was there before, is from outside */ \
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
	LOG_WAITS,  /* until there is something */
	LOG_GIVES,  /* to take what it brings */
	LOG_MAKES,  /* a descriptor; what matters is its number */
};
enum log_input_call {
#define C(name, asks) LOG_INPUT_##name,
	LOG_INPUTS(C)
#undef C
	        LOG_INPUT_COUNT
};
enum { LOG_MORE = 1 }; /* of LOG_INPUT */
enum { LOG_FIFO = 1 }; /* `extra` of open: the other end is outside, too */
enum { LOG_PARTS = 3 };
enum log_input_flag {
	LOG_BECAME = 1, /* a wait that began with descriptors of the process alone */
	LOG_TAKEN = 2,  /* replay: given out of turn */
	LOG_OWN = 4,    /* a datagram that the process sent to itself */
};
struct log_input {
	uint32_t thread;
	uint8_t call, flags; /* enum log_input_call, enum log_input_flag */
	uint16_t spare;
	int32_t fd, error; /* the descriptor, or -1; errno, when the result is negative */
	int64_t result;
	uint64_t ordinal;           /* events of the thread before */
	uint32_t length[LOG_PARTS]; /* of its parts, in bytes */
	uint32_t extra;             /* a length, or flags, that the call returned besides */
};

#define LOG_RANGE 5u /* size code: the size is in a word of its own */

enum log_record_flag {
	LOG_ORDER_MASK = 7,
	LOG_VALUE = 8,
	LOG_SMALL = 16,
	LOG_VOLATILE = 32,
	LOG_SHARED = 32, /* of TRYFAIL: EVENT_SHARED */
	LOG_TRY = 64,    /* of ACQ .. TAKE: EVENT_TRY */
	LOG_BEGINS = 32, /* of SND: the sender begins what the message of this number ends */
};

/*
 * Flags of ACQ .. TAKE, too.  Where an object can be initialised without a call (by assigning
 * PTHREAD_MUTEX_INITIALIZER, by a constexpr constructor), its destruction leaves a mark in it,
 * which goes away when it is written anew.
 */
enum log_object_flag {
	LOG_DEAD = 8,    /* it bore the mark when the operation came */
	LOG_MARKED = 16, /* of DESTROY: it bears the mark now */
};

/*
 * Addresses of objects that have none in the program: OpenMP's unnamed critical section, the
 * lock of its atomics, and from LOG_OMP_BARRIERS on the barriers of its teams, one each
 * LOG_OMP_STEP.
 */
enum { LOG_OMP_CRITICAL = 8, LOG_OMP_ATOMIC = 16, LOG_OMP_BARRIERS = 64, LOG_OMP_STEP = 8 };
/* A variable of a team beside its barrier: which thread gets what is shared out. */
enum { LOG_OMP_SHARES = 1 << 20 };
#define LOG_OMP_END (1u << 20) /* of the objects; of the shares twice that */

#define LOG_PC_SHIFT     16
#define LOG_ADDRESS_MASK ((1ull << 48) - 1)
/* Of CALL, SEMAPHORE: the call made the object, another of the same address. */
#define LOG_MADE         1
#define LOG_LEFT         2 /* RET: it did not come back: a jump, an exception, a thread's end */
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
/* Two in a word. */
#define LOG_PAIR             (1ull << 62)
#define LOG_HALF_BITS        31
#define LOG_HALF_OFFSET_BITS 18
#define LOG_HALF_NONE        (1ull << (LOG_HALF_OFFSET_BITS - 1)) /* the lowest difference */
/* The two lowest differences, as unsigned fields. */
#define LOG_DELTA_UNKNOWN    (1ull << (LOG_DELTA_BITS - 1))
#define LOG_DELTA_FOLLOWS    (LOG_DELTA_UNKNOWN + 1)

/* By slot; of ENTER: the pc in the function, and where the frame begins.  Values apart, for
 * free mode has none of plain accesses, and what it touches must fit into the cache. */
struct log_sites {
	struct {
		uint64_t key; /* 0: none yet */
		uint64_t address;
	} at[LOG_SITES];
	uint64_t value[LOG_SITES];
};

/* A long record's first word without the flags that tell where its value is; the size code
 * in their place and in a flag that nobody uses. */
static inline uint64_t log_site_key(uint64_t first, unsigned code)
{
	return (first & ~(uint64_t)((LOG_VALUE | LOG_SMALL) << 8)) |
	       (uint64_t)((code & 3) << 3 | (code & 4) << 4) << 8;
}
static inline unsigned log_site_code(uint64_t key)
{
	return (key >> 11 & 3) | (key >> 12 & 4);
}
/* Neighbours in the program are neighbours in the table: a hook returns to every 8th byte at
 * most. */
static inline unsigned log_site_slot(uint64_t key)
{
	uint32_t pc = key >> LOG_PC_SHIFT;
	return (pc >> 3 ^ pc >> 15 ^ (uint32_t)key << 9) & (LOG_SITES - 1);
}

/*
 * What the parent tells the runtime: a struct log_config in a memory file whose
 * descriptor number is in the environment variable HEDDLE_RECORD (so that the environment
 * has the same length in every run).  For replay the plan follows it.
 */
#define LOG_ENVIRONMENT  "HEDDLE_RECORD"
/* In the names of the libraries that interpose.c makes: no part of the program. */
#define LOG_BIND_LIBRARY "heddle-bind-"

/* FIRST is for exploration: the lowest thread that can run, without preemption. */
#define LOG_STRATEGIES(S) \
	S(RANDOM, "random") S(PCT, "pct") S(NOISE, "noise") S(RR, "rr") S(FIRST, "first")
enum log_strategy {
#define S(name, word) STRATEGY_##name,
	LOG_STRATEGIES(S)
#undef S
};

/* Of a missing call that are looked at.  In a line "F NAME MASK" a bit for each of which all is
 * reached, behind those one for each of which its own block is alone, and one for each of which
 * that and what its words point to is. */
#define LOG_ARGUMENTS 6

struct log_config {
	uint32_t version;
	uint32_t flags; /* enum log_flag */
	uint32_t strategy;
	uint32_t depth; /* pct */
	uint64_t seed;
	uint64_t steps;     /* pct: about how many scheduling points a run has; with LOG_EXPLORE
	                     * how many it may have after its plan (0: any number) */
	uint64_t max_bytes; /* of the log; 0: no limit */
	uint64_t keep_bytes; /* --last; 0: all */
	uint64_t watchdog_ms;
	char log[2048]; /* path of the log, absolute */
	uint64_t start_low,
	        start_high;  /* --start-at: the function, less the load bias; 0: at once */
	char missing[32768]; /* LOG_MISSING: lines of the specifications; runtime/missing.c */
	char preload[2048];  /* what LD_PRELOAD was before us ("" for unset), to be restored */
	char library_path[2048];
	uint32_t had_preload, had_library_path;
	int32_t buffer;         /* descriptor of the shared chunks */
	uint32_t buffer_chunks; /* how many: one, or in free mode one for each thread */
	/* replay */
	uint32_t plan_length;  /* struct log_step, after the config */
	uint32_t thread_count; /* struct log_thread, after the steps */
	uint32_t answer_count; /* struct log_answer (clocks), after the threads */
	uint32_t input_count;  /* struct log_input, by thread, after the answers: in all so */
	uint64_t input_bytes;  /* many bytes, with their parts, each filled up to 8 bytes */
	uint32_t first;        /* which of the pair goes first: 1 or 2; 0: stop there only */
	uint32_t pair[2];      /* threads of the pair; LOG_ALL_THREADS: none */
	uint32_t hold;         /* wait at the pair for a debugger */
	uint32_t poison;       /* the block that this step (less one) frees is filled with
	                        * LOG_POISON and not given out again; 0: none */
	int32_t gate;          /* descriptor that is read while holding */
};

/*
 * Serving (LOG_SERVE): before anything of the program's own has run, the runtime waits at a
 * socket (config.buffer) for requests: one byte, with the descriptors of a config, of its
 * buffer and of a file for the output (or only the first two).  For each a child is forked,
 * which goes on as if it had just been started with that config.  Two answers: when it has
 * begun, when it has ended.  The socket closed is the end of the server.
 */
struct log_served {
	int32_t pid;    /* of the child; or, less than 0, an errno: there is none */
	int32_t status; /* of the end, as from waitpid */
};

struct log_step { /* the next event, in the order to be followed */
	uint32_t thread;
	uint16_t tag; /* enum log_tag */
	/* WAKE: the time was up, it is not for a signal to end this wait. */
	uint8_t late;
	/* The end of an invocation that nobody interrupts: what its thread does up to there is
	 * the library's affair, and may differ from the recording. */
	uint8_t whole;
	uint64_t pc;      /* absolute, with address randomisation off; 0: any */
	uint64_t repeats; /* how often the thread does the same again before anybody goes on */
};
struct log_thread { /* thread i is the ordinal-th child of its parent */
	uint32_t parent, ordinal;
};
/* In the place of a clock: how a wait by futex ended, 0 or an errno, as seconds. */
#define LOG_FUTEX_CLOCK 255
#define LOG_POISON      0xa5
struct log_answer { /* of a clock, in the order of the thread's questions */
	uint32_t thread, clock;
	int64_t seconds, nanoseconds;
};

#endif
