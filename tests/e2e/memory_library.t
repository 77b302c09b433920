#!/bin/bash
# heddle explore --memory: the thread library's operations beside mutexes are modelled, with what they
# order and whom they wake. Each program's exit statuses are all that it can end with.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# The program, its flags; the model; the statuses of its runs (6: a thread waits for ever); graphs.
check() {
	run "$HEDDLE" cc -g -O1 $2 "$1.c" -o "$1" -pthread
	run "$HEDDLE" explore --budget 100 --memory "$3" --format json -- "./$1"
	is "$(json '$d->{complete} ? "complete" : join "; ", @{$d->{gaps}}')" complete "$1 $2, $3: complete"
	is "$(json 'join " ", sort { $a <=> $b } keys %{{ map { $_->{status} => 1 } @{$d->{runs}} }}') $(json '$d->{graphs}')" \
		"$4" "$1 $2, $3: statuses and graphs"
	is "$(json 'scalar @{$d->{races}}')" "${5:-0}" "$1 $2, $3: data races"
}

# Two take what two signals announce; a signal before the wait is lost; a broadcast wakes both.
cat >condition.c <<'C'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items, late, order;
static void *take(void *p)
{
	pthread_mutex_lock(&m);
#ifdef LOST
	pthread_cond_wait(&c, &m);
#elif defined TIMED
	struct timespec past = { 0, 0 };
	late = pthread_cond_timedwait(&c, &m, &past) != 0;
#else
	while (items == 0)
		pthread_cond_wait(&c, &m);
	items--;
#endif
	order = order * 2 + (int)(long)p;
	pthread_mutex_unlock(&m);
	return 0;
}
int main(void)
{
	enum { THREADS = 2 };
	pthread_t t[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], 0, take, (void *)i);
#ifdef TIMED
	pthread_cond_signal(&c);
#else
	pthread_mutex_lock(&m);
	items = THREADS;
#ifdef ONE
	pthread_cond_signal(&c);
#else
	pthread_cond_broadcast(&c);
#endif
	pthread_mutex_unlock(&m);
#endif
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], 0);
	return late * 4 + order;
}
C
for model in tso rc11; do
	check condition "" $model "1 2 10"
	check condition -DONE $model "1 2 6 10"
	check condition -DLOST $model "1 2 6 10"
	check condition -DTIMED $model "1 2 5 6 78"
done

# Readers beside each other do not order each other: store buffering between them. What the writer
# did before is seen.
cat >readers.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int x, y, wrong;
static int data;
static void *read_it(void *p)
{
	atomic_int *mine = p ? &x : &y, *its = p ? &y : &x;
#ifdef TRY
	struct timespec past = { 0, 0 };
	if (p ? pthread_rwlock_tryrdlock(&l) : pthread_rwlock_timedrdlock(&l, &past))
		return (void *)2;
#else
	pthread_rwlock_rdlock(&l);
#endif
	wrong |= data == 1;
	atomic_store_explicit(mine, 1, memory_order_relaxed);
	long seen = atomic_load_explicit(its, memory_order_relaxed);
	pthread_rwlock_unlock(&l);
	return (void *)seen;
}
int main(void)
{
	pthread_t t[2];
	void *a, *b;
	pthread_create(&t[0], 0, read_it, 0);
	pthread_create(&t[1], 0, read_it, (void *)1);
#if defined WRITE || defined TRY
	pthread_rwlock_wrlock(&l);
	data = 1;
	data = 2;
	pthread_rwlock_unlock(&l);
#endif
	pthread_join(t[0], &a);
	pthread_join(t[1], &b);
	return wrong ? 9 : (int)((long)a * 3 + (long)b);
}
C
check readers "" tso "0 1 3 4 34"
check readers "" rc11 "0 1 3 4 36"
check readers -DWRITE rc11 "0 1 3 4 74"
check readers -DTRY rc11 "0 1 2 3 4 6 8 79"

# Each thread can be the last one; all that came before an arrival is seen after the barrier.
cat >barrier.c <<'C'
#include <pthread.h>
enum { THREADS = 3 };
static pthread_barrier_t b;
static int x[THREADS], last = 9;
static void *arrive(void *p)
{
	long me = (long)p;
	x[me] = 1;
	if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD)
		last = (int)me;
	return (void *)(long)(x[0] + x[1] + x[2] == THREADS);
}
int main(void)
{
	pthread_t t[THREADS];
	int good = 1;
	pthread_barrier_init(&b, 0, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], 0, arrive, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *saw;
		pthread_join(t[i], &saw);
		good &= saw != 0;
	}
	return good ? last : 7;
}
C
for model in tso rc11; do
	check barrier "" $model "0 1 2 3"
done

# The order of the arrivals is not told; who is last only to threads that look. LOOKS: what the code
# does with the result of the call.
cat >arrivals.c <<'C'
#include <pthread.h>
enum { THREADS = 3 };
static pthread_barrier_t b;
static int x[THREADS], last[THREADS], quiet;
#ifndef MEET
#define MEET THREADS
#endif
#define WAIT() pthread_barrier_wait(&b)
__attribute__((noinline)) static int wait_for_all(void)
{
	return WAIT();
}
static void *arrive(void *p)
{
	long me = (long)p;
	for (int round = 0; round < ROUNDS; round++) {
		if (LOOKS == 1 && me == 0)
			last[me] = WAIT();
		else if (LOOKS == 2 && wait_for_all())
			last[me] = 1;
		else if (LOOKS == 3) {
			int result = WAIT();
			x[me] = 1;
			if (!quiet)
				last[me] = result;
		} else if (LOOKS == 4)
			return (void *)(long)WAIT();
		else if (LOOKS == 6) {
			int result = WAIT();
			if (result != 0 && result != PTHREAD_BARRIER_SERIAL_THREAD)
				last[me] = 1;
		} else if (LOOKS != 2)
			WAIT();
	}
	return 0;
}
int main(void)
{
	pthread_t t[THREADS];
	int all = 0;
	pthread_barrier_init(&b, 0, MEET);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], 0, arrive, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		void *result;
		pthread_join(t[i], &result);
		all += (result || last[i]) << i;
	}
	return all;
}
C
check arrivals "-DLOOKS=0 -DROUNDS=2" rc11 "0 1"
check arrivals "-DLOOKS=0 -DROUNDS=2" tso "0 1"
check arrivals "-DLOOKS=6 -DROUNDS=2" rc11 "0 1"
check arrivals "-DLOOKS=1 -DROUNDS=1" rc11 "0 1 2"
check arrivals "-DLOOKS=2 -DROUNDS=1" rc11 "1 2 4 3"
check arrivals "-DLOOKS=3 -DROUNDS=1" rc11 "1 2 4 3"
check arrivals "-DLOOKS=4 -DROUNDS=1" rc11 "1 2 4 3"
# Where more threads use it than it is for, who meets whom is open; the third one waits for ever.
check arrivals "-DLOOKS=5 -DROUNDS=1 -DMEET=2" rc11 "6 6"

# The count of a semaphore, as others post and take.
cat >count.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static void *post(void *p)
{
	sem_post(&s);
	sem_post(&s);
	sem_wait(&s);
	return p;
}
int main(void)
{
	pthread_t t;
	int first, second;
	sem_init(&s, 0, 1);
	pthread_create(&t, 0, post, 0);
	sem_getvalue(&s, &first);
	sem_getvalue(&s, &second);
	pthread_join(t, 0);
	return first * 10 + second;
}
C
for model in tso rc11; do
	check count "" $model "11 12 13 22 23 32 33 10"
done

# Calls that synchronise nothing between the two accesses of a thread: under TSO the store may wait for
# as long as without them, in memory that is freed or unmapped then, too.
cat >calls.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static atomic_int x, y;
static sem_t s;
static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char from[2][64], to[2][64];
static void between(int me)
{
	int count;
	char *volatile p;
	CALLS;
}
static void *other(void *unused)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	between(1);
	return (void *)(long)atomic_load_explicit(&y, memory_order_relaxed);
}
int main(void)
{
	pthread_t t;
	void *a;
	sem_init(&s, 0, 0);
	pthread_create(&t, 0, other, 0);
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	between(0);
	int b = atomic_load_explicit(&x, memory_order_relaxed);
	pthread_join(t, &a);
	return (a ? 2 : 0) + b;
}
C
calls() { # CALLS MODEL STATUSES, as check
	run "$HEDDLE" cc -w -g -O1 -DCALLS="$1" calls.c -o calls -pthread
	run "$HEDDLE" explore --budget 100 --memory "$2" --format json -- ./calls
	is "$(json '$d->{complete} ? "complete" : join "; ", @{$d->{gaps}}') $(json 'join " ", sort keys %{{ map { $_->{status} => 1 } @{$d->{runs}} }}')" \
		"complete $3" "store buffering with: $1, $2"
}
for between in "p = malloc(8), p[0] = 1, free(p)" "p = malloc(8), p[0] = 1, p = realloc(p, 64), free(p)" \
	"p = mmap(0, 9999, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), p[0] = 1, munmap(p, 9999)" \
	"memcpy(to[me], from[me], 40)" "usleep(0), fflush(stderr)" "sem_getvalue(&s, &count)" \
	"pthread_mutex_t m; pthread_mutex_init(&m, 0), pthread_mutex_destroy(&m)"; do
	for model in tso rc11; do
		calls "$between" $model "0 1 2 3"
	done
done
for between in "sem_trywait(&s)" "pthread_mutex_lock(&again), pthread_mutex_unlock(&again)"; do
	calls "$between" tso "1 2 3"
done

# A recursive mutex that the thread has anyway synchronises nothing, either.
cat >again.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static pthread_mutex_t m[2] = { PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
	                        PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };
static int run(int me)
{
	pthread_mutex_lock(&m[me]);
	atomic_store_explicit(me ? &x : &y, 1, memory_order_relaxed);
	pthread_mutex_lock(&m[me]);
	pthread_mutex_unlock(&m[me]);
	int seen = atomic_load_explicit(me ? &y : &x, memory_order_relaxed);
	pthread_mutex_unlock(&m[me]);
	return seen;
}
static void *other(void *unused)
{
	return (void *)(long)run(1);
}
int main(void)
{
	pthread_t t;
	void *a;
	pthread_create(&t, 0, other, 0);
	int b = run(0);
	pthread_join(t, &a);
	return (a ? 2 : 0) + b;
}
C
for model in tso rc11; do
	check again "" $model "0 1 2 3 4"
done

# What a recording says of the stores' arrivals fits, with stores of many bytes, too.
run "$HEDDLE" cc -w -g -O1 -DCALLS="memcpy(to[me], from[me], 40)" calls.c -o calls -pthread
for seed in 1 2 3 4; do
	"$HEDDLE" record --memory tso --seed $seed -o calls.hdl -- ./calls >/dev/null 2>&1
	run "$HEDDLE" races calls.hdl
	is "$status" 0 "a recording under TSO with a copy of 40 bytes, seed $seed"
done

# Each thread can run the once-function; the others see what it did.
cat >once.c <<'C'
#include <pthread.h>
static pthread_once_t o = PTHREAD_ONCE_INIT;
static int made, by, saw[2];
static __thread int me;
static void make(void)
{
	made = 1;
	by = me;
}
static void *use(void *p)
{
	me = (int)(long)p + 1;
	pthread_once(&o, make);
	saw[me - 1] = made;
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], 0, use, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return saw[0] + saw[1] == 2 ? by : 7;
}
C
cat >local.cc <<'C'
#include <thread>
static int made;
static int make() { return ++made; }
static int use() { static int it = make(); return it; }
int main()
{
	int a = 0, b = 0;
	std::thread t([&] { a = use(); }), u([&] { b = use(); });
	t.join();
	u.join();
	return a + b;
}
C
for model in tso rc11; do
	check once "" $model "1 2 2"
done
run "$HEDDLE" c++ -g -O1 local.cc -o local -pthread
run "$HEDDLE" explore --budget 100 --memory rc11 --format json -- ./local
is "$(json '$d->{complete} ? 1 : 0') $(json 'join " ", map { $_->{status} } @{$d->{runs}}')" "1 2 2 2 2" \
	"a static of a function: one of two makes it"

# A try fails where another holds the lock, and under RC11 where nothing orders its end and the try: the
# status is 3 when x was seen and the lock was not free.
cat >try.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t s;
static atomic_int x;
static void *hold(void *p)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	sem_post(&s);
	atomic_store_explicit(&x, 1, STORE);
	return p;
}
int main(void)
{
	pthread_t t;
	struct timespec past = { 0, 0 };
	sem_init(&s, 0, 0);
	pthread_create(&t, 0, hold, 0);
	int seen = atomic_load_explicit(&x, memory_order_acquire);
#ifdef SEMAPHORE
	int failed = sem_trywait(&s) != 0;
#else
	int failed = pthread_mutex_timedlock(&m, &past) != 0;
	if (!failed)
		pthread_mutex_unlock(&m);
#endif
	(void)past;
	pthread_join(t, 0);
	return seen * 2 + failed;
}
C
check try -DSTORE=memory_order_release rc11 "0 1 2 4"
check try -DSTORE=memory_order_relaxed rc11 "0 1 2 3 5"
check try -DSTORE=memory_order_relaxed tso "0 1 2 4"
sed -i 's/^#ifdef SEMAPHORE/#if 1/' try.c
check try -DSTORE=memory_order_release rc11 "0 1 2 3"
check try -DSTORE=memory_order_relaxed rc11 "0 1 2 3 4"
done_testing
