/* Loops that wait by looking at volatile variables: one step, however often they look. */
#include <pthread.h>

static volatile int ready, turn, stops;
static int out;

static void *wait_ready(void *unused)
{
	while (!ready || turn)
		;
	out++;
	return unused;
}

static void *wait_for_ever(void *unused)
{
	if (stops)
		while (turn == 0)
			;
	return unused;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, wait_ready, NULL);
	pthread_create(&u, NULL, wait_for_ever, NULL);
	stops = 1;
	ready = 1;
	pthread_join(t, NULL);
	return pthread_join(u, NULL);
}

//: build {-O0,-O1,-O2}
//: explore
//= exit 1
//= errors blocked@await_volatile.c:18
//= complete yes
//= states 2
