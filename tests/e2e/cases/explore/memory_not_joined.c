/* threads that main does not join, under memory models: each comes to its end, or waits */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x, y;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *put(void *u)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	return u;
}
static void *get(void *u)
{
	if (atomic_load_explicit(&y, memory_order_relaxed) && !atomic_load_explicit(&x, memory_order_relaxed))
		abort();
	return u;
}
static void *await(void *u) { while (!atomic_load(&y)); return u; }
static void *keep(void *u) { pthread_mutex_lock(&m); return u; }
static void *create(void *u) { pthread_t t; put(u); pthread_create(&t, 0, get, 0); return u; }
static void *leave(void *u) { exit(atomic_load(&y) ? 3 : 4); return u; }
int main(int argc, char **argv)
{
	static void *(*const threads[][2])(void *) = { { put, get }, { put, await }, { await, await },
		{ keep, keep }, { create, get }, { put, leave } };
	int how = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t t;
	for (int i = 0; i < 2; i++) pthread_create(&t, 0, threads[how][i], 0);
	if (how == 5) pthread_exit(0);
	return 0;
}

//: explore --memory tso @ 0
//= exit 0
//= complete yes
//: explore --memory rc11 @ 0
//= exit 1
//= errors signal@memory_not_joined.c:15
//~ said two threads end the program
//: explore --memory {tso,rc11} @ 1
//= exit 0
//= complete yes
//: explore --memory {tso,rc11} @ 2
//= exit 0
//= complete yes
//: explore --memory {tso,rc11} @ 3
//= exit 0
//= complete yes
//: explore --memory rc11 @ 4
//= errors signal@memory_not_joined.c:15
//: explore --memory rc11 @ 5
//= complete yes
//= outcomes 3 4
