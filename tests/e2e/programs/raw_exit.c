/* A thread that leaves by the system call, past the C library and everything of ours. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *run(void *arg)
{
	pthread_detach(pthread_self());
	syscall(SYS_exit, 0);
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, run, NULL);
	sleep(1);
	puts("after it");
	return 0;
}
