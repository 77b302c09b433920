/*
 * pool_stop.c - a pool of two threads whose end signals once, where both may wait.  With -DALL
 * the signal is a broadcast.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
	void (*run)(void *);
	void *arg;
	struct job *next;
};
struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	struct job *first, *last;
	int busy, queued, done;
	bool stop;
	pthread_t *threads;
	int count;
};

static struct job *pool_take(struct pool *p)
{
	struct job *j = p->first;
	p->first = j->next;
	if (p->first == NULL)
		p->last = NULL;
	p->queued--;
	return j;
}

static void *pool_worker(void *arg)
{
	struct pool *p = arg;
	for (;;) {
		pthread_mutex_lock(&p->lock);
		while (p->first == NULL && !p->stop)
			pthread_cond_wait(&p->work, &p->lock);
		if (p->stop && p->first == NULL) {
			pthread_mutex_unlock(&p->lock);
			return NULL;
		}
		struct job *j = pool_take(p);
		p->busy++;
		pthread_mutex_unlock(&p->lock);
		j->run(j->arg);
		free(j);
		pthread_mutex_lock(&p->lock);
		p->busy--;
		p->done++;
		if (p->busy == 0 && p->first == NULL)
			pthread_cond_signal(&p->idle);
		pthread_mutex_unlock(&p->lock);
	}
}

static struct pool *pool_new(int count)
{
	struct pool *p = calloc(1, sizeof *p);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->idle, NULL);
	p->count = count;
	p->threads = calloc(count, sizeof *p->threads);
	for (int i = 0; i < count; i++)
		pthread_create(&p->threads[i], NULL, pool_worker, p);
	return p;
}

static void pool_add(struct pool *p, void (*run)(void *), void *arg)
{
	struct job *j = malloc(sizeof *j);
	j->run = run;
	j->arg = arg;
	j->next = NULL;
	pthread_mutex_lock(&p->lock);
	if (p->last)
		p->last->next = j;
	else
		p->first = j;
	p->last = j;
	p->queued++;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
}

static void pool_wait(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	while (p->busy > 0 || p->first != NULL)
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void pool_free(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
#ifdef ALL
	pthread_cond_broadcast(&p->work);
#else
	pthread_cond_signal(&p->work); /* the other one waits on */
#endif
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < p->count; i++)
		pthread_join(p->threads[i], NULL);
	free(p->threads);
	free(p);
}

static int sums[4], total;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static void add_up(void *arg)
{
	int n = *(int *)arg;
	for (int i = 1; i <= n; i++)
		sums[n] += i;
	pthread_mutex_lock(&adding);
	total += sums[n];
	pthread_mutex_unlock(&adding);
}

int main(void)
{
	int args[] = { 1 };
	struct pool *p = pool_new(2);
	for (int i = 0; i < 1; i++)
		pool_add(p, add_up, &args[i]);
	pool_wait(p);
	printf("total %d, jobs %d\n", total, p->done);
	pool_free(p);
}
