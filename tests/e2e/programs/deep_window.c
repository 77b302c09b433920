/*
 * deep_window.c - an assertion fails where each of two threads is interrupted between two accesses in the second
 * half of a run of 400,000 events, of which main makes most before there are threads.
 */
#include <assert.h>
#include <pthread.h>
enum { ALONE = 300000, ROUNDS = 400 };
static volatile int x, y, private_words[4096];
static void *worker(void *mine)
{
	static __thread volatile int own[64];
	int *seen = mine;
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 60; k++)
			own[k] += i;
		x = x + 1;
		if (i >= ROUNDS / 2 && *seen == 0) {
			int was = x;
			y = y + 1;
			*seen = x != was;
		}
	}
	return mine;
}
int main(void)
{
	pthread_t t[2];
	static int seen[2];
	for (int i = 0; i < ALONE; i++)
		private_words[i & 4095] = i;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &seen[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(!(seen[0] && seen[1]));
	return 0;
}
