/* A race that the first run does not have: T2 writes where it comes first. */
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int flag, data;
static void *one(void *p)
{
	pthread_mutex_lock(&m);
	flag = 1;
	pthread_mutex_unlock(&m);
	data = 1;
	return p;
}
static void *two(void *p)
{
	pthread_mutex_lock(&m);
	int f = flag;
	pthread_mutex_unlock(&m);
	if (!f)
		data = 2; /* in some schedules alone */
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, one, 0);
	pthread_create(&b, 0, two, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}

//: explore
//= exit 1
//= complete yes
//= scalar(@{$d->{races}}) 1
//= $d->{races}[0]{run} 1
