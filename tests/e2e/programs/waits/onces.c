#include "waits.h"

#include <threads.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag c11 = ONCE_FLAG_INIT;
static int ready;

/* What is done once needs a lock that others hold while they wait for it. */
static void set_locked(void)
{
	LOCK(a);
	ready = 1;
	UNLOCK(a);
}
static void *first(void *arg)
{
	pthread_once(&once, set_locked);
	return arg;
}
static void *with_lock(void *arg)
{
	BUG(LOCK(a);, )
	pthread_once(&once, set_locked);
	BUG(, LOCK(a);)
	UNLOCK(a);
	return arg;
}
static void *first_c11(void *arg)
{
	call_once(&c11, set_locked);
	return arg;
}
static void *with_lock_c11(void *arg)
{
	BUG(LOCK(a);, )
	call_once(&c11, set_locked);
	BUG(, LOCK(a);)
	UNLOCK(a);
	return arg;
}

/* Who does it waits for a thread that waits for its end. */
static void *comes_later(void *arg);
static void set_joining(void)
{
	pthread_t t;
	pthread_create(&t, NULL, comes_later, NULL);
	pthread_join(t, NULL);
}
static void *comes_later(void *arg)
{
	BUG(pthread_once(&once, set_joining);, )
	return arg;
}
static void joining(void)
{
	pthread_once(&once, set_joining);
}

static const struct way ways[] = {
	{ "locked", { first, with_lock } },
	{ "c11", { first_c11, with_lock_c11 } },
	{ "joining", { 0 }, joining },
	{ NULL },
};
