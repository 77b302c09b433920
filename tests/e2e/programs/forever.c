/* A race of two threads; with one argument main never ends after it, with two it never comes
 * to it. */
#include <pthread.h>
#include <unistd.h>

int x;

static void *other(void *unused)
{
	x = 2;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	while (argc > 2)
		sleep(1);
	pthread_create(&t, NULL, other, NULL);
	x = 1;
	while (argc > 1)
		pause();
	pthread_join(t, NULL);
	return 0;
}
