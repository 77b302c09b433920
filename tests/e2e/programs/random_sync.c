/*
 * random_sync.c FILE PROGRAM...: runs programs that are given as text, one a thread (the first
 * is main's), and appends what each operation returned to FILE, a line an operation: the
 * thread's number and a character.  '#' begins a run, '!' is told before an abort, '$' before
 * main returns.  random_oracle.c has the operations' meaning and makes the programs.
 *
 * The lines are written by bare system calls, so that a recording sees nothing of them.
 *
 * With ALIKE threads that have the same program have the same argument, too, and what is
 * written of them is not seen by instrumented code, either: nothing tells them apart. They are
 * numbered as they come, from the first that has the program.
 *
 * With SIGNALS, for programs that send signals, instrumented code does not see what is written
 * and the program's text either: a handler could run between each two accesses of these.
 *
 * With FAR the values of cells and atomics are others, negative and large ones, and cells are
 * written by the handler of a signal that the thread sends itself: what an operation does, and
 * returns, stays the same.
 */
#define _GNU_SOURCE
#include "random_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPERATION = 3 };

static volatile union {
	int cells[4];
	uint64_t both; /* cells 0 and 1 */
	uint8_t bytes[16];
} memory;
#define cell memory.cells
static _Alignas(8) _Atomic int atom[2];
/* Loops that wait look by atomic loads, or by volatile reads, for a build of its own. */
#ifdef PLAIN_LOOKS
#define LOOK(n) (*(volatile int *)&atom[n])
#else
#define LOOK(n) atom[n]
#endif
static pthread_mutex_t mutex[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t condition[2] = { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static const struct timespec far = { 4000000000, 0 };
static __thread int ran;
#ifdef FAR
static __thread int handled_cell, handled_value;
static const int distant[] = { 0,          -7,  INT_MIN, INT_MAX, 1 << 16,
	                       -(1 << 16), 255, -128,    1 << 30, -9 };
static int far_of(int value)
{
	return value >= 0 && value < 10 ? distant[value] : value;
}
static int near_of(int value)
{
	for (int i = 0; i < 10; i++)
		if (distant[i] == value)
			return i;
	return value;
}
static void handle(int signal)
{
	cell[handled_cell] = handled_value;
}
static void write_cell(int n, int value)
{
	handled_cell = n;
	handled_value = far_of(value);
	raise(SIGUSR1);
}
#else
static int far_of(int value)
{
	return value;
}
static int near_of(int value)
{
	return value;
}
static void write_cell(int n, int value)
{
	cell[n] = value;
}
#endif
static volatile int *block;
static int freed; /* not by instrumented code */
static __attribute__((no_sanitize("thread"), noinline)) void note_freed(void)
{
	freed = 1;
}

/* Objects of random_sync.spec: their invocations are found by their functions. */
struct counter {
	pthread_mutex_t own;
	volatile int n;
};
struct set {
	pthread_mutex_t own;
	struct node {
		int value;
		struct node *next;
	} * first;
};
static struct counter counter = { PTHREAD_MUTEX_INITIALIZER, 0 };
static struct set set = { PTHREAD_MUTEX_INITIALIZER, 0 };

/* Some programs have a counter that a lock of their own protects. */
static pthread_mutex_t *lock_of(struct counter *c, int theirs)
{
	return theirs ? &mutex[1] : &c->own;
}

__attribute__((noipa)) void counter_inc(struct counter *c, int theirs)
{
	pthread_mutex_lock(lock_of(c, theirs));
	c->n++;
	pthread_mutex_unlock(lock_of(c, theirs));
}

__attribute__((noipa)) int counter_get(struct counter *c, int theirs)
{
	pthread_mutex_lock(lock_of(c, theirs));
	int n = c->n;
	pthread_mutex_unlock(lock_of(c, theirs));
	return n;
}

static int has(const struct set *s, int v)
{
	for (const struct node *n = s->first; n; n = n->next)
		if (n->value == v)
			return 1;
	return 0;
}

__attribute__((noipa)) int set_contains(struct set *s, int v)
{
	pthread_mutex_lock(&s->own);
	int there = has(s, v);
	pthread_mutex_unlock(&s->own);
	return there;
}

__attribute__((noipa)) int set_add(struct set *s, int v)
{
	pthread_mutex_lock(&s->own);
	int added = !has(s, v);
	if (added) {
		struct node *n = malloc(sizeof *n);
		n->value = v;
		n->next = s->first;
		s->first = n;
	}
	pthread_mutex_unlock(&s->own);
	return added;
}

#define UNSEEN __attribute__((noipa, no_sanitize("thread")))
#ifdef ALIKE
static int first_with[9];   /* by thread: the first with its program */
static uintptr_t comers[9]; /* by number: the thread that has it */
static pthread_t handles[9];

static UNSEEN int argument_of(int thread)
{
	return first_with[thread];
}

static UNSEEN void find_arguments(char **programs, int count)
{
	for (int i = 0; i < 9; i++) {
		first_with[i] = i;
		for (int k = 1; k < i && i < count && first_with[i] == i; k++) {
			const char *a = programs[i], *b = programs[k];
			while (*a && *a == *b)
				a++, b++;
			if (*a == *b)
				first_with[i] = k;
		}
	}
}

static UNSEEN int number_of(int thread)
{
	uintptr_t self;
	__asm__("mov %%fs:0, %0" : "=r"(self));
	int own = thread;
	while (first_with[own] != thread || (comers[own] != 0 && comers[own] != self))
		own++;
	comers[own] = self;
	return own;
}
#define TELL static UNSEEN
#else
#define argument_of(thread)       (thread)
#define find_arguments(all, many) ((void)(many))
#define number_of(thread)         (thread)
#ifdef SIGNALS
#define TELL static UNSEEN
#else
#define TELL static inline __attribute__((always_inline))
#endif
#endif

#ifdef SIGNALS
static UNSEEN int text_at(const char *p)
{
	return *p;
}
#else
#define text_at(p) (*(p))
#endif

TELL void tell(int thread, int result)
{
	log_line(number_of(thread), result);
}

static void first_routine(void)
{
	ran = 1;
	cell[0] = far_of(1);
}

static void second_routine(void)
{
	ran = 1;
	cell[0] = far_of(near_of(cell[1]) + 1);
}

struct start {
	char **programs;
	int thread;
};

static void *run(void *argument);

/* Of a try or an operation with a time limit: did it succeed? */
static int attempt(char operation, int n)
{
	switch (operation) {
	case 't':
		return pthread_mutex_trylock(&mutex[n]) == 0;
	case 'T':
		return pthread_mutex_timedlock(&mutex[n], &far) == 0;
	case 'e':
		return pthread_rwlock_tryrdlock(&rwlock) == 0;
	case 'f':
		return pthread_rwlock_trywrlock(&rwlock) == 0;
	case 'E':
		return pthread_rwlock_timedrdlock(&rwlock, &far) == 0;
	case 'F':
		return pthread_rwlock_timedwrlock(&rwlock, &far) == 0;
	case 'd':
		return pthread_spin_trylock(&spin) == 0;
	case 'y':
		return sem_trywait(&semaphore) == 0;
	default:
		return sem_timedwait(&semaphore, &far) == 0;
	}
}

/* Was the block freed before?  Nothing comes between the use and the look. */
static int use(int writes)
{
	int was;
	if (writes)
		*block = 1;
	else
		(void)*block;
	__asm__ volatile("movl %1, %0" : "=r"(was) : "m"(freed));
	return was ? 'f' - '0' : 0;
}

/* 0: woken, 1: the word has another value, 2: the time is up. */
static int futex_sleep(_Atomic int *word, int value, int timed)
{
	long status =
	        timed ? syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, &far, NULL,
	                        FUTEX_BITSET_MATCH_ANY)
	              : syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
	return status == 0 ? 0 : errno == EAGAIN ? 1 : 2;
}

/* The four ways to use the futex of an atomic. */
static int use_futex(int way, _Atomic int *word, int value)
{
	int seen;
	switch (way) {
	case 0:
	case 1:
		return futex_sleep(word, value, way);
	case 2:
		return (int)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE,
		                    value == 9 ? INT_MAX : value, NULL, NULL, 0);
	default:
		while ((seen = *word) == value)
			futex_sleep(word, value, 0);
		return seen;
	}
}

/* A loop of exchanges that loads in each round. */
static int add_anew(_Atomic int *word)
{
	int was;
	do
		was = *word;
	while (!atomic_compare_exchange_strong(word, &(int){ was }, was + 1));
	return was;
}

/* The same, which goes on with the value that it was told. */
static int change(int n, int value)
{
	int was = atom[n];
	while (!atomic_compare_exchange_strong(&atom[n], &was, value == 2 ? !was : was + 1))
		if (value == 3 && atom[1 - n] == 1)
			return 7;
	return was;
}

/* A lock that is a counter: a failed try puts back what it has changed. */
static int lock_counter(_Atomic int *word, int gives_up)
{
	while (atomic_fetch_add(word, 1) != 0) {
		atomic_fetch_sub(word, 1);
		if (gives_up)
			return 0;
		while (*word != 0)
			;
	}
	return gives_up;
}

/* The same of two counters: what was taken is put back where the second fails. */
static int lock_counters(_Atomic int *first, _Atomic int *second, int gives_up)
{
	for (;;) {
		if (atomic_fetch_add(first, 1) == 0) {
			if (atomic_fetch_add(second, 1) == 0)
				return gives_up;
			atomic_fetch_sub(second, 1);
		}
		atomic_fetch_sub(first, 1);
		if (gives_up)
			return 0;
		while (*first != 0 || *second != 0)
			;
	}
}

static int part_of(uint64_t value)
{
	return (int)(value & 3) + 4 * (int)(value >> 8 & 1) + 8 * (int)(value >> 32 & 1);
}

/* Updates of parts of an atomic, of one, and of both at once. */
static inline __attribute__((always_inline)) uint64_t update(int n, int kind)
{
	_Atomic int *word = &atom[n];
	switch (kind) {
	case 0:
		return __atomic_fetch_add((uint8_t *)word, 1, __ATOMIC_SEQ_CST);
	case 1:
		return __atomic_fetch_sub((uint8_t *)word, 1, __ATOMIC_SEQ_CST);
	case 2:
		return __atomic_fetch_add((uint16_t *)word, 255, __ATOMIC_SEQ_CST);
	case 3:
		return (unsigned)atomic_fetch_or(word, 2);
	case 4:
		return (unsigned)atomic_fetch_and(word, 1);
	case 5:
		return (unsigned)atomic_fetch_xor(word, 1);
	case 6:
		return (unsigned)atomic_exchange(word, 1);
	case 7:
		return __atomic_fetch_add((uint64_t *)atom, UINT64_C(0x100000001),
		                          __ATOMIC_SEQ_CST);
	case 8:
		return (unsigned)atomic_fetch_add(word, 0);
	default:
		return (unsigned)atomic_fetch_sub(word, 1);
	}
}

static uint64_t read_part(int n, int kind)
{
	switch (kind) {
	case 0:
		return __atomic_load_n((uint8_t *)&atom[n], __ATOMIC_SEQ_CST);
	case 1:
		return __atomic_load_n((uint16_t *)&atom[n], __ATOMIC_SEQ_CST);
	case 2:
		return __atomic_load_n((uint64_t *)atom, __ATOMIC_SEQ_CST);
	default:
		return *(volatile unsigned *)&atom[n];
	}
}

static void write_part(int n, int kind)
{
	switch (kind) {
	case 0:
		__atomic_store_n((uint8_t *)&atom[n], 1, __ATOMIC_SEQ_CST);
		return;
	case 1:
		__atomic_store_n((uint16_t *)&atom[n], 257, __ATOMIC_SEQ_CST);
		return;
	case 2:
		__atomic_store_n((uint64_t *)atom, UINT64_C(0x100000001), __ATOMIC_SEQ_CST);
		return;
	default:
		*(volatile int *)&atom[n] = 1;
	}
}

/* In functions without a table of jumps, behind which nothing is known of registers. */
static __attribute__((noinline)) int look_by_tries(int n, int value)
{
	int seen = -1;
	while (seen != value) {
		if (pthread_mutex_trylock(&mutex[0]) != 0)
			continue;
		seen = cell[n];
		pthread_mutex_unlock(&mutex[0]);
	}
	return value;
}

static __attribute__((noinline)) int lock_by_tries(pthread_mutex_t *m)
{
	while (pthread_mutex_trylock(m) != 0)
		;
	return 0;
}

/* Loops that wait by looking under a lock. */
static int look(char operation, int n, int value)
{
	int seen = -1;
	switch (operation) {
	case '@':
		do {
			pthread_mutex_lock(&mutex[0]);
			seen = cell[n];
			pthread_mutex_unlock(&mutex[0]);
		} while (seen != value);
		return value;
	case '%':
		for (;;) {
			pthread_mutex_lock(&mutex[0]);
			if (cell[n] == value)
				break;
			pthread_mutex_unlock(&mutex[0]);
		}
		cell[n] = 1 - value;
		pthread_mutex_unlock(&mutex[0]);
		return value;
	case '+':
		for (;;) {
			pthread_mutex_lock(&mutex[0]);
			if (cell[0] == value) {
				pthread_mutex_lock(&mutex[1]);
				seen = n ? atom[0] : cell[1];
				pthread_mutex_unlock(&mutex[1]);
				if (seen == value)
					break;
			}
			pthread_mutex_unlock(&mutex[0]);
		}
		pthread_mutex_unlock(&mutex[0]);
		return value;
	case '=':
		return look_by_tries(n, value);
	default:
		return lock_by_tries(&mutex[n]);
	}
}

/* Several locks at once, of which the first is waited for, and the others tried
 * (random_oracle.c, BACK_OFF). Between a try that fails and the end of its round the code reads
 * no memory; with READS, memory that nobody writes. */
#ifdef READS
int nobodys = 1;
#define FAILED __asm__ volatile("" : : "r"(nobodys))
#else
#define FAILED (void)0
#endif
#define BACK_OFF(take, try, release) \
	for (;;) { \
		take; \
		if ((try) == 0) \
			return 0; \
		FAILED; \
		if (way == 8) \
			atomic_exchange(&atom[1], 1); \
		release; \
		if (way == 7 && atom[0] == 1) \
			return 7; \
	}

static inline __attribute__((always_inline)) int back_off_by(pthread_mutex_t *one,
                                                             pthread_mutex_t *other, int way)
{
	switch (way) {
	case 1:
		BACK_OFF(pthread_spin_lock(&spin), pthread_mutex_trylock(one),
		         pthread_spin_unlock(&spin))
	case 2:
		BACK_OFF(pthread_mutex_lock(one), pthread_rwlock_trywrlock(&rwlock),
		         pthread_mutex_unlock(one))
	case 3:
		BACK_OFF(pthread_rwlock_wrlock(&rwlock), pthread_mutex_trylock(one),
		         pthread_rwlock_unlock(&rwlock))
	case 4:
		BACK_OFF(pthread_rwlock_rdlock(&rwlock), pthread_mutex_trylock(one),
		         pthread_rwlock_unlock(&rwlock))
	case 5:
		BACK_OFF(pthread_mutex_lock(one), pthread_rwlock_tryrdlock(&rwlock),
		         pthread_mutex_unlock(one))
	case 6:
		for (;;) {
			pthread_mutex_lock(one);
			if (pthread_spin_trylock(&spin) == 0) {
				if (pthread_mutex_trylock(other) == 0)
					return 0;
				FAILED;
				pthread_spin_unlock(&spin);
			}
			FAILED;
			pthread_mutex_unlock(one);
		}
	case 9:
		for (;;) {
			if (pthread_mutex_trylock(one) != 0)
				continue;
			if (pthread_mutex_trylock(other) == 0)
				return 0;
			pthread_mutex_unlock(one);
		}
	default:
		BACK_OFF(pthread_mutex_lock(one), pthread_mutex_trylock(other),
		         pthread_mutex_unlock(one))
	}
}

#define WAY(way) \
	static __attribute__((noinline)) int back_off_##way(pthread_mutex_t *one, \
	                                                    pthread_mutex_t *other) \
	{ \
		return back_off_by(one, other, way); \
	}
WAY(0)
WAY(1)
WAY(2)
WAY(3)
WAY(4)
WAY(5)
WAY(6)
WAY(7)
WAY(8)
WAY(9)

/* The same with others of them (random_oracle.c, OTHER_BACK_OFF). Those that are std::lock are it
 * with STD_LOCK. */
#ifdef STD_LOCK
void std_lock(pthread_mutex_t *one, pthread_mutex_t *other); /* random_lock.cc */
#else
static __attribute__((noinline)) void std_lock(pthread_mutex_t *one, pthread_mutex_t *other)
{
	for (;;) {
		pthread_mutex_lock(one);
		if (pthread_mutex_trylock(other) == 0)
			return;
		pthread_mutex_unlock(one);
		pthread_mutex_t *failed = other;
		other = one;
		one = failed;
	}
}
#endif

static __attribute__((noinline)) int lock_or_give_up(pthread_mutex_t *one,
                                                     pthread_mutex_t *other)
{
	for (;;) {
		pthread_mutex_lock(one);
		if (pthread_mutex_trylock(other) == 0)
			return 0;
		pthread_mutex_unlock(one);
		if (atom[0] == 1)
			return 7;
		pthread_mutex_t *failed = other;
		other = one;
		one = failed;
	}
}

/* Three locks, of which the second one is taken by `second`. */
#define THREE(way, second, release_second, first_first, after) \
	static __attribute__((noinline)) int back_off_three_##way(pthread_mutex_t *one, \
	                                                          pthread_mutex_t *other) \
	{ \
		for (;;) { \
			pthread_mutex_lock(one); \
			if ((second) == 0) { \
				if (pthread_mutex_trylock(other) == 0) \
					return 0; \
				FAILED; \
				if (way == 7) \
					atomic_exchange(&atom[1], 1); \
				if (first_first) \
					pthread_mutex_unlock(one); \
				release_second; \
				if (!(first_first)) \
					pthread_mutex_unlock(one); \
			} else { \
				if (way == 7) \
					atomic_exchange(&atom[1], 1); \
				pthread_mutex_unlock(one); \
			} \
			if ((after) && atom[0] == 1) \
				return 7; \
		} \
	}
THREE(3, pthread_spin_trylock(&spin), pthread_spin_unlock(&spin), 1, 0)
THREE(4, pthread_spin_trylock(&spin), pthread_spin_unlock(&spin), 1, 1)
THREE(5, pthread_rwlock_trywrlock(&rwlock), pthread_rwlock_unlock(&rwlock), 0, 0)
THREE(6, pthread_spin_trylock(&spin), pthread_spin_unlock(&spin), 0, 1)
THREE(7, pthread_spin_trylock(&spin), pthread_spin_unlock(&spin), 0, 0)

static int back_off_otherwise(pthread_mutex_t *one, pthread_mutex_t *other, int way)
{
	static int (*const ways[])(pthread_mutex_t *, pthread_mutex_t *) = {
		back_off_three_3, back_off_three_4, back_off_three_5, back_off_three_6,
		back_off_three_7
	};
	if (way < 2)
		std_lock(one, other);
	return way < 2    ? 0
	       : way == 2 ? lock_or_give_up(one, other)
	                  : ways[way - 3](one, other);
}

static int back_off(int n, int way)
{
	static int (*const ways[])(pthread_mutex_t *, pthread_mutex_t *) = {
		back_off_0, back_off_1, back_off_2, back_off_3, back_off_4,
		back_off_5, back_off_6, back_off_7, back_off_8, back_off_9
	};
	if (n >= 2)
		return back_off_otherwise(&mutex[n - 2], &mutex[3 - n], way);
	return ways[way](&mutex[n], &mutex[1 - n]);
}

/* Accesses of which each thread's have lines of their own. */
static __attribute__((noipa)) int touch(int site, volatile int *p, int value)
{
	switch (site) {
	case 2:
		return *p; /* site 2 */
	case 3:
		*p = value; /* site 3 */
		return 0;
	case 4:
		return *p; /* site 4 */
	case 5:
		*p = value; /* site 5 */
		return 0;
	case 6:
		return *p; /* site 6 */
	case 7:
		*p = value; /* site 7 */
		return 0;
	case 8:
		return *p; /* site 8 */
	default:
		*p = value; /* site 9 */
		return 0;
	}
}

static int operate(char operation, int n, int value)
{
	int result = 0;
	switch (operation) {
	case 'r':
		return near_of(cell[n]);
	case 'w':
		write_cell(n, value);
		return 0;
	case 'P': {
		uint64_t both = memory.both;
		return 'A' - '0' + (int)(both & 3) + 4 * (int)(both >> 32);
	}
	case 'Q':
		memory.both = (uint64_t)value << 32 | (uint64_t)value;
		return 0;
	case 'B':
		memory.bytes[4 * n] = (uint8_t)value;
		return 0;
	case 'R':
		return near_of(atom[n]);
	case 'W':
		atom[n] = far_of(value);
		return 0;
	case 'a':
		if (value == 0)
			return atomic_fetch_add(&atom[n], 1);
		if (value == 9)
			atomic_fetch_sub(&atom[n], 1);
		else
			atomic_fetch_add(&atom[n], 1);
		return 0;
	case '/':
		return back_off(n, value);
	case '^':
		return lock_counter(&atom[n], value);
	case '(':
		return lock_counters(&atom[n], &atom[1 - n], value);
	case '&': /* the result is not used */
		update(n, value);
		return 0;
	case '|':
		return part_of(update(n, value));
	case ',':
		return part_of(read_part(n, value));
	case ';':
		write_part(n, value);
		return 0;
	case 'L': /* loops that wait */
		while (LOOK(n) != far_of(value))
			;
		return value;
	case 'H':
		while (LOOK(0) != far_of(value) || LOOK(1) != far_of(value))
			;
		return value;
	case 'X':
		do
			while (LOOK(n))
				;
		while (atomic_exchange(&atom[n], 1));
		return 0;
	case 'Z':
		while (!atomic_compare_exchange_strong(&atom[n], &(int){ 0 }, 1))
			;
		return 0;
	case 'M':
		return value == 0 ? add_anew(&atom[n]) : change(n, value);
	case 'x':
		result = far_of(value);
		return atomic_compare_exchange_strong(&atom[n], &result, far_of(1 - value))
		               ? '+' - '0'
		               : near_of(result);
	case '@':
	case '%':
	case '+':
	case '=':
	case ':':
		return look(operation, n, value);
	case 'U':
		return use_futex(n / 2, &atom[n % 2], value);
#ifdef ALIKE
	case '?':
		return pthread_equal(pthread_self(), handles[n]) != 0;
#endif
	case 'v':
		return use(n);
	case 'V':
		free((void *)block);
		note_freed();
		return 0;
	case 'm':
		counter_inc(&counter, n);
		return 0;
	case 'G':
		return counter_get(&counter, n);
	case 'K':
		return counter.n;
	case 'A':
		return set_add(&set, value);
	case 'D':
		return set_contains(&set, value);
	case 'l':
		pthread_mutex_lock(&mutex[n]);
		return 0;
	case 'u':
		pthread_mutex_unlock(&mutex[n]);
		return 0;
	case 'i':
		pthread_rwlock_rdlock(&rwlock);
		return 0;
	case 'o':
		pthread_rwlock_wrlock(&rwlock);
		return 0;
	case 'I':
		pthread_rwlock_unlock(&rwlock);
		return 0;
	case 's':
		pthread_spin_lock(&spin);
		return 0;
	case 'S':
		pthread_spin_unlock(&spin);
		return 0;
	case 'p':
		sem_post(&semaphore);
		return 0;
	case 'z':
		sem_wait(&semaphore);
		return 0;
	case 'g':
		sem_getvalue(&semaphore, &result);
		return result;
	case 'c':
		pthread_cond_wait(&condition[n > 0], &mutex[n == 1]);
		return 0;
	case 'C':
		return pthread_cond_timedwait(&condition[n > 0], &mutex[n == 1], &far) != 0;
	case 'n':
		pthread_cond_signal(&condition[n > 0]);
		return 0;
	case 'N':
		pthread_cond_broadcast(&condition[n > 0]);
		return 0;
	case 'b':
		if (n == 0)
			return pthread_barrier_wait(&barrier) != 0;
		pthread_barrier_wait(&barrier);
		return 0;
	case 'O':
		ran = 0;
		pthread_once(&once, n ? second_routine : first_routine);
		return ran;
	default:
		return attempt(operation, n);
	}
}

/* -- handlers of signals: they block all others */

static __thread int self = -1; /* not known yet */
static __thread char early[3]; /* told before it was */
static pthread_t main_thread;

static void tell_in_handler(int result)
{
	if (self >= 0)
		tell(self, result);
	else
		early[early[0] != 0] = (char)result;
}

static void add_in_handler(int signal)
{
	tell_in_handler('p' + atomic_fetch_add(&atom[0], 1));
}

static void change_in_handler(int signal)
{
	pthread_mutex_lock(&mutex[0]);
	int seen = cell[0];
	tell_in_handler('F' + seen);
	cell[0] = seen == 0;
	pthread_mutex_unlock(&mutex[0]);
}

static void install_handlers(void)
{
	struct sigaction action = { .sa_handler = add_in_handler, .sa_flags = SA_RESTART };
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = change_in_handler;
	sigaction(SIGUSR2, &action, NULL);
}

static void *run(void *argument)
{
	/* by thread; main may return before they begin */
	static struct start child[8];
	struct start *start = argument;
	const char *p = start->programs[start->thread];
#ifdef ALIKE
	pthread_t *threads = handles;
#else
	pthread_t threads[8];
#endif
	int thread = start->thread, last = 0;
	self = thread;
	for (const char *told = early; *told; told++)
		tell(thread, *told);
	for (; text_at(p); p += OPERATION) {
		int n = text_at(p + 1) - '0', value = text_at(p + 2) - '0';
		char operation = (char)text_at(p);
		switch (operation) {
		case 'j': /* where the last result was 0: leave out so many */
			if (last == 0)
				p += OPERATION * n;
			continue;
		case 'J':
			if (last != 0)
				p += OPERATION * n;
			continue;
		case '!':
			if (last == n) {
				tell(thread, '!');
				abort();
			}
			continue;
		case 'k':
			if (argument_of(n) == n)
				child[n] = (struct start){ start->programs, n };
			pthread_create(&threads[n], 0, run, &child[argument_of(n)]);
			continue;
		case 'h':
			pthread_join(threads[n], 0);
			continue;
		case '~':
			pthread_kill(n == 0 ? main_thread : threads[n],
			             value == 1 ? SIGUSR1 : SIGUSR2);
			last = 0;
			break;
		case 'q': /* the usual loop around a wait */
			while ((last = near_of(cell[n])) == 0) {
				tell(thread, '0');
				pthread_cond_wait(&condition[0], &mutex[0]);
			}
			break;
		case '<':
		case '>':
			last = touch(2 * thread + (operation == '>'), &cell[n], value);
			break;
		default:
			last = operate(operation, n, value);
		}
		tell(thread, '0' + last);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct start start = { argv + 2, 0 };
	log_open(argv[1]);
#ifdef FAR
	signal(SIGUSR1, handle);
#endif
	for (int i = 2; i < argc; i++)
		if (strchr(argv[i], '~')) {
			install_handlers();
			break;
		}
	main_thread = pthread_self();
	tell(0, '#');
	block = calloc(1, sizeof *block);
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, 0, 2);
	sem_init(&semaphore, 0, (unsigned)(argv[2][0] - '0'));
	find_arguments(start.programs, argc - 2);
	start.programs[0]++;
	run(&start);
	tell(0, '$');
	return 0;
}
