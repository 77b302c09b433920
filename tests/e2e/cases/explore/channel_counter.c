/* Two threads add to an eventfd, and one waits for both; wrong: by a single read. */
#include <assert.h>
#include <pthread.h>
#include <sys/eventfd.h>
static int fd;
static void *post(void *n) { eventfd_write(fd, (eventfd_t)n); return n; }
int main(int argc, char **argv)
{
	pthread_t t[2];
	eventfd_t sum = 0, n;
	fd = eventfd(0, 0);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, post, (void *)(i + 1));
	do {
		eventfd_read(fd, &n);
		sum += n;
	} while (argc == 1 && sum < 3);
	assert(sum == 3);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}

//: explore
//= exit 0
//= states 3
//= complete yes
//: explore @ wrong
//= exit 1
//= errors signal@channel_counter.c:18
//= states 3
//= complete yes
