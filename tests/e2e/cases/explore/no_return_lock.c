/* Two locks crosswise: no return once each thread holds one. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int apples, pears;

static void *first(void *arg)
{
	pthread_mutex_lock(&a);
	apples++;
	pthread_mutex_lock(&b);
	pears++;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return arg;
}

static void *second(void *arg)
{
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return arg;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, first, NULL);
	pthread_create(&u, NULL, second, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return apples + pears != 2;
}
//: explore
//= complete yes
//~ join(",",@{$d->{errors}[0]{"point-of-no-return"}{sites}}) no_return_lock.c:(9|10|20),no_return_lock.c:(9|20)
//= $d->{errors}[0]{kind} deadlock
