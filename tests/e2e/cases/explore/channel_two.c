/* select at two pipes: either may be ready first; wrong: one is relied on. */
#include <assert.h>
#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>
static int a[2], b[2];
static void *put(void *fd) { write(*(int *)fd, "x", 1); return fd; }
int main(int argc, char **argv)
{
	pthread_t t[2];
	char c;
	pipe(a);
	pipe(b);
	pthread_create(&t[0], NULL, put, &a[1]);
	pthread_create(&t[1], NULL, put, &b[1]);
	for (int got = 0; got < 2;) {
		fd_set s;
		FD_ZERO(&s);
		FD_SET(a[0], &s);
		FD_SET(b[0], &s);
		select((a[0] > b[0] ? a[0] : b[0]) + 1, &s, NULL, NULL, NULL);
		assert(argc == 1 || got || FD_ISSET(a[0], &s));
		got += FD_ISSET(a[0], &s) ? read(a[0], &c, 1) : 0;
		got += FD_ISSET(b[0], &s) ? read(b[0], &c, 1) : 0;
	}
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
//= errors signal@channel_two.c:22
//= complete yes
