/* main reads a local variable of a thread that it has joined */
#include <pthread.h>
static int *volatile left;
static void *run(void *p)
{
	volatile int local = 3;
	left = (int *)&local;
	local++;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	pthread_join(t, 0);
	return *left == 77;
}

//: explore
//= errors use-after-free@joined_stack.c:16
