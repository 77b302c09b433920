/* Every kind of synchronisation once, between three threads; prints what must come out. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t meeting;
static pthread_spinlock_t spin;
static pthread_key_t key;
static sem_t done;
static mtx_t plain;
static atomic_int arrived;
static int open_now, sum, prepared;

static void prepare(void)
{
	prepared++;
}

static void at_exit(void *block)
{
	pthread_mutex_lock(&lock);
	sum += *(int *)block;
	pthread_mutex_unlock(&lock);
	free(block);
}

static void *worker(void *unused)
{
	pthread_once(&once, prepare);
	int *mine = malloc(sizeof(*mine));
	*mine = 1;
	pthread_setspecific(key, mine);
	pthread_mutex_lock(&lock);
	while (!open_now)
		pthread_cond_wait(&opened, &lock);
	pthread_mutex_unlock(&lock);
	pthread_rwlock_rdlock(&table_lock);
	int seen = prepared;
	pthread_rwlock_unlock(&table_lock);
	pthread_barrier_wait(&meeting);
	pthread_rwlock_wrlock(&table_lock);
	prepared += seen > 0;
	pthread_rwlock_unlock(&table_lock);
	pthread_spin_lock(&spin);
	sum += 10;
	pthread_spin_unlock(&spin);
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < 3)
		;
	usleep(1000);
	sem_post(&done);
	return unused;
}

static int plain_worker(void *number)
{
	mtx_lock(&plain);
	mtx_unlock(&plain);
	return *(int *)number;
}

int main(void)
{
	pthread_t threads[3];
	pthread_barrier_init(&meeting, NULL, 3);
	pthread_spin_init(&spin, 0);
	pthread_key_create(&key, at_exit);
	sem_init(&done, 0, 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, worker, &threads[i]);
	sleep(3600); /* virtual time: it must not take an hour */
	pthread_mutex_lock(&lock);
	open_now = 1;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 3; i++)
		sem_wait(&done);
	for (int i = 0; i < 3; i++) {
		void *result;
		pthread_join(threads[i], &result);
		if (result != &threads[i])
			return 2;
	}
	int number = 7, result = 0;
	thrd_t thread;
	mtx_init(&plain, mtx_plain);
	thrd_create(&thread, plain_worker, &number);
	thrd_join(thread, &result);
	struct timespec at;
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += 3600;
	pthread_mutex_lock(&lock);
	int waited = pthread_cond_timedwait(&opened, &lock, &at);
	pthread_mutex_unlock(&lock);
	int ends[2];
	char text[8] = "";
	if (pipe(ends) != 0 || write(ends[1], "pipe", 5) != 5 || read(ends[0], text, 5) != 5)
		return 3;
	char *copy = strdup(text);
	printf("prepared %d sum %d joined %d waited %d %s\n", prepared, sum, result, waited != 0, copy);
	free(copy);
	return 3;
}
