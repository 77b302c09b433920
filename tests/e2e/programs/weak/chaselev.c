/*
 * The deque of Chase and Lev with the orders of Le, Pop, Cohen and Zappa Nardelli (PPoPP 2013), of
 * a fixed size.  -DWEAK: take has an acquire and release fence in the place of a seq_cst one.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef WEAK
#define TAKE memory_order_acq_rel
#else
#define TAKE memory_order_seq_cst
#endif

enum { SIZE = 8, EMPTY = -1, ABORT = -2, ITEMS = 2 };
static atomic_long top, bottom;
static atomic_int items[SIZE];
static atomic_int taken[ITEMS];

static void push(int x)
{
	long b = atomic_load_explicit(&bottom, memory_order_relaxed);
	atomic_load_explicit(&top, memory_order_acquire);
	atomic_store_explicit(&items[b % SIZE], x, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void)
{
	long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
	atomic_store_explicit(&bottom, b, memory_order_relaxed);
	atomic_thread_fence(TAKE);
	long t = atomic_load_explicit(&top, memory_order_relaxed);
	int x = EMPTY;
	if (t <= b) {
		x = atomic_load_explicit(&items[b % SIZE], memory_order_relaxed);
		if (t != b)
			return x;
		if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1,
		                                             memory_order_seq_cst,
		                                             memory_order_relaxed))
			x = EMPTY;
	}
	atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
	return x;
}

static int steal(void)
{
	long t = atomic_load_explicit(&top, memory_order_acquire);
	atomic_thread_fence(memory_order_seq_cst);
	long b = atomic_load_explicit(&bottom, memory_order_acquire);
	if (t >= b)
		return EMPTY;
	int x = atomic_load_explicit(&items[t % SIZE], memory_order_relaxed);
	return atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst,
	                                               memory_order_relaxed)
	               ? x
	               : ABORT;
}

static void got(int x)
{
	if (x >= 0)
		atomic_fetch_add(&taken[x], 1);
}

static void *owner(void *arg)
{
	for (int i = 0; i < ITEMS; i++)
		push(i);
	for (int i = 0; i < ITEMS; i++)
		got(take());
	return arg;
}

static void *thief(void *arg)
{
	got(steal());
	got(steal());
	return arg;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, owner, NULL);
	pthread_create(&b, NULL, thief, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	for (int i = 0; i < ITEMS; i++)
		if (atomic_load(&taken[i]) > 1)
			return 1;
	return 0;
}
