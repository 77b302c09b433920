/* ring: two writers and a reader of a ring buffer, LB operations in all: the reader takes
 * what is there, in the order in which each writer put it in. */
#include <assert.h>
#include <pthread.h>
#ifndef LB
#define LB 8
#endif
struct ring {
	pthread_mutex_t lock;
	int first, count, items[LB];
};
static struct ring r = { PTHREAD_MUTEX_INITIALIZER, 0, 0, { 0 } };
__attribute__((noipa)) void ring_put(struct ring *r, int v)
{
	pthread_mutex_lock(&r->lock);
	r->items[(r->first + r->count++) % LB] = v;
	pthread_mutex_unlock(&r->lock);
}
__attribute__((noipa)) int ring_get(struct ring *r)
{
	int v = 0;
	pthread_mutex_lock(&r->lock);
	if (r->count > 0) {
		v = r->items[r->first];
		r->first = (r->first + 1) % LB;
		r->count--;
	}
	pthread_mutex_unlock(&r->lock);
	return v;
}
static void *writer(void *which)
{
	for (int i = 1; i <= LB / 4; i++)
		ring_put(&r, (int)(long)which + i);
	return NULL;
}
int main(void)
{
	pthread_t one, two;
	int last[3] = { 0 };
	pthread_create(&one, NULL, writer, (void *)100L);
	pthread_create(&two, NULL, writer, (void *)200L);
	for (int i = 0; i < LB / 2; i++) {
		int v = ring_get(&r);
		assert(v == 0 || v > last[v / 100]);
		last[v / 100] = v;
	}
	pthread_join(one, NULL);
	return pthread_join(two, NULL);
}
