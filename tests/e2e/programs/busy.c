/* Two threads that add under a lock, ARGUMENT times each.  With "orphan" behind it, main ends
 * its parent, the recorder, before it waits for them. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long sum, times;

static void *add(void *unused)
{
	for (long i = 0; i < times; i++) {
		pthread_mutex_lock(&m);
		sum++;
		pthread_mutex_unlock(&m);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	times = argc > 1 ? atol(argv[1]) : 10;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	if (argc > 2) {
		pid_t recorder = getppid();
		kill(recorder, SIGKILL);
		while (getppid() == recorder)
			usleep(1000);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("sum %ld\n", sum);
	return 0;
}
