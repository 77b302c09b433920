/* Additions whose result nobody uses, beside a write of a part of the counter that not every run has: as the values are not
 * known in each state, additions tell runs apart, in all runs alike. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static atomic_uint sum, go;
static __attribute__((noinline)) void count(unsigned by)
{
	atomic_fetch_add(&sum, by);
}
static void *add(void *p)
{
	count(255);
	return p;
}
static void *set(void *p)
{
	if (atomic_load(&go) != 0)
		__atomic_store_n((uint8_t *)&sum, 1, __ATOMIC_SEQ_CST); /* not in every run */
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, set, 0);
	pthread_create(&b, 0, add, 0);
	count(2);
	atomic_store(&go, 1);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(atomic_load(&sum) != 257 + 255 - 255 - 1);
	return 0;
}

//: explore
//= exit 1
//= errors signal@sum_divided.c:32
//= complete yes
//= states 5
