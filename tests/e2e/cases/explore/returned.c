/* A function lends a local variable to a thread and waits for it, by looking; or returns at
 * once; or the thread touches the variable once more when it has told the function. */
#include <pthread.h>
#include <stdatomic.h>
struct request {
	atomic_int done;
	int value;
};
static void *work(void *p)
{
	struct request *r = p;
	r->value = 42;
	r->done = 1;
#ifdef AGAIN
	r->done = 2;
#endif
	return NULL;
}
static __attribute__((noinline)) pthread_t lend(void)
{
	struct request r = { 0, 0 };
	pthread_t t;
	pthread_create(&t, NULL, work, &r);
#ifndef LEAVES
	while (r.done == 0)
		;
#endif
	return t;
}
int main(void)
{
	pthread_t t = lend();
	return pthread_join(t, NULL);
}

//: explore
//= errors
//= complete yes
