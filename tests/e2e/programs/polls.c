/* Threads that wait by looking again and again, one for each argument; a sleeper ends it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int ready, never, sum;
static volatile int plain;
static int data;

__attribute__((noinline)) static int look(atomic_int *p)
{
	return atomic_load(p);
}

static void *wait_for_it(void *way)
{
	int looks = 0;
	switch ((int)(long)way) {
	case 0: /* in a function of its own */
		while (!look(&ready))
			;
		break;
	case 1: /* two places */
		while (!atomic_load(&ready) && !atomic_load(&never))
			;
		break;
	case 2: /* politely */
		while (!atomic_load(&ready))
			sched_yield();
		break;
	case 3: /* so many times, in vain */
		while (looks++ < 100000 && !look(&never))
			;
		break;
	case 4: /* no atomic */
		while (!plain)
			;
		break;
	}
	atomic_fetch_add(&sum, data);
	return NULL;
}

static void *sleeper(void *unused)
{
	(void)unused;
	usleep(1000);
	data = 5;
	plain = 1;
	atomic_store(&ready, 1);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	for (int i = 1; i < argc && i < 15; i++)
		pthread_create(&threads[i], NULL, wait_for_it, (void *)(long)atoi(argv[i]));
	pthread_create(&threads[0], NULL, sleeper, NULL);
	for (int i = 0; i < argc && i < 15; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", atomic_load(&sum) > 0);
	return 0;
}
