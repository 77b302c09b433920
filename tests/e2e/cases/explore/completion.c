/* A request on the stack of a function that is called twice, with a mutex and a condition of its own: the second
 * one begins with a write over what the first one was. */
#include <pthread.h>
#include <stddef.h>
struct request {
	pthread_mutex_t m;
	pthread_cond_t c;
	int done;
};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static struct request *queue;
static void *work(void *p)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		while (queue == NULL)
			pthread_cond_wait(&c, &m);
		struct request *r = queue;
		queue = NULL;
		pthread_mutex_unlock(&m);
		pthread_mutex_lock(&r->m);
		r->done = 1;
		pthread_cond_signal(&r->c);
		pthread_mutex_unlock(&r->m);
	}
	return p;
}
static __attribute__((noinline)) void call(void)
{
	struct request r = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
	pthread_mutex_lock(&m);
	queue = &r;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&r.m);
	while (!r.done)
		pthread_cond_wait(&r.c, &r.m);
	pthread_mutex_unlock(&r.m);
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	call();
	call();
	return pthread_join(t, NULL);
}

//: explore
//= errors
//= complete yes
