/* A run of 240,000 events: two threads work on shared memory under a lock; once one takes a pointer
 * away for a moment, and once the other follows it. No schedule by chance comes upon that in 40. */
#include <pthread.h>
#include <stdlib.h>
enum { ROUNDS = 30000, SLOTS = 64 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int slots[SLOTS];
static int value;
static int *volatile p = &value;
static void work(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&m);
		slots[i % SLOTS]++;
		pthread_mutex_unlock(&m);
	}
}
static void *takes(void *x)
{
	work(ROUNDS / 3);
	p = NULL;
	p = &value;
	work(2 * ROUNDS / 3);
	return x;
}
static void *follows(void *x)
{
	work(ROUNDS / 2);
	if (*p)
		abort();
	work(ROUNDS / 2);
	return x;
}
int main(void)
{
	pthread_t s, t;
	pthread_create(&s, NULL, takes, NULL);
	pthread_create(&t, NULL, follows, NULL);
	pthread_join(s, NULL);
	pthread_join(t, NULL);
	return 0;
}

//: shake --runs 40 --tries 0 --until-error --seed {1,2,3} @ 1
//~ out signal 11
