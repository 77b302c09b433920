/* Three locks by one wait and two tries, from both sides, released the last one first: at each moment of a round's end it
 * holds what it held at a moment before its last look, so it is one that may be left out, though all its locks are tried.
 * (docs/waiting-loops.md, "Failed tries that tell"). */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void take(pthread_mutex_t *p, pthread_mutex_t *q, pthread_mutex_t *r)
{
	for (;;) {
		pthread_mutex_lock(p);
		if (pthread_mutex_trylock(q) == 0) {
			if (pthread_mutex_trylock(r) == 0)
				return;
			pthread_mutex_unlock(q);
		}
		pthread_mutex_unlock(p);
	}
}
static void release(void)
{
	pthread_mutex_unlock(&c);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
}
static void *up(void *p)
{
	take(&a, &b, &c);
	x++;
	release();
	return p;
}
static void *down(void *p)
{
	take(&c, &b, &a);
	x++;
	release();
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, up, 0);
	pthread_create(&u, 0, down, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	assert(x == 2);
	return 0;
}

//: build {-O0,-O1,-O2}
//: explore --seed {0,1}
//= exit 0
//= complete yes
//= states 2
