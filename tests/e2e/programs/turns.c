/*
 * turns.c - N threads take a lock in turn: N! classes. -DBUG: an assertion fails where the first
 * thread is the last one. -DRUNS: each run adds a line to the file "runs", and prints.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int c;
static void *inc(void *p)
{
	pthread_mutex_lock(&m);
	int was = c++;
	pthread_mutex_unlock(&m);
#ifdef BUG
	assert(p || was != N - 1);
#endif
#ifdef LATE
	sigset_t none;
	if (!p && was == N - 1 && sigemptyset(&none) == 0)
		pthread_sigmask(SIG_BLOCK, &none, 0);
#endif
	return (void)was, p;
}
int main(void)
{
	pthread_t t[N];
#ifdef RUNS
	FILE *runs = fopen("runs", "a");
	fputs("run\n", runs);
	fclose(runs);
#endif
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], 0, inc, i ? t : 0);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], 0);
#ifdef RUNS
	puts("done");
#endif
	return 0;
}
