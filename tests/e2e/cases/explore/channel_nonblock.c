/* Reads that do not wait, up to the close; wrong: nothing yet is taken for the end. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int p[2];
static void *put(void *none)
{
	write(p[1], "a", 1);
	write(p[1], "b", 1);
	close(p[1]);
	return none;
}
int main(int argc, char **argv)
{
	pthread_t t;
	int got = 0;
	pipe(p);
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	pthread_create(&t, NULL, put, NULL);
	for (;;) {
		char c;
		ssize_t n = read(p[0], &c, 1);
		if (n < 0 && errno == EAGAIN && argc == 1) {
			struct pollfd f = { .fd = p[0], .events = POLLIN };
			poll(&f, 1, -1);
			continue;
		}
		if (n <= 0)
			break;
		got++;
	}
	assert(got == 2);
	pthread_join(t, NULL);
	return 0;
}

//: explore
//= exit 0
//= states 11
//= complete yes
//: explore @ wrong
//= exit 1
//= errors signal@channel_nonblock.c:35
//= states 4
//= complete yes
