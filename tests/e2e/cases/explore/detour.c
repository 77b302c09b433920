/* Two threads add 1 under a lock that is a counter: two orders, whatever tries failed. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int lock;
static int n;
static void *add(void *p)
{
	while (atomic_fetch_add(&lock, 1) != 0) {
		atomic_fetch_sub(&lock, 1);
		while (atomic_load(&lock) != 0)
			;
	}
	n++;
	atomic_fetch_sub(&lock, 1);
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	assert(n == 2);
	return 0;
}

//: explore
//= exit 0
//= complete yes
//= states 2
