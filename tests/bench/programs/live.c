/* For live.sh: two threads that do nothing but access memory, with a race at the end. Says when
 * that was. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int guarded[64], race;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long rounds;

static void *work(void *main)
{
	int *mine = calloc(64, sizeof(int));
	for (long i = 0; i < rounds; i++) {
		for (int k = 0; k < 60; k++)
			mine[k] += k;
		if (i % 8 == 0) {
			pthread_mutex_lock(&mutex);
			guarded[i % 64]++;
			pthread_mutex_unlock(&mutex);
		}
	}
	race++;
	if (main)
		fputs("the race has happened\n", stderr);
	free(mine);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t t;
	rounds = argc > 1 ? atol(argv[1]) : 20000;
	pthread_create(&t, 0, work, 0);
	work(&t);
	pthread_join(t, 0);
	return 0;
}
