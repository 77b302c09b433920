/* Whose post lets t go on makes no difference to any value, so one run shows all of the program's; but only by
 * u's does t's write race with s's. */
#include <pthread.h>
#include <semaphore.h>
static volatile int x;
static sem_t posted;
static void *s(void *p)
{
	x = 1;
	sem_post(&posted);
	return p;
}
static void *t(void *p)
{
	sem_wait(&posted);
	x = 2;
	return p;
}
static void *u(void *p)
{
	if (p)
		sem_post(&posted);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t threads[3];
	sem_init(&posted, 0, 0);
	pthread_create(&threads[0], 0, s, 0);
	pthread_create(&threads[1], 0, t, 0);
	pthread_create(&threads[2], 0, u, argc > 1 ? argv : 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	return 0;
}

//: explore --format json @ both
//= racy paired_post.c:16+paired_post.c:9
//- said may be missed
//= complete yes
//: explore --format json
//= racy
//- said may be missed
//= complete yes
