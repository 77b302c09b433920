/* Locks and semaphores that a thread may use before another one initialises them; argv[1]: how.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t m, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t s;
static int x, ready;
static atomic_int go;
static struct job {
	pthread_mutex_t lock;
	int n;
} * slot;

static void *count(void *arg)
{
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	return arg;
}

static void *count_after_lock(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return count(arg);
}

static void *post(void *arg)
{
	sem_post(&s);
	return arg;
}

static void init(void)
{
	pthread_mutex_init(&m, NULL);
}

static void *once_and_count(void *arg)
{
	pthread_once(&once, init);
	return count(arg);
}

static void *init_and_count(void *arg)
{
	pthread_mutex_lock(&lock);
	if (!ready)
		init();
	ready = 1;
	pthread_mutex_unlock(&lock);
	return count(arg);
}

static void *publish(void *arg)
{
	struct job *j = malloc(sizeof *j);
	pthread_mutex_init(&j->lock, NULL);
	j->n = 0;
	pthread_mutex_lock(&lock);
	slot = j;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *take(void *arg)
{
	pthread_mutex_lock(&lock);
	struct job *j = slot;
	pthread_mutex_unlock(&lock);
	if (j) {
		pthread_mutex_lock(&j->lock);
		j->n++;
		pthread_mutex_unlock(&j->lock);
	}
	return arg;
}

static void *many(void *arg)
{
	for (int i = 0; i < 60; i++)
		atomic_fetch_add(&go, i);
	return count(arg);
}

static void run(void *(*a)(void *), void *(*b)(void *), void (*late)(void))
{
	pthread_t p, q;
	pthread_create(&p, NULL, a, NULL);
	pthread_create(&q, NULL, b, NULL);
	if (late)
		late();
	pthread_join(p, NULL);
	pthread_join(q, NULL);
}

static void init_locked(void)
{
	pthread_mutex_lock(&lock);
	init();
	pthread_mutex_unlock(&lock);
}

static void renew(void)
{
	pthread_mutex_destroy(&m);
	init();
}

static void zero(void)
{
	memset(&m, 0, sizeof m);
}

static void assign(void)
{
	m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* The lock's user says under another lock that it is done; only then its memory is used again.
 */
static void *use_and_tell(void *arg)
{
	count(count(arg));
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *use_again(void *arg)
{
	pthread_mutex_lock(&lock);
	bool again = ready;
	pthread_mutex_unlock(&lock);
	if (again) {
		zero();
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	return arg;
}

static void wait_for_post(void)
{
	sem_init(&s, 0, 0);
	sem_wait(&s);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	if (strcmp(how, "late") == 0)
		run(count, count, init);
	else if (strcmp(how, "locked") == 0) /* which orders them by chance */
		run(count_after_lock, count_after_lock, init_locked);
	else if (strcmp(how, "renewed") == 0)
		run(count, count, renew);
	else if (strcmp(how, "zeroed") == 0)
		run(count, count, zero);
	else if (strcmp(how, "assigned") == 0)
		run(count, count, assign);
	else if (strcmp(how, "again") == 0)
		run(use_and_tell, use_again, NULL);
	else if (strcmp(how, "posted") == 0)
		run(post, take, wait_for_post);
	else if (strcmp(how, "large") == 0) /* more states than are searched */
		run(many, many, init);
	else if (strcmp(how, "once") == 0)
		run(once_and_count, once_and_count, NULL);
	else if (strcmp(how, "first") == 0)
		run(init_and_count, init_and_count, NULL);
	else if (strcmp(how, "published") == 0)
		run(publish, take, NULL);
	assert(x == 0 || x == 2);
	return 0;
}
