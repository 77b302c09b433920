/* every run returns 3; one schedule fails */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static void *run(void *p) { int r = x; x = r + 1; return p; }
int main(void)
{
	pthread_t t[2];
	pthread_create(t, 0, run, 0);
	pthread_create(t + 1, 0, run, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	assert(x == 2);
	return 3;
}

//: explore --until-error
//~ errors signal@void_main.c:14
