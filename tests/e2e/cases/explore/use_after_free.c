/*
 * use-after-free: the lock is right, the lifetime is not.
 *
 * The worker uses the job under the lock, the stopper frees it under the same lock.  No two
 * accesses race.  But nothing makes the worker come first.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
	int arg;
	int done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *job;

static void *worker(void *unused)
{
	pthread_mutex_lock(&lock);
	job->arg += 1;
	job->done = 1;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *stopper(void *unused)
{
	pthread_mutex_lock(&lock);
	free(job);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t t1, t2;

	job = malloc(sizeof *job);
	job->arg = 41;
	job->done = 0;

	pthread_create(&t2, NULL, stopper, NULL); pthread_create(&t1, NULL, worker, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	puts("stopped");
	return 0;
}

//: explore
//= errors use-after-free@use_after_free.c:22 use-after-free@use_after_free.c:23
