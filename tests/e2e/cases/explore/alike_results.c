/* What a thread returns goes to the place of its join. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long x;
static void *take(void *u)
{
	(void)u;
	pthread_mutex_lock(&m);
	long mine = x++;
	pthread_mutex_unlock(&m);
	return (void *)mine;
}
int main(void)
{
	pthread_t t[3];
	void *r[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, take, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], &r[i]);
	assert((long)r[0] != 2 || (long)r[1] != 0);
	return 0;
}

//: explore {--symmetry,}
//= complete yes
//= states 6
//= errors signal@alike_results.c:22
//: explore --symmetry
//~ said T1, T2, T3 run the same, and are told apart: their functions return different values
