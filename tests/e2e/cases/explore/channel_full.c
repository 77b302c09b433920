/* Room is not modelled: a pipe that may be full is named. */
#include <pthread.h>
#include <unistd.h>
static int p[2];
static char data[4096];
static void *put(void *none)
{
	for (int i = 0; i < 5; i++)
		write(p[1], data, sizeof data);
	return none;
}
int main(void)
{
	static char got[5 * sizeof data];
	pthread_t t;
	pipe(p);
	pthread_create(&t, NULL, put, NULL);
	for (size_t n = 0; n < sizeof got;)
		n += (size_t)read(p[0], got + n, sizeof got - n);
	pthread_join(t, NULL);
	return 0;
}

//: explore
//= exit 3
//= complete no
//~ said a pipe or socket may be full in some order
