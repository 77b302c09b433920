/* Two producers of pointers: which one is first is not said; wrong: one relies on it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int queue[2];
static void *produce(void *n)
{
	long *job = malloc(sizeof *job);
	*job = (long)n;
	write(queue[1], &job, sizeof job);
	return n;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	long *first, *second;
	pipe(queue);
	for (long i = 1; i <= 2; i++)
		pthread_create(&t[i - 1], NULL, produce, (void *)i);
	read(queue[0], &first, sizeof first);
	read(queue[0], &second, sizeof second);
	assert(argc > 1 ? *first == 1 : *first + *second == 3);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	free(first);
	free(second);
	return 0;
}

//: explore
//= exit 0
//= states 2
//= complete yes
//: explore @ wrong
//= exit 1
//= errors signal@channel_producers.c:23
//= states 2
//= complete yes
//: explore @ wrong
//~ out main finds 8 bytes that T2 wrote in the pipe queue \(
