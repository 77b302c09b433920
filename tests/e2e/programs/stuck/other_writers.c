/*
 * other_writers.c WAY - a read of the process's own pipe that another process ends, which has
 * got the pipe's other end by posix_spawn, system, popen or vfork, or a thread of the C
 * library's own (timer).
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static int ends[2];

static void *reads(void *unused)
{
	char c = '?';

	printf("%d", (int)read(ends[0], &c, 1));
	printf("%c\n", c);
	return unused;
}

static void fires(union sigval unused)
{
	(void)unused;
	usleep(100000);
	(void)!write(ends[1], "x", 1);
}

static void set_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD,
		                  .sigev_notify_function = fires };
	struct itimerspec soon = { .it_value = { .tv_nsec = 300000000 } };
	timer_t timer;

	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
}

int main(int count, char **arguments)
{
	const char *way = arguments[count - 1];
	char command[100], later[110];
	char *words[] = { "sh", "-c", command, NULL };
	pthread_t reader;
	pid_t child;

	if (pipe(ends) != 0)
		return 3;
	snprintf(command, sizeof command, "sleep 1; printf x >&%d", ends[1]);
	snprintf(later, sizeof later, "(%s) &", command);
	if (strcmp(way, "spawn") == 0) {
		posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ);
	} else if (strcmp(way, "system") == 0) {
		(void)!system(later);
	} else if (strcmp(way, "popen") == 0) {
		popen(command, "r");
	} else if (strcmp(way, "vfork") == 0) {
		if (vfork() == 0) {
			execv("/bin/sh", words);
			_exit(1);
		}
	} else {
		set_timer();
	}
	pthread_create(&reader, NULL, reads, NULL);
	pthread_join(reader, NULL);
	return 0;
}
