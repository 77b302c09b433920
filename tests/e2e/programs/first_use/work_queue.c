/* work_queue.c: a small work queue with priorities, cancellation, waiting and statistics. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WQ_PRIORITIES 3
#define WQ_MAX_WORKERS 8

enum job_state { JOB_NEW, JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_CANCELLED };

typedef long (*job_fn)(void *arg);

struct job {
	struct job *next;
	job_fn fn;
	void *arg;
	long result;
	int priority;
	unsigned id;
	enum job_state state;
};

struct job_list {
	struct job *head;
	struct job **tail;
	size_t length;
};

struct wq_stats {
	unsigned long submitted;
	unsigned long completed;
	unsigned long cancelled;
	unsigned long idle_wakeups;
	size_t high_water;
};

struct wq {
	pthread_mutex_t lock;
	pthread_cond_t not_empty;
	pthread_cond_t job_done;
	struct job_list lists[WQ_PRIORITIES];
	size_t pending;
	size_t running;
	unsigned next_id;
	bool stopping;
	struct wq_stats stats;
	pthread_t workers[WQ_MAX_WORKERS];
	int n_workers;
};

/* lists */

static void list_init(struct job_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
	l->length = 0;
}

static void list_push(struct job_list *l, struct job *j)
{
	j->next = NULL;
	*l->tail = j;
	l->tail = &j->next;
	l->length++;
}

static struct job *list_pop(struct job_list *l)
{
	struct job *j = l->head;
	if (!j)
		return NULL;
	l->head = j->next;
	if (!l->head)
		l->tail = &l->head;
	l->length--;
	j->next = NULL;
	return j;
}

static bool list_remove(struct job_list *l, struct job *j)
{
	struct job **p = &l->head;
	while (*p && *p != j)
		p = &(*p)->next;
	if (!*p)
		return false;
	*p = j->next;
	if (l->tail == &j->next)
		l->tail = p;
	l->length--;
	j->next = NULL;
	return true;
}

/* jobs */

struct job *job_new(job_fn fn, void *arg, int priority)
{
	struct job *j = calloc(1, sizeof *j);
	if (!j)
		abort();
	if (priority < 0)
		priority = 0;
	if (priority >= WQ_PRIORITIES)
		priority = WQ_PRIORITIES - 1;
	j->fn = fn;
	j->arg = arg;
	j->priority = priority;
	j->state = JOB_NEW;
	return j;
}

void job_free(struct job *j)
{
	assert(j->state == JOB_DONE || j->state == JOB_CANCELLED || j->state == JOB_NEW);
	free(j);
}

/* the queue; its lock is held */

static struct job *wq_take(struct wq *q)
{
	for (int p = WQ_PRIORITIES - 1; p >= 0; p--) {
		struct job *j = list_pop(&q->lists[p]);
		if (j) {
			q->pending--;
			q->running++;
			j->state = JOB_RUNNING;
			return j;
		}
	}
	return NULL;
}

static void wq_note_high_water(struct wq *q)
{
	if (q->pending > q->stats.high_water)
		q->stats.high_water = q->pending;
}

/* workers */

static void wq_run_job(struct wq *q, struct job *j)
{
	long r = j->fn(j->arg);
	j->result = r;
	pthread_mutex_lock(&q->lock);
	q->running--;
	q->stats.completed++;
	pthread_cond_broadcast(&q->job_done);
	pthread_mutex_unlock(&q->lock);
	j->state = JOB_DONE;			/* the bug: after the unlock */
}

static void *wq_worker(void *arg)
{
	struct wq *q = arg;
	for (;;) {
		pthread_mutex_lock(&q->lock);
		struct job *j;
		while (!(j = wq_take(q)) && !q->stopping) {
			pthread_cond_wait(&q->not_empty, &q->lock);
			q->stats.idle_wakeups++;
		}
		pthread_mutex_unlock(&q->lock);
		if (!j)
			return NULL;
		wq_run_job(q, j);
	}
}

/* what the user calls */

void wq_init(struct wq *q, int n_workers)
{
	memset(q, 0, sizeof *q);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->not_empty, NULL);
	pthread_cond_init(&q->job_done, NULL);
	for (int i = 0; i < WQ_PRIORITIES; i++)
		list_init(&q->lists[i]);
	if (n_workers > WQ_MAX_WORKERS)
		n_workers = WQ_MAX_WORKERS;
	q->n_workers = n_workers;
	for (int i = 0; i < n_workers; i++)
		if (pthread_create(&q->workers[i], NULL, wq_worker, q) != 0)
			abort();
}

unsigned wq_submit(struct wq *q, struct job *j)
{
	pthread_mutex_lock(&q->lock);
	j->id = ++q->next_id;
	j->state = JOB_QUEUED;
	list_push(&q->lists[j->priority], j);
	q->pending++;
	q->stats.submitted++;
	wq_note_high_water(q);
	unsigned id = j->id;
	pthread_cond_signal(&q->not_empty);
	pthread_mutex_unlock(&q->lock);
	return id;
}

/* A job that has not begun is taken out; false when it is too late. */
bool wq_cancel(struct wq *q, struct job *j)
{
	pthread_mutex_lock(&q->lock);
	bool gone = j->state == JOB_QUEUED && list_remove(&q->lists[j->priority], j);
	if (gone) {
		j->state = JOB_CANCELLED;
		q->pending--;
		q->stats.cancelled++;
		pthread_cond_broadcast(&q->job_done);
	}
	pthread_mutex_unlock(&q->lock);
	return gone;
}

/* Waits until everything that was submitted is done. */
void wq_drain(struct wq *q)
{
	pthread_mutex_lock(&q->lock);
	while (q->pending || q->running)
		pthread_cond_wait(&q->job_done, &q->lock);
	pthread_mutex_unlock(&q->lock);
}

void wq_stop(struct wq *q)
{
	pthread_mutex_lock(&q->lock);
	q->stopping = true;
	pthread_cond_broadcast(&q->not_empty);
	pthread_mutex_unlock(&q->lock);
	for (int i = 0; i < q->n_workers; i++)
		pthread_join(q->workers[i], NULL);
}

void wq_destroy(struct wq *q)
{
	pthread_cond_destroy(&q->job_done);
	pthread_cond_destroy(&q->not_empty);
	pthread_mutex_destroy(&q->lock);
}

void wq_print_stats(struct wq *q)
{
	pthread_mutex_lock(&q->lock);
	struct wq_stats s = q->stats;
	pthread_mutex_unlock(&q->lock);
	printf("submitted %lu, completed %lu, cancelled %lu, high water %zu\n",
	       s.submitted, s.completed, s.cancelled, s.high_water);
}

/* a program that uses it */

struct range {
	int from, to;
	int *hits;
};

static long count_primes(void *arg)
{
	struct range *r = arg;
	long n = 0;
	for (int i = r->from; i < r->to; i++) {
		bool prime = i > 1;
		for (int d = 2; d * d <= i && prime; d++)
			prime = i % d != 0;
		n += prime;
	}
	*r->hits = n;
	return n;
}

int main(int argc, char **argv)
{
	int n_workers = argc > 1 ? atoi(argv[1]) : 3;
	int n_jobs = argc > 2 ? atoi(argv[2]) : 6;
	struct wq q;
	wq_init(&q, n_workers);
	struct job *jobs[64];
	struct range ranges[64];
	int hits[64] = {0};
	if (n_jobs > 64)
		n_jobs = 64;
	for (int i = 0; i < n_jobs; i++) {
		ranges[i] = (struct range){i * 10, i * 10 + 10, &hits[i]};
		jobs[i] = job_new(count_primes, &ranges[i], i % WQ_PRIORITIES);
		wq_submit(&q, jobs[i]);
	}
	wq_cancel(&q, jobs[n_jobs - 1]);
	wq_drain(&q);
	long total = 0;
	for (int i = 0; i < n_jobs; i++) {
		if (jobs[i]->state == JOB_DONE)
			total += jobs[i]->result;
		else if (jobs[i]->state != JOB_CANCELLED)
			fprintf(stderr, "job %u is not done?\n", jobs[i]->id);
	}
	printf("%ld primes\n", total);
	wq_print_stats(&q);
	wq_stop(&q);
	for (int i = 0; i < n_jobs; i++)
		job_free(jobs[i]);
	wq_destroy(&q);
	return 0;
}
