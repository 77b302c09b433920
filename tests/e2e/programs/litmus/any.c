/*
 * any.c - a litmus program given as text, many times over: each round has locations of its own,
 * and begins at a barrier.  Prints the outcome of each: registers by thread, then memory.
 *
 * With "number" at the end, one round without a barrier, whose outcome is told by the exit
 * status.
 *
 *     any ROUNDS THREADS OPS [number [CALLS]]     OPS, each thread's together:
 * thread,kind,location,order,failure,value,expected,register[,when,is];...
 *
 * `when`: register + 1 that has to be `is`, or 0. Operations of the thread library are for one
 * round. CALLS: a bit for each operation, before which a function is called that synchronises
 * nothing, and so changes no outcome.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 1000, THREADS = 6, LOCATIONS = 4, REGISTERS = 8, OPS = 64 };
/* LOOK: a load, until it reads `expected`; TRY_ON: a compare-and-exchange, until it is done. */
enum { LOAD, STORE, EXCHANGE, ADD, COMPARE, FENCE, LOOK, TRY_ON };
/* The thread library's, as in tests/support/litmus.h. */
enum {
	LOCK = 8,
	UNLOCK,
	POST,
	TAKE,
	TRY,
	RDLOCK,
	RDUNLOCK,
	TRYRD,
	TRYTAKE,
	WAIT,
	WAKE,
	WAKE_TIMED,
	SIGNAL,
	BROADCAST,
	ARRIVE,
	DEPART,
	ONCE,
	ONCE_END
};
/* EXCHANGE and ADD, by a load and compare-and-exchanges until one is done; with `expected`,
 * each after a load. SNAPSHOT: it, the next (a load) and the one after that (ADD, where the
 * first looked), until what the first read was still there. */
enum { EXCHANGE_BY_LOOP = 40, ADD_BY_LOOP, SNAPSHOT };

static atomic_int memory[ROUNDS][LOCATIONS];
static int seen[ROUNDS][THREADS][REGISTERS];
static int op_count, rounds, threads;
static struct op {
	int thread, kind, location, order, failure, value, expected, result, when, is;
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
#define TRY_WITH(order, failure) \
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
		WITH(o->order, TRY_WITH(relaxed, relaxed), TRY_WITH(acquire, relaxed),
		     TRY_WITH(release, relaxed), TRY_WITH(acq_rel, relaxed),
		     TRY_WITH(seq_cst, relaxed))
	} else if (o->failure == 2) {
		WITH(o->order, , TRY_WITH(acquire, acquire), , TRY_WITH(acq_rel, acquire),
		     TRY_WITH(seq_cst, acquire))
	} else {
		TRY_WITH(seq_cst, seq_cst);
	}
	return s;
}

#define DONE(order, made) \
	done = atomic_compare_exchange_strong_explicit(p, &s, made, memory_order_##order, \
	                                               memory_order_relaxed)
#define TRY_ONCE(order, made) \
	WITH(order, DONE(relaxed, made), DONE(acquire, made), DONE(release, made), \
	     DONE(acq_rel, made), DONE(seq_cst, made))
#define LOAD_INTO(variable, order, p) \
	WITH(order, variable = atomic_load_explicit(p, memory_order_relaxed), \
	     variable = atomic_load_explicit(p, memory_order_acquire), , , \
	     variable = atomic_load_explicit(p, memory_order_seq_cst))

/* What it read in the end. */
__attribute__((noinline)) static int update_by_loop(const struct op *o, atomic_int *p)
{
	int s = atomic_load_explicit(p, memory_order_relaxed), done;
	for (;;) {
		int made = o->kind == ADD_BY_LOOP ? s + o->value : o->value;
		TRY_ONCE(o->order, made)
		if (done)
			return s;
		if (o->expected)
			s = atomic_load_explicit(p, memory_order_relaxed);
	}
}

/* The last one's operation. */
__attribute__((noinline)) static const struct op *snapshot(const struct op *o, int round)
{
	atomic_int *p = &memory[round][o->location], *q = &memory[round][o[1].location];
	int s = 0, other = 0, done;
	do {
		LOAD_INTO(s, o->order, p)
		LOAD_INTO(other, o[1].order, q)
		TRY_ONCE(o[2].order, s + o[2].value)
	} while (!done);
	seen[round][o->thread][o->result] = s;
	seen[round][o->thread][o[1].result] = other;
	seen[round][o->thread][o[2].result] = s;
	return o + 2;
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
	case EXCHANGE_BY_LOOP:
	case ADD_BY_LOOP:
		s = update_by_loop(o, p);
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

/* ---- the thread library: one object of each kind, in a single round ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t rendezvous;
static sem_t semaphore;
static bool readers; /* the lock is a reader-writer lock */
static const struct timespec past;
static __thread const struct op *routine; /* the first operation of the once-function */

/* 0, or why it was not taken; `timed`: with a limit in time instead of a try. */
static int lock(bool tries, bool timed)
{
	if (readers)
		return !tries  ? pthread_rwlock_wrlock(&rwlock)
		       : timed ? pthread_rwlock_timedwrlock(&rwlock, &past)
		               : pthread_rwlock_trywrlock(&rwlock);
	return !tries  ? pthread_mutex_lock(&mutex)
	       : timed ? pthread_mutex_timedlock(&mutex, &past)
	               : pthread_mutex_trylock(&mutex);
}

static int lock_to_read(bool tries, bool timed)
{
	return !tries  ? pthread_rwlock_rdlock(&rwlock)
	       : timed ? pthread_rwlock_timedrdlock(&rwlock, &past)
	               : pthread_rwlock_tryrdlock(&rwlock);
}

static bool is_timed(const struct op *o)
{
	return o->failure == 2;
}

static void run_once(void)
{
	const struct op *o = routine;
	seen[0][o->thread][3] = 1;
	for (; o->kind != ONCE_END; o++)
		run(o, 0);
}

/* A wait and a barrier are several operations: the wait's third one is its end. Returns the
 * last one. */
static const struct op *run_library(const struct op *o)
{
	int *result = &seen[0][o->thread][o->result];
	switch (o->kind) {
	case LOCK:
		lock(false, false);
		return o;
	case UNLOCK:
		readers ? pthread_rwlock_unlock(&rwlock) : pthread_mutex_unlock(&mutex);
		return o;
	case TRY:
		*result = lock(true, is_timed(o)) == 0;
		return o;
	case RDLOCK:
		lock_to_read(false, false);
		return o;
	case RDUNLOCK:
		pthread_rwlock_unlock(&rwlock);
		return o;
	case TRYRD:
		*result = lock_to_read(true, is_timed(o)) == 0;
		return o;
	case POST:
		sem_post(&semaphore);
		return o;
	case TAKE:
		sem_wait(&semaphore);
		return o;
	case TRYTAKE:
		*result = (is_timed(o) ? sem_timedwait(&semaphore, &past)
		                       : sem_trywait(&semaphore)) == 0;
		return o;
	case WAIT:
		if (o[2].kind == WAKE)
			pthread_cond_wait(&condition, &mutex);
		else
			seen[0][o->thread][o[2].result] =
			        pthread_cond_timedwait(&condition, &mutex, &past) != 0;
		return o + 3;
	case SIGNAL:
		pthread_cond_signal(&condition);
		return o;
	case BROADCAST:
		pthread_cond_broadcast(&condition);
		return o;
	case ARRIVE:
		if (o->expected)
			pthread_barrier_wait(&rendezvous);
		else
			*result = pthread_barrier_wait(&rendezvous) ==
			          PTHREAD_BARRIER_SERIAL_THREAD;
		return o + 1;
	default: /* ONCE */
		routine = o + 1;
		pthread_once(&once, run_once);
		while (o->kind != ONCE_END)
			o++;
		return o;
	}
}

static void make_library(void)
{
	for (const struct op *o = ops; o < ops + op_count; o++) {
		readers |= o->kind == RDLOCK || o->kind == TRYRD;
		if (o->kind == ARRIVE)
			pthread_barrier_init(&rendezvous, NULL, (unsigned)o->value);
	}
	sem_init(&semaphore, 0, 0);
}

/* ---- calls that synchronise nothing ---- */

enum { CALLS = 8 };
static unsigned long calls; /* a bit for each operation */
static sem_t unused;
static pthread_mutex_t recursive[THREADS]; /* each thread's own */

/* The contents that a block, or the thread's stack, had before may be lost with them. */
static void use_memory(int way, int me)
{
	enum { SMALL = 8, LARGE = 40, PAGES = 1 << 16 };
	static const char text[LARGE] = "longer than a store is";
	char own[LARGE], *volatile p;
	switch (way) {
	case 0:
		p = malloc(SMALL);
		p[me] = 1;
		free(p);
		break;
	case 1:
		p = calloc(1, SMALL);
		p[me] = 1;
		p = realloc(p, LARGE);
		p[LARGE - 1] = 1;
		free(p);
		break;
	case 2:
		p = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		p[me] = 1;
		munmap(p, PAGES);
		break;
	default:
		p = own;
		memcpy(p, text, LARGE);
		break;
	}
}

static void call(int way, int me)
{
	int count;
	switch (way) {
	case 4:
		usleep(0);
		break;
	case 5:
		sem_getvalue(&unused, &count);
		break;
	case 6:
		pthread_mutex_lock(&recursive[me]);
		pthread_mutex_unlock(&recursive[me]);
		break;
	case 7:
		fflush(stderr);
		break;
	default:
		use_memory(way, me);
		break;
	}
}

static void make_calls(const char *given)
{
	pthread_mutexattr_t is_recursive;
	pthread_mutexattr_init(&is_recursive);
	pthread_mutexattr_settype(&is_recursive, PTHREAD_MUTEX_RECURSIVE);
	calls = strtoul(given, NULL, 10);
	sem_init(&unused, 0, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_mutex_init(&recursive[i], &is_recursive);
}

static void *thread(void *arg)
{
	int me = (int)(long)arg;
	if (calls)
		pthread_mutex_lock(&recursive[me]);
	for (int r = 0; r < rounds; r++) {
		if (rounds > 1)
			pthread_barrier_wait(&barrier);
		for (const struct op *o = ops; o < ops + op_count; o++) {
			if (o->thread != me || (o->when && seen[r][me][o->when - 1] != o->is))
				continue;
			if (calls >> (o - ops) & 1)
				call((int)(calls + (unsigned long)(o - ops)) % CALLS, me);
			if (o->kind >= LOCK && o->kind <= ONCE_END)
				o = run_library(o);
			else if (o->kind == SNAPSHOT)
				o = snapshot(o, r);
			else
				run(o, r);
		}
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
		for (int i = 0; i < 10; i++, at += *at == ',')
			fields[i] = (int)strtol(at, &at, 10);
	}
	pthread_t t[THREADS];
	if (argc > 5)
		make_calls(argv[5]);
	make_library();
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
