/* Every kind of access and synchronisation, in an order that the seed chooses. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, CELLS = 6 };
static pthread_mutex_t mutex[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static atomic_int flag[2];
static struct {
	char bytes[8];
	int word;
	long wide[2];
} cell[CELLS];
static char *volatile block[2];
static unsigned seed;

static unsigned below(unsigned *r, unsigned n)
{
	*r = *r * 1103515245u + 12345u;
	return (*r >> 16) % n;
}

static void access_some(unsigned *r)
{
	int i = (int)below(r, CELLS);
	char *p = block[i & 1];
	switch (below(r, 14)) {
	case 0:
		cell[i].word++;
		break;
	case 1:
		cell[i].bytes[i] = 1;
		break;
	case 2:
		cell[i].wide[0] = cell[i].wide[1];
		break;
	case 3:
		memset(cell[i].bytes, i, sizeof cell[i].bytes);
		break;
	case 4:
		memcpy(&cell[i], &cell[(i + 1) % CELLS], sizeof cell[i]);
		break;
	case 5:
		*(long *)(void *)cell[i].bytes = 3;
		break;
	case 6:
		p[i] = 1;
		break;
	case 7:
		*(int *)(void *)(p + 8) += 1;
		break;
	case 8:
		memset(p, 1, 24);
		break;
	case 9:
		*(short *)(void *)(cell[i].bytes + 2) = 5;
		break;
	case 10:
		atomic_store_explicit(&flag[i & 1], i, memory_order_release);
		break;
	case 11:
		if (atomic_load_explicit(&flag[i & 1], memory_order_acquire) > 2)
			cell[0].word = 2;
		break;
	case 12:
		atomic_fetch_add_explicit(&flag[i & 1], 1, memory_order_relaxed);
		break;
	default:
		if (atomic_load_explicit(&flag[i & 1], memory_order_relaxed) == 3)
			atomic_thread_fence(memory_order_acquire);
		break;
	}
}

static void locked(unsigned *r, pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	access_some(r);
	if (m == &mutex[0])
		pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(m);
}

static void step(unsigned *r)
{
	char *fresh;
	switch (below(r, 13)) {
	case 0:
		locked(r, &mutex[0]);
		break;
	case 1:
		locked(r, &mutex[1]);
		break;
	case 2:
		pthread_rwlock_rdlock(&lock);
		access_some(r);
		pthread_rwlock_unlock(&lock);
		break;
	case 3:
		pthread_rwlock_wrlock(&lock);
		access_some(r);
		pthread_rwlock_unlock(&lock);
		break;
	case 4:
		sem_post(&semaphore);
		break;
	case 5:
		if (sem_trywait(&semaphore) == 0)
			access_some(r);
		break;
	case 6: /* memory that other threads get later */
		fresh = malloc(24 + 8 * below(r, 3));
		memset(fresh, 1, 16 + below(r, 8));
		fresh[below(r, 20)]++;
		free(fresh);
		break;
	case 7:
		block[0] = calloc(1, 40); /* the last one is lost */
		break;
	case 8:
		pthread_spin_lock(&spin);
		access_some(r);
		pthread_spin_unlock(&spin);
		break;
	default:
		access_some(r);
		break;
	}
}

static void *work(void *number)
{
	unsigned r = seed * 977 + (unsigned)(long)number * 7919;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 40; i++)
			step(&r);
		pthread_barrier_wait(&barrier);
	}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_barrier_init(&barrier, 0, THREADS);
	pthread_spin_init(&spin, 0);
	sem_init(&semaphore, 0, 2);
	block[0] = malloc(40);
	block[1] = malloc(40);
	for (long again = 0; again < 2; again++) {
		for (long i = 0; i < THREADS; i++)
			pthread_create(&threads[i], 0, work, (void *)(i + 10 * again));
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], 0);
		cell[0].word = 1;
	}
	return 0;
}
