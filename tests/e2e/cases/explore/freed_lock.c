/* A lock whose block another thread frees, without destroying it: K = 1 a mutex, 2 a condition
 * that is signalled after unlocking, 3 a semaphore. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
struct box { pthread_mutex_t m; pthread_cond_t c; sem_t s; };
static struct box *box;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static int gone;
static void *user(void *p)
{
	pthread_mutex_lock(&outer);
	int g = gone;
	pthread_mutex_unlock(&outer);
	if (g)
		return p;
#if K == 1
	pthread_mutex_lock(&box->m);
	pthread_mutex_unlock(&box->m);
#elif K == 2
	pthread_cond_signal(&box->c);
#else
	sem_post(&box->s);
#endif
	return p;
}
static void *owner(void *p)
{
	pthread_mutex_lock(&outer);
	gone = 1;
	pthread_mutex_unlock(&outer);
	free(box);
	return p;
}
int main(void)
{
	pthread_t t[2];
	box = calloc(1, sizeof *box);
	pthread_mutex_init(&box->m, 0);
	pthread_cond_init(&box->c, 0);
	sem_init(&box->s, 0, 0);
	pthread_create(t, 0, user, 0);
	pthread_create(t + 1, 0, owner, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}

//: build -DK={1,2,3}
//: explore
//~ errors use-after-free@freed_lock\.c:(18|21|23)
