/* A race, in a program that does something else where a run before it left its file. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int shared;
static volatile int again;

static void *writer(void *unused)
{
	shared = 1;
	return unused;
}

int main(void)
{
	pthread_t t;
	int fd = open("left", O_CREAT | O_EXCL | O_WRONLY, 0600);

	if (fd < 0)
		again = 1;
	pthread_create(&t, NULL, writer, NULL);
	int seen = shared;
	pthread_join(t, NULL);
	close(fd);
	return seen > 1;
}
