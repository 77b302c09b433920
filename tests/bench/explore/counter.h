/* A counter under a lock, as an object with methods. */
#ifndef COUNTER_H
#define COUNTER_H
#include <pthread.h>
struct counter {
	pthread_mutex_t lock;
	volatile int n;
};
__attribute__((noipa)) void counter_inc(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	c->n++;
	pthread_mutex_unlock(&c->lock);
}
__attribute__((noipa)) void counter_dec(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	c->n--;
	pthread_mutex_unlock(&c->lock);
}
__attribute__((noipa)) int counter_read(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	int n = c->n;
	pthread_mutex_unlock(&c->lock);
	return n;
}
#endif
