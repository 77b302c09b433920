/* The close of a pipe hands data over; wrong: they are written after it. */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int p[2], wrong, data;
static void *put(void *none)
{
	if (!wrong)
		data = 42;
	close(p[1]);
	if (wrong)
		data = 42;
	return none;
}
int main(int argc, char **argv)
{
	pthread_t t;
	char c;
	wrong = argc > 1;
	pipe(p);
	pthread_create(&t, NULL, put, NULL);
	assert(read(p[0], &c, 1) == 0);
	assert(data == 42);
	pthread_join(t, NULL);
	return 0;
}

//: explore
//= exit 0
//= states 1
//= complete yes
//= racy
//: explore @ wrong
//= exit 1
//= errors signal@channel_end.c:23
//= racy channel_end.c:12+channel_end.c:23
