/* An addition whose result nobody uses, beside a store and an exchange that may fail: the sum depends on where it comes. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int n;
static void *add(void *p)
{
	atomic_fetch_add(&n, 3);
	return p;
}
static void *set(void *p)
{
	int one = 1;
	atomic_store(&n, 1);
	atomic_compare_exchange_strong(&n, &one, 8);
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, add, 0);
	pthread_create(&t[1], 0, set, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	assert(atomic_load(&n) != 11);
	return 0;
}

//: explore
//= complete yes
//= states 3
//= errors signal@sum_set.c:25
