/* A read whose value is not used races, at every level of optimisation. */
#include <pthread.h>
#include <stdatomic.h>

static int x;
static atomic_int ready;

static void *put(void *unused)
{
	x = 1;
	atomic_store_explicit(&ready, 1, memory_order_relaxed);
	return unused;
}

static void *get(void *unused)
{
	int seen;
	if (!atomic_load_explicit(&ready, memory_order_relaxed))
		seen = x;
	return unused;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, put, NULL);
	pthread_create(&u, NULL, get, NULL);
	pthread_join(t, NULL);
	return pthread_join(u, NULL);
}

//: build {-O0,-O1,-O2,-O3}
//: explore
//= exit 1
//= complete yes
//= racy unused_read.c:10+unused_read.c:19
