#include <pthread.h>
/* Reads of a once control by the program itself: what a call of another thread writes there at the
 * same time is no event of an exploration, and in a recording a data race. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void init(void)
{
}
static void *run(void *p)
{
	pthread_once(&once, init);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	int before = *(volatile int *)&once;
	pthread_create(&t, 0, run, 0);
	int beside = argc > 1 ? *(volatile int *)&once : 0;
	pthread_join(t, 0);
	return (*(volatile int *)&once - before != 2) + 2 * beside;
}
//: build
//: explore
//= complete yes
//= outcomes 0
//: explore --memory tso
//= complete yes
//= outcomes 0
//: record -q -o t.hdl @
//: races t.hdl
//= complete yes
//: explore @ beside
//= complete no
//~ said main reads once at once_read.c:19, a part of once, which T1 uses at once_read.c:10: what the library writes there is not recorded
//: explore --memory tso @ beside
//= outcomes 0 2 4
//= racy once_read.c:10+once_read.c:19
//: record -q -o t.hdl @ beside
//: races t.hdl
//= complete yes
//= findings 1
