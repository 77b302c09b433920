/* What code without instrumentation writes to a function's own variable is its own, also where the bytes were those of a
 * function before, which another thread has written to. */
#include <pthread.h>
static void *work(void *p)
{
	for (int i = 0; i < 8; i++)
		((int *)p)[i] = 4;
	return NULL;
}
static __attribute__((noinline)) int lend(void)
{
	int lent[8] = { 0 };
	pthread_t t;
	pthread_create(&t, NULL, work, lent);
	pthread_join(t, NULL);
	return lent[3];
}
static __attribute__((noinline)) int look(volatile int *at)
{
	return at[0] + at[1] + at[2] + at[3] + at[4] + at[5] + at[6] + at[7];
}
static __attribute__((noinline)) int fill(void)
{
	int own[8];
	for (int i = 0; i < 8; i++)
		__asm__ volatile("movl $7, %0" : "=m"(own[i]));
	return look(own);
}
static void *other(void *p)
{
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	int sum = lend() + fill();
	pthread_join(t, NULL);
	return sum != 60;
}

//: explore
//= exit 0
//= complete yes
