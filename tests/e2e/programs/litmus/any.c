/*
 * any.c - a litmus program given as text, many times over: each round has locations of its own,
 * and begins at a barrier.  Prints the outcome of each: registers by thread, then memory.
 *
 * With "number" at the end, one round without a barrier, whose outcome is told by the exit
 * status.
 *
 *     any ROUNDS THREADS OPS [number]     OPS:
 * thread,kind,location,order,failure,value,expected,register;...
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 1000, THREADS = 6, LOCATIONS = 4, REGISTERS = 8, OPS = 64 };
/* LOOK: a load, until it reads `expected`; TRY_ON: a compare-and-exchange, until it is done. */
enum { LOAD, STORE, EXCHANGE, ADD, COMPARE, FENCE, LOOK, TRY_ON };

static atomic_int memory[ROUNDS][LOCATIONS];
static int seen[ROUNDS][THREADS][REGISTERS];
static int op_count, rounds, threads;
static struct op {
	int thread, kind, location, order, failure, value, expected, result;
} ops[OPS];
static pthread_barrier_t barrier;

/* the order has to be a constant: 1 relaxed, 2 acquire, 3 release, 4 both, 5 seq_cst */
#define WITH(order, e1, e2, e3, e4, e5) \
	switch (order) { \
	case 1: \
		e1; \
		break; \
	case 2: \
		e2; \
		break; \
	case 3: \
		e3; \
		break; \
	case 4: \
		e4; \
		break; \
	default: \
		e5; \
	}
#define UPDATE(call) \
	WITH(o->order, s = call(p, o->value, memory_order_relaxed), \
	     s = call(p, o->value, memory_order_acquire), \
	     s = call(p, o->value, memory_order_release), \
	     s = call(p, o->value, memory_order_acq_rel), \
	     s = call(p, o->value, memory_order_seq_cst))
/* a failure's order is not the stronger one */
#define TRY(order, failure) \
	atomic_compare_exchange_strong_explicit(p, &s, o->value, memory_order_##order, \
	                                        memory_order_##failure)

/* What a load or compare-and-exchange reads. */
static int look(const struct op *o, atomic_int *p)
{
	int s = o->expected;
	if (o->kind == LOAD || o->kind == LOOK) {
		WITH(o->order, s = atomic_load_explicit(p, memory_order_relaxed),
		     s = atomic_load_explicit(p, memory_order_acquire), , ,
		     s = atomic_load_explicit(p, memory_order_seq_cst))
	} else if (o->failure == 1) {
		WITH(o->order, TRY(relaxed, relaxed), TRY(acquire, relaxed),
		     TRY(release, relaxed), TRY(acq_rel, relaxed), TRY(seq_cst, relaxed))
	} else if (o->failure == 2) {
		WITH(o->order, , TRY(acquire, acquire), , TRY(acq_rel, acquire),
		     TRY(seq_cst, acquire))
	} else {
		TRY(seq_cst, seq_cst);
	}
	return s;
}

static void run(const struct op *o, int round)
{
	atomic_int *p = &memory[round][o->location];
	int s = 0;
	switch (o->kind) {
	case LOAD:
	case COMPARE:
		s = look(o, p);
		break;
	case LOOK:
	case TRY_ON:
		while ((s = look(o, p)) != o->expected)
			;
		break;
	case STORE:
		WITH(o->order, atomic_store_explicit(p, o->value, memory_order_relaxed), ,
		     atomic_store_explicit(p, o->value, memory_order_release), ,
		     atomic_store_explicit(p, o->value, memory_order_seq_cst))
		return;
	case EXCHANGE:
		UPDATE(atomic_exchange_explicit)
		break;
	case ADD:
		UPDATE(atomic_fetch_add_explicit)
		break;
	default:
		WITH(o->order, , atomic_thread_fence(memory_order_acquire),
		     atomic_thread_fence(memory_order_release),
		     atomic_thread_fence(memory_order_acq_rel),
		     atomic_thread_fence(memory_order_seq_cst))
		return;
	}
	seen[round][o->thread][o->result] = s;
}

static void *thread(void *arg)
{
	int me = (int)(long)arg;
	for (int r = 0; r < rounds; r++) {
		if (rounds > 1)
			pthread_barrier_wait(&barrier);
		for (int i = 0; i < op_count; i++)
			if (ops[i].thread == me)
				run(&ops[i], r);
	}
	return NULL;
}

/* 1 to 251: FNV-1a of the registers and memory. */
static int number(void)
{
	unsigned hash = 2166136261u;
	for (int i = 0; i < threads; i++)
		for (int k = 0; k < 4; k++)
			hash = (hash ^ (unsigned)seen[0][i][k]) * 16777619u;
	for (int l = 0; l < 2; l++)
		hash = (hash ^
		        (unsigned)atomic_load_explicit(&memory[0][l], memory_order_relaxed)) *
		       16777619u;
	return 1 + (int)(hash % 251);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	rounds = atoi(argv[1]);
	threads = atoi(argv[2]);
	for (char *at = argv[3]; *at && op_count < OPS; at += *at == ';') {
		int *fields = (int *)&ops[op_count++];
		for (int i = 0; i < 8; i++, at += *at == ',')
			fields[i] = (int)strtol(at, &at, 10);
	}
	pthread_t t[THREADS];
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, thread, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	if (argc > 4)
		return number();
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < threads; i++)
			for (int k = 0; k < 4; k++)
				printf("%d", seen[r][i][k]);
		printf(" %d%d\n", atomic_load_explicit(&memory[r][0], memory_order_relaxed),
		       atomic_load_explicit(&memory[r][1], memory_order_relaxed));
	}
	return 0;
}
