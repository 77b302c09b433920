/* Additions in a function that returns nothing right after them, without optimisation: nobody uses what they return. */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int sum;
__attribute__((noinline, optimize("O0"))) static void count(void)
{
	atomic_fetch_add(&sum, 1);
}
__attribute__((noinline, optimize("O0"))) static int count_up(void)
{
	return atomic_fetch_add(&sum, 1);
}
static void *add(void *p)
{
	count();
	count();
	return p;
}
int main(int argc, char **argv)
{
	(void)argv;
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, add, 0);
	int seen = argc > 1 ? count_up() : 0;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return seen + atomic_load(&sum) < 6;
}

//: explore
//= exit 0
//= complete yes
//= states 1
