/*
 * ended_twice.c - is ended by a signal to the recorder, and when it is gone, a process of its own
 * sends the recorder the same signal again: what `timeout` does, by way of the group.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int work;

int main(int argc, char **argv)
{
	int ends[2], number = argc > 1 ? atoi(argv[1]) : SIGTERM;
	pid_t recorder = getppid();
	char none;
	for (int i = 0; i < 400000; i++) /* so that the trace takes a while to make */
		work++;
	if (pipe(ends) != 0)
		return 1;
	if (fork() == 0) {
		close(ends[1]);
		while (read(ends[0], &none, 1) > 0)
			;
		kill(recorder, number);
		_exit(0);
	}
	kill(recorder, number);
	for (;;)
		pause();
}
