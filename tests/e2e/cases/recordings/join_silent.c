/* A thread without events is joined before the last event of another one: in a replay it ends before that join. */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *silent(void *p)
{
	return p;
}
static void *add(void *p)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&m);
		x++;
		pthread_mutex_unlock(&m);
	}
	return p;
}
int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], 0, add, 0);
	pthread_create(&t[1], 0, silent, 0);
	pthread_create(&t[2], 0, add, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}

//: record -q --seed 1 -o t.hdl @
//= exit 0
//: replay --trace t.hdl @
//= exit 0
//: record -q --seed 2 -o t.hdl @
//= exit 0
//: replay --trace t.hdl @
//= exit 0
//: record -q --seed 3 -o t.hdl @
//= exit 0
//: replay --trace t.hdl @
//= exit 0
//: record -q --seed 4 -o t.hdl @
//= exit 0
//: replay --trace t.hdl @
//= exit 0
