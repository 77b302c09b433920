/* A signal may wake either of two waiters. */
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t waits, woken;
static int first;
static void *waiter(void *p)
{
	pthread_mutex_lock(&m);
	sem_post(&waits);
	pthread_cond_wait(&c, &m);
	if (first == 0)
		first = (int)(long)p;
	pthread_mutex_unlock(&m);
	sem_post(&woken);
	return p;
}
int main(void)
{
	pthread_t t[2];
	sem_init(&waits, 0, 0);
	sem_init(&woken, 0, 0);
	pthread_create(&t[0], 0, waiter, (void *)1);
	sem_wait(&waits); /* the first waits before the second begins */
	pthread_create(&t[1], 0, waiter, (void *)2);
	sem_wait(&waits);
	pthread_mutex_lock(&m);
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	sem_wait(&woken);
	int who = first;
	pthread_mutex_lock(&m);
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return who;
}

//: explore
//= exit 1
//= errors exit-status=1 exit-status=2
