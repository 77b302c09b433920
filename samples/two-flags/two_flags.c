/*
 * two_flags.c - two clerks and one till. Each raises a flag before it goes to the till, and
 * goes only when the other's is down. The first one writes a receipt, and says so.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int left, right; /* flags: up, down */
static int till;
static atomic_int receipt, printed;
static int seen = -1; /* the receipt that the right clerk found */

static void *left_clerk(void *arg)
{
	atomic_store_explicit(&left, 1, memory_order_relaxed);
	if (atomic_load_explicit(&right, memory_order_relaxed) == 0)
		till = till + 10;
	atomic_store_explicit(&receipt, 42, memory_order_relaxed);
	atomic_store_explicit(&printed, 1, memory_order_relaxed);
	return arg;
}

static void *right_clerk(void *arg)
{
	atomic_store_explicit(&right, 1, memory_order_relaxed);
	if (atomic_load_explicit(&left, memory_order_relaxed) == 0)
		till = till + 10;
	if (atomic_load_explicit(&printed, memory_order_relaxed))
		seen = atomic_load_explicit(&receipt, memory_order_relaxed);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, left_clerk, NULL);
	pthread_create(&b, NULL, right_clerk, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("till %d, receipt %d\n", till, seen);
	return till == 20 || seen == 0;
}
