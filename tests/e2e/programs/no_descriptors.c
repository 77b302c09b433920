/* no_descriptors.c - a call that is not modelled blocks a thread of a program that has all descriptors that
 * it may have: none is left for who looks after the thread. */
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends[2], got;

static void *reader(void *p)
{
	char byte;
	got = syscall(SYS_read, ends[0], &byte, 1) == 1;
	return p;
}

int main(void)
{
	struct rlimit limit = { 64, 64 };
	pthread_t t;
	int last = -1;
	if (pipe(ends) != 0 || setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 1;
	for (int fd; (fd = dup(0)) >= 0;)
		last = fd;
	pthread_create(&t, NULL, reader, NULL);
	for (volatile int i = 0; i < 1000; i++)
		;
	if (syscall(SYS_write, ends[1], "x", 1) != 1)
		return 1;
	pthread_join(t, NULL);
	printf("%d, %d\n", last, got);
	return 0;
}
