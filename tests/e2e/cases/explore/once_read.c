/* Two reads of a once control: the call between them is recorded, what it writes is not. */
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void init(void)
{
}
static void *run(void *p)
{
	pthread_once(&once, init);
	return p;
}
int main(void)
{
	pthread_t t;
	int before = *(volatile int *)&once;
	pthread_create(&t, 0, run, 0);
	pthread_join(t, 0);
	return *(volatile int *)&once - before != 2;
}
//: build
//: explore
//= complete no
//~ said main reads once = 2 at once_read.c:18, after once at once_read.c:9: code
