#include "waits.h"

static sem_t s, t, empty, full;

static void *s_t(void *arg)
{
	sem_wait(&s);
	sem_wait(&t);
	sem_post(&t);
	sem_post(&s);
	return arg;
}
static void *t_s(void *arg)
{
	sem_wait(BUG(&t, &s));
	sem_wait(BUG(&s, &t));
	sem_post(&s);
	sem_post(&t);
	return arg;
}

/* Two units of two, one by one. */
static void *two(void *arg)
{
	BUG(, LOCK(gate);)
	sem_wait(&full);
	sem_wait(&full);
	BUG(, UNLOCK(gate);)
	sem_post(&full);
	sem_post(&full);
	return arg;
}

/* Waits with a lock that the other needs for its post. */
static void *waits_locked(void *arg)
{
	BUG(LOCK(a);, )
	sem_wait(&empty);
	BUG(, LOCK(a);)
	UNLOCK(a);
	return arg;
}
static void *posts_locked(void *arg)
{
	LOCK(a);
	sem_post(&empty);
	UNLOCK(a);
	return arg;
}

/* A buffer of one: the lock is taken before there is room, or something in it. */
static void *produces(void *arg)
{
	for (int i = 0; i < 2; i++) {
		BUG(LOCK(a); sem_wait(&s);, sem_wait(&s); LOCK(a);)
		UNLOCK(a);
		sem_post(&empty);
	}
	return arg;
}
static void *consumes(void *arg)
{
	for (int i = 0; i < 2; i++) {
		sem_wait(&empty);
		LOCK(a);
		UNLOCK(a);
		sem_post(&s);
	}
	return arg;
}
static void *produces_well(void *arg)
{
	for (int i = 0; i < 2; i++) {
		sem_wait(&s);
		LOCK(a);
		UNLOCK(a);
		sem_post(&empty);
	}
	return arg;
}
static void *consumes_locked(void *arg)
{
	for (int i = 0; i < 2; i++) {
		BUG(LOCK(a); sem_wait(&empty);, sem_wait(&empty); LOCK(a);)
		UNLOCK(a);
		sem_post(&s);
	}
	return arg;
}

/* The third of two units is given by one that has to have one first. */
static void *takes(void *arg)
{
	sem_wait(&full);
	return arg;
}
static void *takes_and_gives(void *arg)
{
	BUG(sem_wait(&full); sem_post(&full);, sem_post(&full); sem_wait(&full);)
	return arg;
}

/* A lock and a semaphore used as one. */
static void *lock_then_s(void *arg)
{
	LOCK(a);
	sem_wait(&s);
	sem_post(&s);
	UNLOCK(a);
	return arg;
}
static void *s_then_lock(void *arg)
{
	BUG(sem_wait(&s); LOCK(a);, LOCK(a); sem_wait(&s);)
	sem_post(&s);
	UNLOCK(a);
	return arg;
}

static void with(thread_function *x, thread_function *y, thread_function *z)
{
	sem_init(&s, 0, 1);
	sem_init(&t, 0, 1);
	sem_init(&empty, 0, 0);
	sem_init(&full, 0, 2);
	run(x, y, z);
}
static void crosswise(void)
{
	with(s_t, t_s, NULL);
}
static void two_of_two(void)
{
	with(two, two, NULL);
}
static void locked(void)
{
	with(posts_locked, waits_locked, NULL);
}
static void no_room(void)
{
	with(produces, consumes, NULL);
}
static void nothing_in(void)
{
	with(produces_well, consumes_locked, NULL);
}
static void too_few(void)
{
	with(takes, takes, takes_and_gives);
}
static void with_lock(void)
{
	with(lock_then_s, s_then_lock, NULL);
}

static const struct way ways[] = {
	{ "crosswise", .whole = crosswise },   { "two_of_two", .whole = two_of_two },
	{ "locked", .whole = locked },         { "no_room", .whole = no_room },
	{ "nothing_in", .whole = nothing_in }, { "too_few", .whole = too_few },
	{ "with_lock", .whole = with_lock },   { 0 },
};
