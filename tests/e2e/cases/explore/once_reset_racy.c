/* A control of a once-function that is written over, with nothing that orders it with the call of
 * another thread: a data race. */
#include <pthread.h>
#include <string.h>
static struct {
	pthread_once_t once;
	int other;
} s = { PTHREAD_ONCE_INIT, 0 };
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
	call();
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	memset(&s, 0, sizeof s);
	call();
	pthread_join(t, 0);
	return 0;
}
//: explore
//= racy once_reset_racy.c:16+once_reset_racy.c:27
