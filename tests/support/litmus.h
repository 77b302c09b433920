/*
 * litmus.h - litmus programs: a few threads of a few memory operations, and an interpreter of
 * them for engine/memory/enumerate.h.
 */
#ifndef HEDDLE_TESTS_LITMUS_H
#define HEDDLE_TESTS_LITMUS_H

#include "engine/memory/enumerate.h"

enum { LITMUS_THREADS = 6, LITMUS_OPS = 16, LITMUS_REGISTERS = 8, LITMUS_LOCATIONS = 4 };

enum litmus_kind {
	LITMUS_LOAD,
	LITMUS_STORE,
	LITMUS_EXCHANGE,
	LITMUS_ADD,
	LITMUS_COMPARE, /* writes `value` if it reads `expected` */
	LITMUS_FENCE,
	LITMUS_LOCK, /* from here on: of the thread library */
	LITMUS_UNLOCK,
	LITMUS_POST, /* a semaphore */
	LITMUS_TAKE,
	LITMUS_TRY,    /* result: 1, it was locked */
	LITMUS_RDLOCK, /* the same lock for readers */
	LITMUS_RDUNLOCK,
	LITMUS_TRYRD,
	LITMUS_TRYTAKE,
	/* The wait for a condition, its end, and its end when it has a limit in time (result:
	 * 1, the time was up). The mutex is unlocked and locked by operations of their own. */
	LITMUS_WAIT,
	LITMUS_WAKE,
	LITMUS_WAKE_TIMED,
	LITMUS_SIGNAL,
	LITMUS_BROADCAST,
	LITMUS_ARRIVE, /* at a barrier of `value` threads; `expected` 1: it has no result */
	LITMUS_DEPART, /* result: 1, its arrival was the last of the round */
	LITMUS_ONCE,   /* result: 1, it runs the function, up to LITMUS_ONCE_END */
	LITMUS_ONCE_END
};

struct litmus_op {
	enum litmus_kind kind;
	uint32_t location;
	enum memory_order_kind order, failure_order;
	uint64_t value, expected;
	uint32_t result; /* register of the value read */
	/* Done only when the register has the value; `when` 0: always, else register + 1. */
	uint32_t when;
	uint64_t when_value;
	uint32_t plus; /* register + 1 whose value is added to the value stored; or 0 */
};

struct litmus {
	uint32_t threads;
	uint32_t length[LITMUS_THREADS];
	struct litmus_op ops[LITMUS_THREADS][LITMUS_OPS];
};

/* An outcome: by thread and register, then final memory. */
struct litmus_outcome {
	uint64_t registers[LITMUS_THREADS][LITMUS_REGISTERS];
	uint64_t memory[LITMUS_LOCATIONS];
};

/*
 * A program as text: threads separated by "|", operations by ";":
 *     x=1 rel    a=y acq    a=x+1 (fetch_add)  a=x<2 (exchange)  a=x?0:1 acq_rel acq (CAS)
 *     F sc       lock m    unlock m    post m    take m    and so on (litmus_words)
 * Registers a to h; locations x, y, z, m; orders rlx (default), acq, rel, acq_rel, sc. BUG for
 * anything else.
 */
extern const char *const litmus_words[LITMUS_ONCE_END + 1]; /* by kind, of the library */
void litmus_parse(struct litmus *l, const char *text);
/* Do no more threads arrive at the barrier than it is for? Then each is in each round. */
bool litmus_has_rounds(const struct litmus *l, const struct litmus_op *arrival);
/* As text again; owned. */
char *litmus_text(const struct litmus *l);

/* The graphs of a program; each complete one is handed on. */
typedef void litmus_seen(void *context, const struct memory_graph *g,
                         const struct litmus_outcome *outcome);
void litmus_enumerate(const struct litmus *l, enum memory_model model, litmus_seen *seen,
                      void *context, struct memory_counts *counts);

#endif
