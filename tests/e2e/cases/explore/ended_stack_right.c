/* What is on a thread's stack is used by another, and the thread waits until that is done. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static _Atomic(int *) shown;
static _Atomic(sem_t *) lent;
static sem_t done;
static void *owner(void *p)
{
	int local = 1;
	sem_t own;
	sem_init(&own, 0, 0);
#ifdef OBJECT
	lent = &own;
#else
	shown = &local;
#endif
#ifdef WAITS
	sem_wait(&done);
#endif
#ifdef EXITS
	pthread_exit(p);
#endif
	return p;
}
static void *user(void *p)
{
	int *at = shown;
	sem_t *s = lent;
	if (at)
		*at = 42;
	if (s)
		sem_post(s);
	sem_post(&done);
	return p;
}
int main(void)
{
	pthread_t t[2];
	sem_init(&done, 0, 0);
	pthread_create(&t[0], 0, owner, 0);
	pthread_create(&t[1], 0, user, 0);
#ifdef JOINS
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
#endif
	pthread_exit(0);
}

//: build -DWAITS {-DEXITS,-DJOINS,-DOBJECT}
//: explore
//= errors 
//= complete yes
