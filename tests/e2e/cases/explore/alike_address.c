/* Which thread is second decides about the failure, by where its stack is; no value says so. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static __attribute__((noipa, no_sanitize("thread"))) int odd(void)
{
	return (uintptr_t)__builtin_frame_address(0) >> 23 & 1;
}
static void *add(void *u)
{
	pthread_mutex_lock(&m);
	int mine = x++;
	pthread_mutex_unlock(&m);
	if (mine == 1)
		assert(!odd());
	return u;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore {--symmetry,}
//= complete yes
//= errors signal@alike_address.c:17
//: explore --symmetry
//~ said T1, T2, T3 run the same, and are told apart: one of them does otherwise in another's place
