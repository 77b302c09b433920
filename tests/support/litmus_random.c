/* litmus_random.c - see litmus_random.h. */
#include "tests/support/litmus_random.h"

#include <string.h>

enum { MOST_EVENTS = 9, MOST_BESIDE = 6 /* the thread library's */ };

static uint32_t below(GRand *r, uint32_t n)
{
	return (uint32_t)g_rand_int_range(r, 0, (gint32)n);
}

static enum memory_order_kind any_order(GRand *r, const char *of)
{
	/* one letter for each that the operation may have */
	switch (of[below(r, (uint32_t)strlen(of))]) {
	case 'a':
		return ORDER_ACQ;
	case 'r':
		return ORDER_REL;
	case 'b':
		return ORDER_ACQ_REL;
	case 's':
		return ORDER_SEQ_CST;
	default:
		return ORDER_RLX;
	}
}

/* How much a program has, so that the oracle can try everything. */
struct size {
	uint32_t loads, stores[2];
};
enum { MOST_LOADS = 4, MOST_STORES = 3 };

static void random_op(GRand *r, enum litmus_features features, struct litmus_op *op,
                      struct size *size)
{
	static const enum litmus_kind kinds[] = { LITMUS_LOAD,   LITMUS_LOAD,     LITMUS_LOAD,
		                                  LITMUS_STORE,  LITMUS_STORE,    LITMUS_STORE,
		                                  LITMUS_FENCE,  LITMUS_EXCHANGE, LITMUS_ADD,
		                                  LITMUS_COMPARE };
	op->kind = kinds[below(r, G_N_ELEMENTS(kinds))];
	op->location = below(r, 2);
	bool no_load = size->loads == MOST_LOADS;
	bool no_store = size->stores[op->location] == MOST_STORES;
	if (op->kind != LITMUS_FENCE && (no_load || no_store))
		op->kind = !no_load ? LITMUS_LOAD : !no_store ? LITMUS_STORE : LITMUS_FENCE;
	size->loads += op->kind != LITMUS_STORE && op->kind != LITMUS_FENCE;
	size->stores[op->location] += op->kind != LITMUS_LOAD && op->kind != LITMUS_FENCE;
	op->value = 1 + below(r, 2);
	op->expected = below(r, 3);
	op->result = below(r, 3);
	op->order = any_order(r, op->kind == LITMUS_LOAD    ? "xxass"
	                         : op->kind == LITMUS_STORE ? "xxrss"
	                         : op->kind == LITMUS_FENCE ? "arbss"
	                                                    : "xarbs");
	op->failure_order = any_order(r, "xas");
	if (features != LITMUS_ALL) { /* a compiler refuses stronger orders of failure */
		bool acquires = op->order == ORDER_ACQ || op->order >= ORDER_ACQ_REL;
		if (op->order != ORDER_SEQ_CST)
			op->failure_order =
			        MIN(op->failure_order, acquires ? ORDER_ACQ : ORDER_RLX);
		return;
	}
	if (below(r, 6) == 0) {
		op->when = 1 + below(r, 3);
		op->when_value = below(r, 3);
	}
	if (below(r, 8) == 0 && op->kind == LITMUS_STORE)
		op->plus = 1 + below(r, 3);
}

/* ---- the thread library ---- */

enum { LOCK = 3, CONDITION = 2 /* locations */, RESULT = LITMUS_LIBRARY_RESULT };

/* Insert an operation at a place, and return the place after it. */
static uint32_t insert_at(struct litmus *l, uint32_t t, uint32_t at, enum litmus_kind kind,
                          bool only_if)
{
	uint32_t n = l->length[t]++;
	BUG_ON(n == LITMUS_OPS);
	memmove(&l->ops[t][at + 1], &l->ops[t][at], (n - at) * sizeof(struct litmus_op));
	l->ops[t][at] = (struct litmus_op){ .kind = kind,
		                            .location = LOCK,
		                            .value = 1,
		                            .result = RESULT,
		                            .when = only_if ? RESULT + 1 : 0,
		                            .when_value = 1 };
	return at + 1;
}

static uint32_t somewhere(GRand *r, const struct litmus *l, uint32_t t, uint32_t from)
{
	return from + below(r, l->length[t] + 1 - from);
}

static void insert(GRand *r, struct litmus *l, uint32_t t, enum litmus_kind kind)
{
	insert_at(l, t, somewhere(r, l, t, 0), kind, false);
}

/* A part of the thread is between the two; the second is done only if the first was. */
static void enclose(GRand *r, struct litmus *l, uint32_t t, enum litmus_kind begin,
                    enum litmus_kind end, bool only_if)
{
	uint32_t at = insert_at(l, t, somewhere(r, l, t, 0), begin, false);
	/* 2: a try with a limit in time */
	l->ops[t][at - 1].failure_order = only_if && below(r, 2) ? ORDER_ACQ : ORDER_RLX;
	insert_at(l, t, somewhere(r, l, t, at), end, only_if);
}

static void add_locks(GRand *r, struct litmus *l)
{
	for (uint32_t t = 0; t < 2; t++)
		enclose(r, l, t, LITMUS_LOCK, LITMUS_UNLOCK, false);
}

static void add_try(GRand *r, struct litmus *l)
{
	enclose(r, l, 0, LITMUS_LOCK, LITMUS_UNLOCK, false);
	enclose(r, l, 1, LITMUS_TRY, LITMUS_UNLOCK, true);
}

/* Readers, one of which may try; a writer, which may try. */
static void add_readers(GRand *r, struct litmus *l)
{
	bool tries = below(r, 3) == 0;
	enclose(r, l, 0, tries ? LITMUS_TRY : LITMUS_LOCK, LITMUS_UNLOCK, tries);
	for (uint32_t t = 1; t < MIN(l->threads, 3u); t++) {
		bool try = below(r, 3) == 0;
		enclose(r, l, t, try ? LITMUS_TRYRD : LITMUS_RDLOCK, LITMUS_RDUNLOCK, try);
	}
}

/* A semaphore: one thread posts, once or twice, and another takes, or tries; a third one may do
 * either. */
static void add_semaphore(GRand *r, struct litmus *l)
{
	insert(r, l, 0, LITMUS_POST);
	if (below(r, 3) == 0)
		insert(r, l, 0, LITMUS_POST);
	insert(r, l, 1, below(r, 2) ? LITMUS_TAKE : LITMUS_TRYTAKE);
	if (l->threads > 2 && below(r, 3) == 0)
		insert(r, l, 2, below(r, 2) ? LITMUS_POST : LITMUS_TAKE);
}

static void add_waiter(GRand *r, struct litmus *l, uint32_t t, bool timed)
{
	uint32_t at = insert_at(l, t, somewhere(r, l, t, 0), LITMUS_LOCK, false);
	at = insert_at(l, t, at, LITMUS_WAIT, false);
	l->ops[t][at - 1].location = CONDITION;
	at = insert_at(l, t, at, LITMUS_UNLOCK, false);
	at = insert_at(l, t, at, timed ? LITMUS_WAKE_TIMED : LITMUS_WAKE, false);
	l->ops[t][at - 1].location = CONDITION;
	at = insert_at(l, t, at, LITMUS_LOCK, false);
	insert_at(l, t, somewhere(r, l, t, at), LITMUS_UNLOCK, false);
}

/* One or two wait for a condition; one signals, under the lock or not, or wakes all. */
static void add_condition(GRand *r, struct litmus *l)
{
	bool locked = below(r, 2);
	uint32_t at = 0;
	add_waiter(r, l, 0, below(r, 3) == 0);
	if (l->threads > 2 && below(r, 3) == 0)
		add_waiter(r, l, 2, below(r, 3) == 0);
	if (locked)
		at = insert_at(l, 1, somewhere(r, l, 1, 0), LITMUS_LOCK, false);
	at = insert_at(l, 1, somewhere(r, l, 1, at),
	               below(r, 3) ? LITMUS_SIGNAL : LITMUS_BROADCAST, false);
	l->ops[1][at - 1].location = CONDITION;
	if (locked)
		insert_at(l, 1, somewhere(r, l, 1, at), LITMUS_UNLOCK, false);
}

static void arrive(GRand *r, struct litmus *l, uint32_t t, uint32_t threads)
{
	uint32_t at = somewhere(r, l, t, 0);
	at += at > 0 && l->ops[t][at - 1].kind == LITMUS_ARRIVE; /* not within another one */
	at = insert_at(l, t, at, LITMUS_ARRIVE, false);
	l->ops[t][at - 1].value = threads;
	l->ops[t][at - 1].expected = below(r, 2);
	insert_at(l, t, at, LITMUS_DEPART, false);
	l->ops[t][at].expected = l->ops[t][at - 1].expected;
}

/* One or two rounds; or three threads at a barrier of two, one of them twice: which threads
 * meet is open. */
static void add_barrier(GRand *r, struct litmus *l)
{
	bool open = l->threads > 2 && below(r, 4) == 0;
	uint32_t threads = 2 + (l->threads > 2 && !open && below(r, 2));
	uint32_t rounds = 1 + (threads == 2 && !open && below(r, 2));
	for (uint32_t round = 0; round < rounds; round++)
		for (uint32_t t = 0; t < threads + open; t++)
			arrive(r, l, t, threads);
	if (open)
		arrive(r, l, 0, threads);
}

static void add_once(GRand *r, struct litmus *l)
{
	for (uint32_t t = 0; t < MIN(l->threads, 3u); t++) {
		uint32_t at = insert_at(l, t, somewhere(r, l, t, 0), LITMUS_ONCE, false);
		at = insert_at(l, t, at, LITMUS_STORE, true);
		l->ops[t][at - 1].location = below(r, 2);
		l->ops[t][at - 1].order = ORDER_RLX;
		l->ops[t][at - 1].value = 3;
		insert_at(l, t, at, LITMUS_ONCE_END, true);
	}
}

void litmus_random(GRand *r, enum litmus_features features, struct litmus *l)
{
	static void (*const library[])(GRand *, struct litmus *) = {
		add_locks,     add_try,     add_readers, add_semaphore,
		add_condition, add_barrier, add_once
	};
	memset(l, 0, sizeof *l);
	l->threads = 2 + below(r, 3);
	struct size size = { 0 };
	bool more = features == LITMUS_LIBRARY || (features == LITMUS_ALL && below(r, 3) == 0);
	uint32_t ops = 3 + below(r, (more ? MOST_BESIDE : MOST_EVENTS) - 3);
	for (uint32_t i = 0; i < ops; i++) {
		uint32_t t = i < l->threads ? i : below(r, l->threads);
		random_op(r, features, &l->ops[t][l->length[t]++], &size);
	}
	if (more)
		library[below(r, G_N_ELEMENTS(library))](r, l);
}
