/* A compare-and-exchange that sees another value does not write: the second thread looks before
 * or after, which is the same to it, and which thread it is. */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *add(void *p)
{
	int seen = atomic_load(&x);
	while (!atomic_compare_exchange_strong(&x, &seen, seen + 1))
		;
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, add, 0);
	pthread_create(&u, 0, add, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return x != 2;
}

//: explore
//= exit 0
//= executions 4
//= states 2
//= complete yes
