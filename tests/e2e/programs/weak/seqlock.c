/* A sequence lock, two writes of a pair.  -DWEAK: without the writer's fence. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_uint sequence;
static atomic_int first, second;
static int wrong;

static void *writer(void *arg)
{
	for (int i = 1; i <= 2; i++) {
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

static void *reader(void *arg)
{
	for (int i = 0; i < 4; i++) {
		unsigned s = atomic_load_explicit(&sequence, memory_order_acquire);
		int a = atomic_load_explicit(&first, memory_order_relaxed);
		int b = atomic_load_explicit(&second, memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		if (s % 2 == 0 && s == atomic_load_explicit(&sequence, memory_order_relaxed) &&
		    a != b)
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
