/* gcc's store of b takes a from memory, and no event has that read: in the order in which x would race, r is 0,
 * and x is not written. What races without such a read stays a race. */
#include <pthread.h>
static struct {
	unsigned a : 4, b : 4;
} bits;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
volatile int x, y;
static void *first(void *p)
{
	x = 2;
	y = 2;
	pthread_mutex_lock(&m);
	bits.a = 2;
	pthread_mutex_unlock(&m);
	return p;
}
static void *second(void *p)
{
	y = 1;
	pthread_mutex_lock(&m);
	bits.b = 1;
	int r = bits.a;
	pthread_mutex_unlock(&m);
	if (r == 2)
		x = 1;
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, first, 0);
	pthread_create(&t[1], 0, second, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}

//: record -q --strategy first -o t.hdl
//: races t.hdl --format json
//= kinds data-race candidate, data-race race
//~ said takes the bits beside it
//- said 2 of these
