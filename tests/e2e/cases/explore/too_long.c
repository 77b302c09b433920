/* A run that is recorded up to the limit of its size: main does not end the program there, and of the
 * other thread it is not said that main ended it. */
#include <pthread.h>

volatile long rounds, other;

static void *work(void *a)
{
	for (int i = 0; i < 4000000; i++)
		rounds += i & other;
	return 0;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	return 0;
}

//: explore --runs 1
//= complete no
//~ said up to the limit of a recording's size
//- said ends the program while
