/* workstealqueue: an owner puts LB items into a deque and takes some back from one end, a
 * thief steals two from the other.  No item is had twice. */
#include <assert.h>
#include <pthread.h>
#ifndef LB
#define LB 4
#endif
struct deque {
	pthread_mutex_t lock;
	int head, tail, items[2 * LB];
};
static struct deque q = { PTHREAD_MUTEX_INITIALIZER, 0, 0, { 0 } };
static volatile int had[LB + 1];
__attribute__((noipa)) void deque_push(struct deque *d, int v)
{
	pthread_mutex_lock(&d->lock);
	d->items[d->tail++] = v;
	pthread_mutex_unlock(&d->lock);
}
__attribute__((noipa)) int deque_pop(struct deque *d)
{
	pthread_mutex_lock(&d->lock);
	int v = d->head < d->tail ? d->items[--d->tail] : 0;
	pthread_mutex_unlock(&d->lock);
	return v;
}
__attribute__((noipa)) int deque_steal(struct deque *d)
{
	pthread_mutex_lock(&d->lock);
	int v = d->head < d->tail ? d->items[d->head++] : 0;
	pthread_mutex_unlock(&d->lock);
	return v;
}
static void have(int v)
{
	if (v)
		assert(had[v]++ == 0);
}
static void *thief(void *unused)
{
	have(deque_steal(&q));
	have(deque_steal(&q));
	return unused;
}
int main(void)
{
	pthread_t other;
	pthread_create(&other, NULL, thief, NULL);
	for (int i = 1; i <= LB; i++) {
		deque_push(&q, i);
		if (i % 2 == 0)
			have(deque_pop(&q));
	}
	pthread_join(other, NULL);
	return 0;
}
