/*
 * own_numbers.c - one thread closes and makes descriptors while others come and go: it gets the
 * numbers that it would get alone, and dup2 never finds one in use.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int done;

static void *lives(void *unused)
{
	return unused;
}

static void *come_and_go(void *unused)
{
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		pthread_t t;
		pthread_create(&t, NULL, lives, NULL);
		pthread_join(t, NULL);
	}
	return unused;
}

int main(void)
{
	pthread_t t[2];
	int wrong = 0, from = open("/dev/null", O_WRONLY), to = dup(from);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, come_and_go, NULL);
	for (int i = 0; i < 5000; i++) {
		close(to);
		wrong += dup2(from, to) != to;
		close(to);
		wrong += dup(from) != to;
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
