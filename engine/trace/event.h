/*
 * event.h - the event: one operation of a thread in the recorded order.
 *
 * An event has 16 bytes; a trace is an array of events in recorded order, and an event's id is
 * its index. Values, call stacks and arguments are in tables of struct trace.
 */
#ifndef HEDDLE_EVENT_H
#define HEDDLE_EVENT_H

#include "engine/base/base.h"

#include <string.h>

enum op {
#define OP(name, word, operand, class, object, effects, verb) OP_##name,
#include "engine/trace/ops.def"
#undef OP
	OP_COUNT
};

/* Table that event.target is an index of. */
enum operand {
	OPERAND_NOTHING,
	OPERAND_VARIABLE, /* trace.variables (or trace.wides with EVENT_WIDE) */
	OPERAND_OBJECT,   /* trace.objects: locks, conditions, barriers, semaphores */
	OPERAND_THREAD,   /* trace.threads */
	OPERAND_MESSAGE,  /* trace.messages */
	OPERAND_BLOCK,    /* trace.blocks: one life of a heap block */
	OPERAND_INSTANCE, /* trace.instances: objects of specifications */
	OPERAND_NAME,     /* trace.strings: unit, method, function */
};

enum op_use { /* kind of object that an operation shows its operand to be */
	      USE_NONE,
	      USE_LOCK,
	      USE_CONDITION,
	      USE_BARRIER,
	      USE_SEMAPHORE,
};

enum op_effect {
	EFFECT_NONE = 0,
	EFFECT_READS = 1, /* memory */
	EFFECT_WRITES = 2,
	EFFECT_UPDATES = EFFECT_READS | EFFECT_WRITES,
	EFFECT_WAITS = 4,                   /* can be a try or limited in time: EVENT_TRY */
	EFFECT_ACQUIRES = 8 | EFFECT_WAITS, /* enters a critical section, in either mode */
	EFFECT_RELEASES = 16,               /* leaves one */
	EFFECT_WAKES = 32,                  /* ends waits at a condition */
	EFFECT_POSTS = 64,                  /* a semaphore's count grows */
	EFFECT_TAKES = 128 | EFFECT_WAITS,  /* it shrinks */
	EFFECT_FAILS = 256,                 /* a try in vain: it observes, and has no effect */
};

enum op_class {
	OP_CLASS_ACCESS,
	OP_CLASS_SYNC,
	OP_CLASS_MEMORY,
	OP_CLASS_CALL,
	OP_CLASS_SCOPE,
	OP_CLASS_MARKER
};

/* C11 memory order of an atomic access or fence, the low three bits of event.flags. */
enum memory_order_kind {
	ORDER_PLAIN, /* not atomic */
	ORDER_RLX,
	ORDER_ACQ,
	ORDER_REL,
	ORDER_ACQ_REL,
	ORDER_SEQ_CST,
};

enum event_flag {
	EVENT_ORDER_MASK = 7,
	/* Has an id but no effect: a re-entrant acquire and its release, or an event dropped by
	 * --lenient. All analyses skip it. */
	EVENT_INERT = 8,
	/* The access covers several variables: target is an index of trace.wides. */
	EVENT_WIDE = 16,
	/* A volatile access; of AREAD, under a memory model: a compare-and-exchange that
	 * failed. A failed try in shared mode; the message of a signal whose handler may run
	 * at any event of its thread, as a choice of the schedule (recordings only). */
	EVENT_VOLATILE = 32,
	EVENT_SHARED = 32,
	/* An acquire, take or wait that could end without success: a try, or timed; it never
	 * blocks forever (event_is_request). A wake: timed out. A send: a once-function that
	 * failed (WAIT, WAKE, SND: recordings only). */
	EVENT_TRY = 64,
	/* A RET of an invocation left by a jump, an exception or the end of its thread; a LEAVE
	 * of a function that the thread was in when the program ended (recordings only). */
	EVENT_LEFT = 128,
	/* An acquire or take with a limit in time (EVENT_TRY), or one that failed: it waits
	 * until then where a try goes on at once (recordings only). */
	EVENT_TIMED = 128,
};

struct event {
	uint32_t target; /* by the operation's operand kind; NONE without operand */
	/*
	 * Access: the value (trace_value; 0 unknown; a V_PAIR for an RMW). ACT, CALL,
	 * RET: index of trace.invocations. UBEG, MISS: index of trace.values, a V_LIST of
	 * tokens. MISUSE: index of trace.values, a V_TOKEN. FLUSH: the store's event. WANT: 1
	 * for a semaphore, which may have no other event. ENTER, of a controlled run: where
	 * the function's frame begins (event_frame). Otherwise 0.
	 */
	uint32_t aux;
	/* Indices of trace.threads and trace.locations (0: empty location). The thread has the
	 * low bits, so reading it needs no shift. */
	uint64_t thread : 20, location : 28;
	uint8_t op;    /* enum op */
	uint8_t flags; /* memory order and enum event_flag */
};
_Static_assert(sizeof(struct event) == 16, "four events a cache line");
_Static_assert(offsetof(struct event, op) == 14,
               "thread and location have no room beside them");

/*
 * Where a frame begins: the stack pointer before the function was called. Its variables lie
 * below. In an ENTER's aux: 0 where it is unknown (a coroutine's stack); EVENT_FRAME_OF_NOBODY
 * for a call of the C library, whose frame has no variable of the program; else
 * EVENT_FRAME_FIRST and the distance from the begin of the stack's block in EVENT_FRAME_UNITs.
 */
enum { EVENT_FRAME_OF_NOBODY = 1, EVENT_FRAME_FIRST = 2, EVENT_FRAME_UNIT = 16 };
static inline uint32_t event_frame(uint64_t stack, uint64_t begin)
{
	uint64_t units = begin / EVENT_FRAME_UNIT - stack / EVENT_FRAME_UNIT;
	return begin >= stack && units < NONE - EVENT_FRAME_FIRST
	               ? (uint32_t)units + EVENT_FRAME_FIRST
	               : 0;
}
/* The address where it begins; 0: unknown, or nobody's. */
static inline uint64_t event_frame_begin(uint64_t stack, const struct event *enter)
{
	uint64_t units = stack / EVENT_FRAME_UNIT + enter->aux - EVENT_FRAME_FIRST;
	return enter->aux >= EVENT_FRAME_FIRST ? units * EVENT_FRAME_UNIT : 0;
}

enum {
	EVENT_THREADS = (1 << 20) - 1,   /* bound on threads: indices are smaller */
	EVENT_LOCATIONS = (1 << 28) - 1, /* bound on locations */
};

struct op_info {
	const char *word;  /* in the text format */
	const char *tried; /* the same with EVENT_TRY; NULL: no word of its own */
	const char *verb;  /* its verb, with a blank if an operand follows */
	enum operand operand;
	enum op_class class;
	enum op_use use;
};
extern const struct op_info op_table[OP_COUNT];

/* Beside op_table: free for a constant operation, one load for another. */
static const uint16_t op_effects[OP_COUNT] = {
#define OP(name, word, operand, class, object, effect, verb) EFFECT_##effect,
#include "engine/trace/ops.def"
#undef OP
};
static inline bool op_does(enum op op, enum op_effect effect)
{
	return (op_effects[op] & effect) == effect;
}

static inline bool event_inert(const struct event *e)
{
	return e->flags & EVENT_INERT;
}
/* A plain, effective access of one variable, as most events are. Tests op and flags
 * together. */
static inline bool event_simple(const struct event *e)
{
	uint16_t what;

	memcpy(&what, (const char *)e + offsetof(struct event, op), sizeof(what));
	return (what & (0xfe | (EVENT_INERT | EVENT_WIDE) << 8)) == 0;
}
static inline enum memory_order_kind event_order(const struct event *e)
{
	return (enum memory_order_kind)(e->flags & EVENT_ORDER_MASK);
}
static inline bool op_is_access(enum op op)
{
	return op <= OP_RMW;
}
/* Reads from memory: READ, AREAD, RMW. */
static inline bool op_reads(enum op op)
{
	return op_does(op, EFFECT_READS);
}
/* Writes to memory: WRITE, AWRITE, RMW. */
static inline bool op_writes(enum op op)
{
	return op_does(op, EFFECT_WRITES);
}
static inline bool op_is_atomic(enum op op)
{
	return op == OP_AREAD || op == OP_AWRITE || op == OP_RMW;
}
/* Enters or leaves a critical section, in either mode. */
static inline bool op_acquires(enum op op)
{
	return op_does(op, EFFECT_ACQUIRES);
}
static inline bool op_releases(enum op op)
{
	return op_does(op, EFFECT_RELEASES);
}
/* A try of a lock or a semaphore that failed. */
static inline bool op_fails(enum op op)
{
	return op_does(op, EFFECT_FAILS);
}
/* A signal or a broadcast. */
static inline bool op_wakes(enum op op)
{
	return op_does(op, EFFECT_WAKES);
}
/* The change of a semaphore's count. */
static inline int op_count(enum op op)
{
	return op_does(op, EFFECT_POSTS) - op_does(op, EFFECT_TAKES);
}
/* A wait that had not ended at the end of the recording. */
static inline bool op_wants(enum op op)
{
	return op == OP_WANT || op == OP_WANTJOIN;
}
/* Is it a note about a thread, without effect: always inert. */
static inline bool op_tells(enum op op)
{
	return op_wants(op) || op == OP_MISUSE || op == OP_FLUSH;
}
/* Is it a compare-and-exchange that failed? (Known under a memory model.) */
static inline bool event_failed_update(const struct event *e)
{
	return e->op == OP_AREAD && (e->flags & EVENT_VOLATILE);
}
/* Could the thread continue without success? (EVENT_TRY, for operations that have it.) */
static inline bool event_is_try(const struct event *e)
{
	return e->flags & EVENT_TRY && op_does(e->op, EFFECT_WAITS);
}
/* Can the thread block forever at the event for a lock? An acquire without try or time limit,
 * or a pending wait at the end of the recording. */
static inline bool event_is_request(const struct event *e)
{
	return e->op == OP_WANT ||
	       (op_acquires(e->op) && !(e->flags & (EVENT_INERT | EVENT_TRY)));
}
/* The operation's word in the text format. */
static inline const char *event_word(const struct event *e)
{
	const struct op_info *info = &op_table[e->op];

	return e->flags & EVENT_TRY && info->tried ? info->tried : info->word;
}
static inline bool order_acquires(enum memory_order_kind order)
{
	return order == ORDER_ACQ || order >= ORDER_ACQ_REL;
}
static inline bool order_releases(enum memory_order_kind order)
{
	return order >= ORDER_REL;
}

#endif
