/* A thread that looks at a pipe until something is there; wrong: it may never be. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static int p[2], wrong;
static atomic_int go;
static void *put(void *none)
{
	if (!wrong || go)
		write(p[1], "a", 1);
	return none;
}
int main(int argc, char **argv)
{
	pthread_t t;
	char c;
	wrong = argc > 1;
	pipe(p);
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	pthread_create(&t, NULL, put, NULL);
	go = 1;
	while (read(p[0], &c, 1) < 0 && errno == EAGAIN)
		;
	pthread_join(t, NULL);
	return 0;
}

//: explore
//= exit 0
//= states 3
//= complete yes
//: explore @ wrong
//= exit 1
//= errors blocked@channel_spin.c:24
//= complete yes
