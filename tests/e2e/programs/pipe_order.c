/* pipe_order.c - bytes through a pipe order its writer before its reader, beside a lock whose order
 * an exploration turns round; RACY: the writer goes on writing. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2], early, late, counted;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void count(void)
{
	pthread_mutex_lock(&m);
	counted++;
	pthread_mutex_unlock(&m);
}

static void *writer(void *p)
{
	early = 1;
	count();
	if (write(ends[1], "x", 1) != 1)
		return p;
#ifdef RACY
	late = 1;
#endif
	count();
	return NULL;
}

int main(void)
{
	pthread_t t;
	char byte;
	if (pipe(ends) != 0 || pthread_create(&t, NULL, writer, NULL) != 0)
		return 1;
	count();
	if (read(ends[0], &byte, 1) != 1)
		return 1;
	early = 2;
	late = 2;
	pthread_join(t, NULL);
	return early + late != 4 && counted != 3;
}
