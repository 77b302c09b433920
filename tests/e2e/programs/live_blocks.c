/* Blocks that threads use, replace and free, and conditions, under locks and beside them, in an
 * order that the seed chooses. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, BLOCKS = 3, STEPS = 14 };
static pthread_mutex_t mutex[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int *volatile block[BLOCKS];
static int counted[2], waiting;
static unsigned seed;

static unsigned below(unsigned *r, unsigned n)
{
	*r = *r * 1103515245u + 12345u;
	return (*r >> 16) % n;
}

/* Macros, so that each has the line that it is used at: of a thread's uses between two of its
 * events that may order them before others any one may be told as the last. */
#define USE \
	do { \
		int *p = block[below(r, BLOCKS)], n = (int)below(r, 4); \
		n == 0   ? p[8]++ \
		: n == 1 ? (p[9] = p[10]) \
		: n == 2 ? ((volatile int *)p)[8] \
			 : (p[11] = 1); \
	} while (0)
#define REPLACE \
	do { \
		unsigned i = below(r, BLOCKS); \
		int *old = block[i]; \
		block[i] = calloc(16, sizeof *old); \
		free(old); \
	} while (0)

static void step(unsigned *r)
{
	unsigned m = below(r, 2);
	switch (below(r, 10)) {
	case 0:
		USE;
		break;
	case 1:
		REPLACE;
		break;
	case 2:
		pthread_mutex_lock(&mutex[m]);
		USE;
		pthread_mutex_unlock(&mutex[m]);
		break;
	case 3:
		pthread_mutex_lock(&mutex[m]);
		REPLACE;
		pthread_mutex_unlock(&mutex[m]);
		break;
	case 4:
		pthread_mutex_lock(&mutex[m]);
		counted[m]++;
		pthread_mutex_unlock(&mutex[m]);
		break;
	case 5:
		pthread_mutex_lock(&mutex[0]);
		USE;
		pthread_mutex_lock(&mutex[1]);
		USE;
		pthread_mutex_unlock(&mutex[1]);
		REPLACE;
		pthread_mutex_unlock(&mutex[0]);
		break;
	case 6:
		pthread_rwlock_rdlock(&shared);
		USE;
		pthread_rwlock_unlock(&shared);
		break;
	case 7:
		pthread_rwlock_wrlock(&shared);
		REPLACE;
		pthread_rwlock_unlock(&shared);
		break;
	case 8:
		pthread_mutex_lock(&mutex[0]);
		pthread_cond_signal(&condition);
		pthread_mutex_unlock(&mutex[0]);
		break;
	case 9:
		pthread_mutex_lock(&mutex[0]);
		if (++waiting < THREADS - 1) {
			struct timespec soon = { 1, 0 };
			pthread_cond_timedwait(&condition, &mutex[0], &soon);
		}
		waiting--;
		pthread_mutex_unlock(&mutex[0]);
		break;
	}
}

static void *run(void *p)
{
	unsigned r = seed * 7919u + (unsigned)(size_t)p;
	for (int i = 0; i < STEPS; i++)
		step(&r);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	for (int i = 0; i < BLOCKS; i++)
		block[i] = calloc(16, sizeof *block[i]);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	return 0;
}
