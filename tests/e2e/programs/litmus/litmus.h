/*
 * litmus.h - a litmus test as a program: its threads are t0, t1, ..., and it exits 1 when the
 * outcome in question was seen, else 0.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;
static int a, b, c, d; /* what the loads saw, each written by one thread */

#define LOAD(v, o)     atomic_load_explicit(&(v), memory_order_##o)
#define STORE(v, n, o) atomic_store_explicit(&(v), n, memory_order_##o)
#define SWAP(v, n, o)  atomic_exchange_explicit(&(v), n, memory_order_##o)
#define ADD(v, n, o)   atomic_fetch_add_explicit(&(v), n, memory_order_##o)
#define FENCE(o)       atomic_thread_fence(memory_order_##o)

#define THREAD(n, ...) \
	static void *t##n(void *arg) \
	{ \
		__VA_ARGS__; \
		return arg; \
	}
#define RUN(question, ...) \
	int main(void) \
	{ \
		void *(*const run[])(void *) = { __VA_ARGS__ }; \
		pthread_t thread[sizeof run / sizeof *run]; \
		(void)a, (void)b, (void)c, (void)d, (void)&x, (void)&y; \
		for (size_t i = 0; i < sizeof run / sizeof *run; i++) \
			pthread_create(&thread[i], NULL, run[i], NULL); \
		for (size_t i = 0; i < sizeof run / sizeof *run; i++) \
			pthread_join(thread[i], NULL); \
		return question; \
	}
