/* A control of a once-function that is written over, under a lock: its routine runs once or twice. */
#include <pthread.h>
#include <string.h>
static struct {
	pthread_once_t once;
	int other;
} s = { PTHREAD_ONCE_INIT, 0 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void init(void)
{
	n++;
}
static void call(void)
{
	pthread_once(&s.once, init);
}
static void *run(void *p)
{
	pthread_mutex_lock(&m);
	call();
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	pthread_mutex_lock(&m);
	memset(&s, 0, sizeof s);
	call();
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	return n;
}
//: explore
//= complete yes
//= outcomes 1 2
//= racy 
