/* A pipe as a queue of pointers, whose end is its close; wrong: a job is used after it was sent. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct job { int n, done; };
static int queue[2];
static void *work(void *none)
{
	struct job *j;
	long sum = 0;
	while (read(queue[0], &j, sizeof j) == sizeof j) {
		sum += j->n;
		free(j);
	}
	return (void *)sum;
}
int main(int argc, char **argv)
{
	pthread_t t;
	void *sum;
	pipe(queue);
	pthread_create(&t, NULL, work, NULL);
	for (int i = 1; i <= 3; i++) {
		struct job *j = malloc(sizeof *j);
		j->n = i;
		write(queue[1], &j, sizeof j);
		if (argc > 1)
			j->done = 1;
	}
	close(queue[1]);
	pthread_join(t, &sum);
	assert((long)sum == 6);
	return 0;
}

//: explore
//= exit 0
//= states 1
//= complete yes
//: explore @ wrong
//= exit 1
//= errors use-after-free@channel_jobs.c:29
