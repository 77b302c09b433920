/* A failed round leaves a value in a register or on the stack that the next one overwrites: it led
   nowhere, so that the orders of the updates are all that there is. */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *add(void *p)
{
	int e;
	do
		e = atomic_load(&x);
	while (!atomic_compare_exchange_strong(&x, &e, e + 1));
	return p;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return x != 3;
}

//: explore
//= exit 0
//= complete yes
//= states 6
