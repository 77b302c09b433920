/* What the kernel tells of comes after the call that made it known: a member of an epoll instance, a
 * timer, what a program that the process starts brings.  What the caller does after that does not. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
enum way { ADDED, ARMED, TIMER_READ, TIMER_POLLED, TIMER_IN_SET, SYSTEM, POPEN, SPAWN, ENDED };
static enum way way;
static volatile int before, after;
static int set, timer, event, ends[2];
static void waits_for_member(void)
{
	struct epoll_event e;
	if (epoll_wait(set, &e, 1, -1) != 1)
		abort();
}
static void *waits(void *p)
{
	struct pollfd one = { .fd = timer, .events = POLLIN };
	uint64_t count;
	char byte;
	switch (way) {
	case ADDED:
	case ARMED:
	case TIMER_IN_SET:
		waits_for_member();
		break;
	case TIMER_READ:
		if (read(timer, &count, sizeof(count)) != sizeof(count))
			abort();
		break;
	case TIMER_POLLED:
		if (poll(&one, 1, -1) != 1)
			abort();
		break;
	case ENDED:
		while (waitpid(-1, NULL, 0) < 0)
			usleep(1000);
		break;
	default:
		if (read(ends[0], &byte, 1) != 1)
			abort();
	}
	before++;
	after++;
	return p;
}
static void hands_over(void)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };
	struct itimerspec soon = { .it_value.tv_nsec = 1000000 };
	char line[64], *argv[] = { "sh", "-c", line, NULL };
	pid_t child;
	snprintf(line, sizeof(line), way == ENDED ? "true" : "echo >&%d", ends[1]);
	switch (way) {
	case ADDED:
		epoll_ctl(set, EPOLL_CTL_ADD, event, &e);
		break;
	case ARMED:
		epoll_ctl(set, EPOLL_CTL_MOD, event, &e);
		break;
	case TIMER_READ:
	case TIMER_POLLED:
	case TIMER_IN_SET:
		timerfd_settime(timer, 0, &soon, NULL);
		break;
	case SYSTEM:
		if (system(line) != 0)
			abort();
		break;
	case POPEN:
		if (!popen(line, "r"))
			abort();
		break;
	default:
		if (posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ) != 0)
			abort();
	}
}
int main(int argc, char **argv)
{
	pthread_t t;
	struct epoll_event e = { .events = EPOLLIN }, none = { .events = EPOLLONESHOT };
	way = argc > 1 ? (enum way)atoi(argv[1]) : ADDED;
	set = epoll_create1(0);
	event = eventfd(1, 0);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	if (pipe(ends) != 0)
		abort();
	epoll_ctl(set, EPOLL_CTL_ADD, timer, &e);
	if (way == ARMED)
		epoll_ctl(set, EPOLL_CTL_ADD, event, &none);
	pthread_create(&t, NULL, waits, NULL);
	before = 1;
	hands_over();
	after = 1;
	pthread_join(t, NULL);
	return before - 2;
}

//: record -q -o t0.hdl @ 0
//= exit 0
//: record -q -o t1.hdl @ 1
//= exit 0
//: record -q -o t2.hdl @ 2
//= exit 0
//: record -q -o t3.hdl @ 3
//= exit 0
//: record -q -o t4.hdl @ 4
//= exit 0
//: record -q -o t5.hdl @ 5
//= exit 0
//: record -q -o t6.hdl @ 6
//= exit 0
//: record -q -o t7.hdl @ 7
//= exit 0
//: record -q -o t8.hdl @ 8
//= exit 0
//: races {t0,t1,t2,t3,t4,t5,t6,t7,t8}.hdl
//~ racy ^(kernel_hands_over.c:54\+kernel_hands_over.c:105|kernel_hands_over.c:105\+kernel_hands_over.c:54)$
//: replay --trace t0.hdl @ 0
//= exit 0
//: replay --trace t1.hdl @ 1
//= exit 0
//: replay --trace t2.hdl @ 2
//= exit 0
//: replay --trace t7.hdl @ 7
//= exit 0
