/* For the cost of critical sections on line (docs/benchmarks-recording.md): four threads and 16
 * locks, and in each section 32 accesses of as many items. */
#include <pthread.h>
#include <stdlib.h>
enum { LOCKS = 16, THREADS = 4 };
static pthread_mutex_t m[LOCKS];
static int v[LOCKS][16];
static long rounds;
static void *work(void *p)
{
	unsigned x = (unsigned)(size_t)p * 7919 + 1;
	for (long i = 0; i < rounds; i++) {
		x = x * 1664525 + 1013904223;
		unsigned l = x >> 16 & (LOCKS - 1);
		pthread_mutex_lock(&m[l]);
		for (int k = 0; k < 16; k++)
			v[l][k] += k;
		pthread_mutex_unlock(&m[l]);
	}
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	rounds = argc > 1 ? atol(argv[1]) : 1000;
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&m[i], 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], 0);
	return 0;
}
