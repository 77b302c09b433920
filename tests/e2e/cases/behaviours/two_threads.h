/* Two threads that count, as every program here does beside what it is about; ways by name. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *count(void *times)
{
	for (long i = 0; i < (long)times; i++) {
		pthread_mutex_lock(&m);
		x++;
		pthread_mutex_unlock(&m);
	}
	return NULL;
}
static void two(long times)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, count, (void *)times) != 0)
			exit(99);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}
static void say(void) { printf("x=%d\n", x); }

struct way {
	const char *name;
	int (*run)(void);
};
static int run_way(const struct way *ways, const char *name)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (; ways->name != NULL; ways++)
		if (strcmp(ways->name, name) == 0)
			return ways->run();
	return 98;
}
