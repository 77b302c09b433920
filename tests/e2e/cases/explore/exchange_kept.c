/* An exchange that fails and goes on with the value that it was told: as if that one had been read at first, so that the
   orders of the updates are all that there is. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *add(void *p) { int was = x; while (!atomic_compare_exchange_strong(&x, &was, was + 1)) ; return p; }
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	assert(x == 3);
	return 0;
}

//: explore
//= exit 0
//= states 6
//= complete yes
//= errors
//~ $d->{executions}<=45 1
