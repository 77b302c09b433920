/* litmus_random.c - see litmus_random.h. */
#include "tests/support/litmus_random.h"

#include <string.h>

enum { MOST_EVENTS = 9 };

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
	if (features == LITMUS_STRAIGHT) { /* a compiler refuses stronger orders of failure */
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

static void insert(GRand *r, struct litmus *l, uint32_t t, enum litmus_kind kind)
{
	uint32_t at = below(r, l->length[t] + 1), n = l->length[t];
	if (n + 1 > LITMUS_OPS)
		return;
	memmove(&l->ops[t][at + 1], &l->ops[t][at], (n - at) * sizeof(struct litmus_op));
	l->ops[t][at] = (struct litmus_op){ .kind = kind, .location = 3 };
	l->length[t] = n + 1;
}

/* A semaphore: one thread posts, once or twice, and another takes; a third one may do either.
 */
static void add_semaphore(GRand *r, struct litmus *l)
{
	insert(r, l, 0, LITMUS_POST);
	if (below(r, 3) == 0)
		insert(r, l, 0, LITMUS_POST);
	insert(r, l, 1, LITMUS_TAKE);
	if (l->threads > 2 && below(r, 3) == 0)
		insert(r, l, 2, below(r, 2) ? LITMUS_POST : LITMUS_TAKE);
}

void litmus_random(GRand *r, enum litmus_features features, struct litmus *l)
{
	memset(l, 0, sizeof *l);
	l->threads = 2 + below(r, 3);
	struct size size = { 0 };
	uint32_t ops = 3 + below(r, MOST_EVENTS - 3);
	for (uint32_t i = 0; i < ops; i++) {
		uint32_t t = i < l->threads ? i : below(r, l->threads);
		random_op(r, features, &l->ops[t][l->length[t]++], &size);
	}
	uint32_t what = features == LITMUS_STRAIGHT ? 0 : below(r, 8);
	if (what == 1 || what == 2)
		add_semaphore(r, l);
	if (what < 6)
		return;
	/* two threads are critical sections, in part */
	for (uint32_t t = 0; t < 2; t++) {
		uint32_t begin = below(r, l->length[t] + 1), n = l->length[t];
		if (n + 2 > LITMUS_OPS)
			continue;
		memmove(&l->ops[t][begin + 1], &l->ops[t][begin],
		        (n - begin) * sizeof(struct litmus_op));
		l->ops[t][begin] = (struct litmus_op){ .kind = LITMUS_LOCK, .location = 3 };
		l->ops[t][n + 1] = (struct litmus_op){ .kind = LITMUS_UNLOCK, .location = 3 };
		l->length[t] = n + 2;
	}
}
