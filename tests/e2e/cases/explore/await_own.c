/* main waits for a flag, and for one on its own stack that another thread sets in some runs alone. A round of the loop
 * whose last look is at the first flag may not be left out, though the first runs have nobody else at the second. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int ready, rare;
static void *finish(void *p)
{
	if (rare)
		*(atomic_int *)p = 1;
	return 0;
}
static void *make_ready(void *p)
{
	ready = 1;
	return p;
}
static void *make_rare(void *p)
{
	rare = 1;
	return p;
}
int main(void)
{
	pthread_t t[3];
	atomic_int finished = 0;
	int a, b;
	pthread_create(&t[0], 0, make_ready, 0);
	pthread_create(&t[1], 0, finish, &finished);
	pthread_create(&t[2], 0, make_rare, 0);
	do {
		a = ready;
		b = finished;
	} while (!a && !b);
	assert(a);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore --seed {0,1,2,3}
//= exit 1
//= errors signal@await_own.c:35
//= complete yes
