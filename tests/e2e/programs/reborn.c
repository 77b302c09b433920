/*
 * Locks that are destroyed and initialised again where they were, in the ways that there are,
 * each of two lives and two threads; and uses after the destruction.  The argument says which.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

struct locks {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_rwlock_t rwlock;
	pthread_barrier_t barrier;
	sem_t semaphore;
	pthread_spinlock_t spin;
};
static struct locks locks, *heap_locks;
static int shared;

static void *use(void *argument)
{
	struct locks *l = argument;
	pthread_mutex_lock(&l->mutex);
	shared++;
	pthread_cond_broadcast(&l->cond);
	pthread_mutex_unlock(&l->mutex);
	pthread_rwlock_wrlock(&l->rwlock);
	shared++;
	pthread_rwlock_unlock(&l->rwlock);
	return NULL;
}

static void *use_all(void *argument)
{
	struct locks *l = argument;
	use(l);
	pthread_spin_lock(&l->spin);
	pthread_spin_unlock(&l->spin);
	sem_post(&l->semaphore);
	pthread_barrier_wait(&l->barrier);
	return NULL;
}

static void in_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	pthread_create(&thread, NULL, function, argument);
	pthread_join(thread, NULL);
}

/* Two lives by calls; the barrier is for main and the thread. */
static void life(struct locks *l)
{
	pthread_t thread;
	pthread_mutex_init(&l->mutex, NULL);
	pthread_cond_init(&l->cond, NULL);
	pthread_rwlock_init(&l->rwlock, NULL);
	pthread_barrier_init(&l->barrier, NULL, 2);
	sem_init(&l->semaphore, 0, 0);
	pthread_spin_init(&l->spin, 0);
	pthread_create(&thread, NULL, use_all, l);
	sem_wait(&l->semaphore);
	pthread_barrier_wait(&l->barrier);
	pthread_join(thread, NULL);
	pthread_mutex_destroy(&l->mutex);
	pthread_cond_destroy(&l->cond);
	pthread_rwlock_destroy(&l->rwlock);
	pthread_barrier_destroy(&l->barrier);
	sem_destroy(&l->semaphore);
	pthread_spin_destroy(&l->spin);
}

static void calls(void)
{
	life(&locks);
	life(&locks);
}

/* In the memory of a heap block that is given out again. */
static void heap(void)
{
	for (int i = 0; i < 2; i++) {
		heap_locks = malloc(sizeof *heap_locks);
		life(heap_locks);
		free(heap_locks);
	}
}

/* No call begins these lives. */
static void __attribute__((noinline)) one_initializer(void)
{
	struct locks l = { .mutex = PTHREAD_MUTEX_INITIALIZER,
		           .cond = PTHREAD_COND_INITIALIZER,
		           .rwlock = PTHREAD_RWLOCK_INITIALIZER };
	in_thread(use, &l);
	pthread_mutex_destroy(&l.mutex);
	pthread_cond_destroy(&l.cond);
	pthread_rwlock_destroy(&l.rwlock);
}
static void initializers(void)
{
	one_initializer();
	one_initializer();
}

static mtx_t mutex11;
static cnd_t cond11;
static void *use11(void *argument)
{
	mtx_lock(&mutex11);
	shared++;
	cnd_signal(&cond11);
	mtx_unlock(&mutex11);
	return argument;
}
static void c11(void)
{
	for (int i = 0; i < 2; i++) {
		mtx_init(&mutex11, mtx_plain);
		cnd_init(&cond11);
		in_thread(use11, NULL);
		mtx_destroy(&mutex11);
		cnd_destroy(&cond11);
	}
}

/* Initialised a second time while it is held and was never destroyed: free again. */
static void over(void)
{
	pthread_mutex_init(&locks.mutex, NULL);
	pthread_mutex_lock(&locks.mutex);
	pthread_mutex_init(&locks.mutex, NULL);
	in_thread(use, &locks);
}

/* A semaphore by name: opened twice it is one; closed and opened again another, perhaps at the
 * same address. */
static void *post(void *semaphore)
{
	sem_post(semaphore);
	return NULL;
}
static void named(void)
{
	char name[40];
	snprintf(name, sizeof name, "/heddle-reborn-%d", (int)getpid());
	for (int i = 0; i < 2; i++) {
		sem_t *s = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
		sem_wait(s);
		in_thread(post, s);
		sem_t *again = sem_open(name, 0);
		sem_wait(again);
		sem_close(again);
		sem_close(s);
		sem_unlink(name);
		puts(again == s ? "one" : "two");
	}
}

/* Right: who is woken, or released, comes out of it after its destruction. */
static int go, here;
static void *wait_for(void *argument)
{
	struct locks *l = argument;
	pthread_mutex_lock(&l->mutex);
	here = 1;
	while (!go)
		pthread_cond_wait(&l->cond, &l->mutex);
	pthread_mutex_unlock(&l->mutex);
	return NULL;
}
static void *meet(void *argument)
{
	struct locks *l = argument;
	if (pthread_barrier_wait(&l->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
		pthread_barrier_destroy(&l->barrier);
		pthread_barrier_init(&l->barrier, NULL, 1);
		pthread_barrier_wait(&l->barrier);
	}
	return NULL;
}
static void woken(void)
{
	pthread_t threads[2];
	int waits = 0;
	pthread_create(&threads[0], NULL, wait_for, &locks);
	while (!waits) {
		pthread_mutex_lock(&locks.mutex);
		waits = here;
		if (waits) {
			go = 1;
			pthread_cond_broadcast(&locks.cond);
		}
		pthread_mutex_unlock(&locks.mutex);
	}
	pthread_cond_destroy(&locks.cond);
	pthread_join(threads[0], NULL);
	pthread_barrier_init(&locks.barrier, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, meet, &locks);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* Wrong: in this order, with nothing in between. */
static void *use_dead(void *argument)
{
	struct locks *l = argument;
	pthread_mutex_lock(&l->mutex);
	pthread_cond_signal(&l->cond);
	pthread_rwlock_rdlock(&l->rwlock);
	pthread_rwlock_unlock(&l->rwlock);
	pthread_spin_lock(&l->spin);
	pthread_spin_unlock(&l->spin);
	sem_post(&l->semaphore);
	return NULL;
}
static void after(void)
{
	life(&locks);
	in_thread(use_dead, &locks);
}

/* Wrong in another order only, and in the second life. */
static void *lock_once(void *mutex)
{
	int status = pthread_mutex_lock(mutex);
	puts(status ? "destroyed" : "locked");
	pthread_mutex_unlock(mutex);
	return NULL;
}
static void early(void)
{
	pthread_t thread;
	pthread_mutex_init(&locks.mutex, NULL);
	in_thread(lock_once, &locks.mutex);
	pthread_mutex_destroy(&locks.mutex);
	pthread_mutex_init(&locks.mutex, NULL);
	pthread_create(&thread, NULL, lock_once, &locks.mutex);
	sleep(1);
	pthread_mutex_destroy(&locks.mutex);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = { { "calls", calls },
		     { "heap", heap },
		     { "initializers", initializers },
		     { "c11", c11 },
		     { "over", over },
		     { "named", named },
		     { "woken", woken },
		     { "after", after },
		     { "early", early } };
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
			ways[i].run();
	return 0;
}
