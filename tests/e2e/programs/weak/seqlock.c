/* A sequence lock, WRITES writes of a pair.  -DWEAK: without the writer's fence. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef WRITES
#define WRITES 2
#endif
#ifndef READS
#define READS 1
#endif

static atomic_uint sequence;
static atomic_int first, second;
static int wrong;

static void *writer(void *arg)
{
	for (int i = 1; i <= WRITES; i++) {
		unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
		atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
#ifndef WEAK
		atomic_thread_fence(memory_order_release);
#endif
		atomic_store_explicit(&first, i, memory_order_relaxed);
		atomic_store_explicit(&second, i, memory_order_relaxed);
		atomic_store_explicit(&sequence, s + 2, memory_order_release);
	}
	return arg;
}

/* Both of one write, or it looks again. */
static void *reader(void *arg)
{
	for (int i = 0; i < READS; i++) {
		unsigned s;
		int a, b;
		do {
			s = atomic_load_explicit(&sequence, memory_order_acquire);
			a = atomic_load_explicit(&first, memory_order_relaxed);
			b = atomic_load_explicit(&second, memory_order_relaxed);
			atomic_thread_fence(memory_order_acquire);
		} while (s % 2 == 1 ||
		         atomic_load_explicit(&sequence, memory_order_relaxed) != s);
		if (a != b)
			wrong = 1;
	}
	return arg;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return wrong;
}
