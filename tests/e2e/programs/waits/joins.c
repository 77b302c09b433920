#include "waits.h"

static pthread_t helper, last;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t s;

static void *takes_a(void *arg)
{
	LOCK(a);
	UNLOCK(a);
	return arg;
}

/* A critical section that holds the end of a thread which needs the lock. */
static void holding(void)
{
	pthread_create(&helper, NULL, takes_a, NULL);
	LOCK(a);
	BUG(pthread_join(helper, NULL); UNLOCK(a);, UNLOCK(a); pthread_join(helper, NULL);)
}

static void *joins_last(void *arg)
{
	pthread_create(&last, NULL, takes_a, NULL);
	pthread_join(last, NULL);
	return arg;
}
static void chain(void)
{
	pthread_create(&helper, NULL, joins_last, NULL);
	LOCK(a);
	BUG(pthread_join(helper, NULL); UNLOCK(a);, UNLOCK(a); pthread_join(helper, NULL);)
}

static void *b_then_a(void *arg)
{
	LOCK(b);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(b);
	return arg;
}
/* The section of b lies in another thread. */
static void spanning(void)
{
	pthread_create(&helper, NULL, b_then_a, NULL);
	LOCK(a);
	pthread_create(&last, NULL, takes_a, NULL);
	BUG(pthread_join(helper, NULL); UNLOCK(a);, UNLOCK(a); pthread_join(helper, NULL);)
	pthread_join(last, NULL);
}

static void *waits_s(void *arg)
{
	sem_wait(&s);
	return arg;
}
static void *posts_under_a(void *arg)
{
	LOCK(a);
	sem_post(&s);
	UNLOCK(a);
	return arg;
}
static void for_semaphore(void)
{
	sem_init(&s, 0, 0);
	pthread_create(&last, NULL, posts_under_a, NULL);
	pthread_create(&helper, NULL, waits_s, NULL);
	LOCK(a);
	BUG(pthread_join(helper, NULL); UNLOCK(a);, UNLOCK(a); pthread_join(helper, NULL);)
	pthread_join(last, NULL);
}

static int ready;
static void *awaits(void *arg)
{
	LOCK(b);
	while (!ready)
		pthread_cond_wait(&cond, &b);
	UNLOCK(b);
	return arg;
}
static void *readies_under_a(void *arg)
{
	LOCK(a);
	UNLOCK(a);
	LOCK(b);
	ready = 1;
	pthread_cond_signal(&cond);
	UNLOCK(b);
	return arg;
}
static void for_condition(void)
{
	pthread_create(&helper, NULL, awaits, NULL);
	pthread_create(&last, NULL, readies_under_a, NULL);
	LOCK(a);
	BUG(pthread_join(helper, NULL); UNLOCK(a);, UNLOCK(a); pthread_join(helper, NULL);)
	pthread_join(last, NULL);
}

/* The post comes behind the join that needs it: in every run. */
static void post_after(void)
{
	sem_init(&s, 0, 0);
	pthread_create(&helper, NULL, waits_s, NULL);
	BUG(pthread_join(helper, NULL); sem_post(&s);, sem_post(&s); pthread_join(helper, NULL);)
}

static const struct way ways[] = {
	{ "holding", .whole = holding },
	{ "chain", .whole = chain },
	{ "spanning", .whole = spanning },
	{ "for_semaphore", .whole = for_semaphore },
	{ "for_condition", .whole = for_condition },
	{ "post_after", .whole = post_after },
	{ 0 },
};
