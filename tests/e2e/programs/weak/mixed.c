/* Atomics that memory models do not take apart: of two sizes, and with a plain write beside them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static union {
	atomic_int whole;
	atomic_uchar part[4];
} mixed;
static atomic_int plain, y;

static void *writer(void *arg)
{
	atomic_store_explicit(&mixed.whole, 0x01010101, memory_order_relaxed);
	atomic_store_explicit(&mixed.part[1], 2, memory_order_relaxed);
	atomic_store_explicit(&plain, 1, memory_order_relaxed);
	*(volatile int *)&plain = 2;
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	return arg;
}

static void *reader(void *arg)
{
	int seen = atomic_load_explicit(&y, memory_order_relaxed);
	int whole = atomic_load_explicit(&mixed.whole, memory_order_relaxed);
	int again = atomic_load_explicit(&plain, memory_order_relaxed);
	*(int *)arg = (whole != 0 && whole != 0x01010101 && whole != 0x01010201) ||
	              (seen && again == 0);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int wrong = 0;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, &wrong);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return wrong;
}
