/*
 * channels.c - waits for the process's own pipes, sockets and eventfds: for ever (read, lock,
 * full, eventfd, socketpair, poll, select, stream, epoll, loopback), or until a child, a timer
 * or a signal's handler ends them (child, timer, alarm).
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static const char *way;
static int ends[2];
static char block[1 << 17];

static int is(const char *word)
{
	return strcmp(way, word) == 0;
}

static void wait_by_set(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int set = epoll_create1(0);

	epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &e);
	epoll_wait(set, &e, 1, -1);
}

static void *reads(void *unused)
{
	struct pollfd f = { ends[0], POLLIN, 0 };
	fd_set set;
	char c;

	if (is("lock"))
		pthread_mutex_lock(&m);
	if (is("full")) {
		(void)!write(ends[1], block, sizeof block);
	} else if (is("poll")) {
		poll(&f, 1, -1);
	} else if (is("select")) {
		FD_ZERO(&set);
		FD_SET(ends[0], &set);
		select(ends[0] + 1, &set, NULL, NULL, NULL);
	} else if (is("epoll") || is("timer")) {
		wait_by_set();
	} else if (is("eventfd")) {
		(void)!read(ends[0], block, 8);
	} else if (is("stream")) {
		fgetc(fdopen(ends[0], "r"));
	} else {
		(void)!read(ends[0], &c, 1);
	}
	if (is("lock"))
		pthread_mutex_unlock(&m);
	return unused;
}

static void *writes(void *unused)
{
	pthread_mutex_lock(&m);
	(void)!write(ends[1], "x", 1);
	pthread_mutex_unlock(&m);
	return unused;
}

static void comes(int number)
{
	(void)!write(ends[1], "x", 1);
}

static void connect_here(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		                 .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof a;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	bind(listener, (struct sockaddr *)&a, sizeof a);
	listen(listener, 1);
	getsockname(listener, (struct sockaddr *)&a, &length);
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	connect(ends[1], (struct sockaddr *)&a, sizeof a);
	ends[0] = accept(listener, NULL, NULL);
}

static void make(void)
{
	struct itimerspec soon = { .it_value = { .tv_nsec = 300000000 } };

	if (is("socketpair"))
		socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	else if (is("loopback"))
		connect_here();
	else if (is("eventfd"))
		ends[0] = ends[1] = eventfd(0, 0);
	else if (is("timer"))
		timerfd_settime(ends[0] = timerfd_create(CLOCK_MONOTONIC, 0), 0, &soon, NULL);
	else
		(void)!pipe(ends);
	if (is("alarm")) {
		signal(SIGALRM, comes);
		alarm(1);
	}
	if (is("child") && fork() == 0) {
		usleep(300000);
		(void)!write(ends[1], "x", 1);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	pthread_t reader, writer;

	way = argv[1];
	make();
	pthread_create(&reader, NULL, reads, NULL);
	if (is("lock"))
		pthread_create(&writer, NULL, writes, NULL);
	pthread_join(reader, NULL);
	if (is("lock"))
		pthread_join(writer, NULL);
	puts("end");
	return 0;
}
