/* Nobody looks at what the barrier returns: whoever is last in a round, that is one class. */
#include <pthread.h>
static pthread_barrier_t b;
static void *run(void *p)
{
	pthread_barrier_wait(&b);
	pthread_barrier_wait(&b);
	return p;
}
int main(void)
{
	pthread_t t[3];
	pthread_barrier_init(&b, 0, 3);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore
//= exit 0
//= complete yes
//= states 1
