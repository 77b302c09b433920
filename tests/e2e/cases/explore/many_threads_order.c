/* Forty-eight threads write two variables, and two look whether both were written: the wrong orders are found within few
 * runs, as each way out of a run is run when it is found, and is not grown first. */
#include <assert.h>
#include <pthread.h>
static int first, second;
static void *writes(void *p)
{
	first = 1;
	second = 2;
	return p;
}
static void *looks(void *p)
{
	int seen = second, before = first;
	assert(seen == 0 || before == 1 || seen == before);
	before = first;
	assert(!(before == 1 && second == 0));
	return p;
}
int main(void)
{
	enum { WRITERS = 48, ALL = WRITERS + 2 };
	pthread_t t[ALL];
	for (int i = 0; i < ALL; i++)
		pthread_create(&t[i], 0, i < WRITERS ? writes : looks, 0);
	for (int i = 0; i < ALL; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: explore --until-error --budget 240
//= errors signal@many_threads_order.c:17
//~ executions ^[1-4]?[0-9]$
