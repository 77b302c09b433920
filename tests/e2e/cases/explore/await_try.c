/* A try that fails and is made again is a look at its lock: which of three threads adds first is all that counts. */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *add(void *p)
{
	while (pthread_mutex_trylock(&m))
		;
	x++;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return x != 3;
}

//: explore --seed {0,1}
//= exit 0
//= states 6
//= complete yes
