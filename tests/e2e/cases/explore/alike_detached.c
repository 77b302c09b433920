/* Main joins none of the threads, and ends the program while they run. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t done;
static int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *u)
{
	pthread_mutex_lock(&m);
	x = x * 2 + 1;
	pthread_mutex_unlock(&m);
	sem_post(&done);
	return u;
}
int main(void)
{
	pthread_t t[3];
	sem_init(&done, 0, 0);
	for (int i = 0; i < 3; i++) {
		pthread_create(&t[i], 0, work, 0);
		pthread_detach(t[i]);
	}
	sem_wait(&done);
	pthread_mutex_lock(&m);
	int y = x;
	pthread_mutex_unlock(&m);
	assert(y != 3);
	return 0;
}

// Whether a thread has had a turn when the program ends is no class: its stack is known from its creation on.
//: explore
//= complete yes
//= states 15
//= executions 15
//= errors signal@alike_detached.c:28
//: explore --symmetry
//= complete yes
//= states 3
//= $d->{"stand-for"} 15
//= errors signal@alike_detached.c:28
