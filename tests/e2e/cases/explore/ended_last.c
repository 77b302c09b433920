/* Main ends its thread alone: which of the others is the last one to end, with which the program does, makes no class.
 * (What T1 reads of y, and who writes x last, as both see it: GenMC's JLT.) */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static void *one(void *p)
{
	atomic_store(&x, 1);
	(void)atomic_load(&y);
	(void)atomic_load(&x);
	return p;
}
static void *two(void *p)
{
	atomic_store(&x, 2);
	(void)atomic_load(&x);
	return p;
}
static void *three(void *p)
{
	atomic_store(&y, 3);
	return p;
}
int main(void)
{
	pthread_t t, u, v;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_create(&v, 0, three, 0);
	pthread_exit(0);
}

//: explore --seed {0,1}
//= exit 0
//= complete yes
//= states 6
