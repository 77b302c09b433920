/*
 * own_sockets.c - one thread hands data to another by sockets of the process to itself, in the way
 * that the first argument names; main reads it when it has got the message.  `early` is read before,
 * a true race.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int data, early;
static char way;
static struct sockaddr_in in = { .sin_family = AF_INET };
static struct sockaddr_un un = { .sun_family = AF_UNIX };
static int ends[2], passing[2];

static int connected(void)
{
	int c = socket(AF_INET, SOCK_STREAM | (way == 'e' ? SOCK_NONBLOCK : 0), 0);
	if (connect(c, (void *)&in, sizeof(in)) != 0 && errno != EINPROGRESS)
		abort();
	if (way == 'e')
		poll(&(struct pollfd){ c, POLLOUT, 0 }, 1, -1);
	return c;
}

static void pass(int through, int fd)
{
	char byte = 'f', room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v,
		            .msg_iovlen = 1,
		            .msg_control = room,
		            .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(through, &m, 0) != 1)
		abort();
}

static int passed(int through)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v,
		            .msg_iovlen = 1,
		            .msg_control = room,
		            .msg_controllen = sizeof(room) };
	int fd;
	if (recvmsg(through, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		abort();
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

static void *sender(void *p)
{
	int c, more[2];
	early = 1;
	data = 42;
	switch (way) {
	case 'a': /* accept alone is enough */
		close(connected());
		break;
	case 's': /* send */
	case 'e': /* the same, not blocking, and epoll */
		c = connected();
		if (send(c, "x", 1, 0) != 1)
			abort();
		close(c);
		break;
	case 'v': { /* writev, by a copy of the descriptor */
		struct iovec v = { "x", 1 };
		c = connected();
		int d = dup(c);
		close(c);
		if (writev(d, &v, 1) != 1)
			abort();
		close(d);
		break;
	}
	case 'c': /* the end: close */
		c = connected();
		data = 43;
		close(c);
		break;
	case 'h': /* the end: shutdown */
		c = connected();
		data = 43;
		shutdown(c, SHUT_WR);
		break;
	case 'm': { /* sendmsg over a UNIX socket */
		struct iovec v = { "x", 1 };
		struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
		c = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(c, (void *)&un, sizeof(un)) != 0 || sendmsg(c, &m, 0) != 1)
			abort();
		close(c);
		break;
	}
	case 'u': /* a datagram */
		c = socket(AF_INET, SOCK_DGRAM, 0);
		if (sendto(c, "x", 1, 0, (void *)&in, sizeof(in)) != 1)
			abort();
		close(c);
		break;
	case 'p': /* the end of a pipe */
		close(ends[1]);
		break;
	case 'r': /* a descriptor that was passed */
		if (pipe(more) != 0)
			abort();
		pass(passing[1], more[0]);
		data = 43;
		if (write(more[1], "x", 1) != 1)
			abort();
		break;
	case 'i': /* a pair of sockets that was there before: 8 and 9 */
		if (write(8, "x", 1) != 1)
			abort();
		break;
	}
	return p;
}

static void until_read(int fd, ssize_t wanted)
{
	char byte;
	while (read(fd, &byte, 1) != wanted)
		;
}

static void get(int s)
{
	struct epoll_event e = { .events = EPOLLIN };
	switch (way) {
	case 'a':
		accept(s, NULL, NULL);
		break;
	case 'c':
	case 'h':
		until_read(accept(s, NULL, NULL), 0);
		break;
	case 'e': {
		int set = epoll_create1(0);
		epoll_ctl(set, EPOLL_CTL_ADD, s, &e);
		epoll_wait(set, &e, 1, -1);
		int a = accept4(s, NULL, NULL, SOCK_NONBLOCK);
		epoll_ctl(set, EPOLL_CTL_ADD, a, &e);
		epoll_ctl(set, EPOLL_CTL_DEL, s, NULL);
		epoll_wait(set, &e, 1, -1);
		until_read(a, 1);
		break;
	}
	case 'u':
		until_read(s, 1);
		break;
	case 'p':
		until_read(ends[0], 0);
		break;
	case 'r':
		until_read(passed(passing[0]), 1);
		break;
	case 'i':
		until_read(9, 1);
		break;
	default:
		until_read(accept(s, NULL, NULL), 1);
	}
}

int main(int argc, char **argv)
{
	socklen_t length = sizeof(in);
	pthread_t t;
	int s = -1;
	way = argv[1][0];
	if (way == 'm') {
		strcpy(un.sun_path, "own.socket");
		unlink(un.sun_path);
		s = socket(AF_UNIX, SOCK_STREAM, 0);
		bind(s, (void *)&un, sizeof(un));
		listen(s, 4);
	} else if (way == 'p') {
		if (pipe(ends) != 0)
			abort();
	} else if (way == 'r') {
		socketpair(AF_UNIX, SOCK_STREAM, 0, passing);
	} else if (way != 'i') {
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		s = socket(AF_INET, way == 'u' ? SOCK_DGRAM : SOCK_STREAM, 0);
		bind(s, (void *)&in, sizeof(in));
		getsockname(s, (void *)&in, &length);
		if (way != 'u')
			listen(s, 4);
	}
	pthread_create(&t, NULL, sender, NULL);
	int seen = early;
	get(s);
	printf("%d\n", data);
	pthread_join(t, NULL);
	return seen > 1;
}
