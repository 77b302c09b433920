/*
 * own_waits.c KIND HOW WHERE - a wait for ever that only the process itself could end: for
 * something to read, or for room, in a channel of its own, or for a connection with itself.  By
 * the main thread alone, by a thread that main joins, or by one that holds the lock that the
 * other needs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static const char *kind, *how;
static int in = -1, out = -1, listener = -1;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char block[1 << 16];
static struct sockaddr_storage address;
static socklen_t address_length;

static int is(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

static void listen_as(int domain)
{
	struct sockaddr_in *inet = (struct sockaddr_in *)&address;
	struct sockaddr_un *local = (struct sockaddr_un *)&address;

	address_length = domain == AF_INET ? sizeof *inet : sizeof *local;
	address.ss_family = (sa_family_t)domain;
	if (domain == AF_INET)
		inet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		snprintf(local->sun_path + 1, 90, "own-waits-%d", (int)getpid());
	listener = socket(domain, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, address_length) || listen(listener, 1))
		perror("listen"), exit(3);
	if (domain == AF_INET)
		getsockname(listener, (struct sockaddr *)&address, &address_length);
}

static void make(void)
{
	int ends[2];

	if (is(kind, "pipe")) {
		if (pipe(ends))
			exit(3);
		in = ends[0], out = ends[1];
	} else if (is(kind, "eventfd")) {
		in = out = eventfd(0, 0);
	} else if (is(kind, "stream") || is(kind, "dgram") || is(kind, "seqpacket")) {
		socketpair(AF_UNIX,
		           is(kind, "stream")  ? SOCK_STREAM
		           : is(kind, "dgram") ? SOCK_DGRAM
		                               : SOCK_SEQPACKET,
		           0, ends);
		in = ends[0], out = ends[1];
	} else if (is(kind, "unix") || is(kind, "tcp")) {
		listen_as(is(kind, "tcp") ? AF_INET : AF_UNIX);
		if (strstr(how, "accept") || strstr(how, "connect"))
			return;
		out = socket(address.ss_family, SOCK_STREAM, 0);
		if (connect(out, (struct sockaddr *)&address, address_length))
			perror("connect"), exit(3);
		in = accept(listener, NULL, NULL);
	} else if (is(kind, "udp")) {
		struct sockaddr_in a = { .sin_family = AF_INET,
			                 .sin_addr = { htonl(INADDR_LOOPBACK) } };
		socklen_t length = sizeof a;
		in = out = socket(AF_INET, SOCK_DGRAM, 0);
		bind(in, (struct sockaddr *)&a, sizeof a);
		getsockname(in, (struct sockaddr *)&a, &length);
		connect(in, (struct sockaddr *)&a, sizeof a);
	}
}

static void wait_polling(int fd, short events)
{
	struct pollfd f = { fd, events, 0 };
	sigset_t none;
	fd_set set;
	fd_set *r = events & POLLIN ? &set : NULL, *w = events & POLLOUT ? &set : NULL;

	sigemptyset(&none);
	FD_ZERO(&set);
	FD_SET(fd, &set);
	if (strstr(how, "ppollmask"))
		ppoll(&f, 1, NULL, &none);
	else if (strstr(how, "ppoll"))
		ppoll(&f, 1, NULL, NULL);
	else if (strstr(how, "poll") && !strstr(how, "epoll"))
		poll(&f, 1, -1);
	else if (strstr(how, "pselectmask"))
		pselect(fd + 1, r, w, NULL, NULL, &none);
	else if (strstr(how, "pselect"))
		pselect(fd + 1, r, w, NULL, NULL, NULL);
	else if (strstr(how, "select"))
		select(fd + 1, r, w, NULL, NULL);
	else if (strstr(how, "epoll")) {
		struct epoll_event e = { .events = events & POLLIN ? EPOLLIN : EPOLLOUT };
		int set = epoll_create1(0);
		epoll_ctl(set, EPOLL_CTL_ADD, fd, &e);
		if (strstr(how, "epollnested")) {
			struct epoll_event x = { .events = EPOLLIN };
			int outer = epoll_create1(0);
			epoll_ctl(outer, EPOLL_CTL_ADD, set, &x);
			epoll_wait(outer, &e, 1, -1);
		} else if (strstr(how, "epollof")) {
			struct pollfd g = { set, POLLIN, 0 };
			poll(&g, 1, -1);
		} else if (strstr(how, "epollmask"))
			epoll_pwait(set, &e, 1, -1, &none);
		else if (strstr(how, "epollpwait2"))
			epoll_pwait2(set, &e, 1, NULL, NULL);
		else if (strstr(how, "epollpwait"))
			epoll_pwait(set, &e, 1, -1, NULL);
		else
			epoll_wait(set, &e, 1, -1);
	}
}

static void fill(void)
{
	fcntl(out, F_SETFL, O_NONBLOCK);
	if (is(kind, "eventfd")) {
		uint64_t most = UINT64_MAX - 1;
		if (write(out, &most, 8) != 8)
			exit(4);
	} else {
		while (write(out, block, 4096) > 0)
			continue;
		while (write(out, block, 1) > 0)
			continue;
	}
	fcntl(out, F_SETFL, 0);
}

static void wait_here(void)
{
	struct iovec v = { block, 4096 };
	struct msghdr message = { .msg_iov = &v, .msg_iovlen = 1 };
	struct mmsghdr many = { .msg_hdr = message };
	uint64_t one = 1;
	size_t size = is(kind, "eventfd") ? 8 : 4096;

	if (strncmp(how, "in-", 3) == 0) {
		wait_polling(in, POLLIN);
	} else if (strncmp(how, "out-", 4) == 0) {
		fill();
		wait_polling(out, POLLOUT);
	} else if (strncmp(how, "accept-", 7) == 0) {
		wait_polling(listener, POLLIN);
	} else if (is(how, "read")) {
		(void)!read(in, block, 4096);
	} else if (is(how, "readv")) {
		(void)!readv(in, &v, 1);
	} else if (is(how, "preadv2")) {
		(void)!preadv2(in, &v, 1, -1, 0);
	} else if (is(how, "recv")) {
		recv(in, block, 4096, 0);
	} else if (is(how, "recvfrom")) {
		recvfrom(in, block, 4096, 0, NULL, NULL);
	} else if (is(how, "recvmsg")) {
		recvmsg(in, &message, 0);
	} else if (is(how, "recvmmsg")) {
		recvmmsg(in, &many, 1, 0, NULL);
	} else if (is(how, "waitall")) {
		send(out, "x", 1, 0);
		recv(in, block, 4096, MSG_WAITALL);
	} else if (is(how, "fgetc")) {
		fgetc(fdopen(in, "r"));
	} else if (is(how, "fread")) {
		(void)!fread(block, 1, 4096, fdopen(in, "r"));
	} else if (is(how, "splicein")) {
		int p[2];
		(void)!pipe(p);
		splice(in, NULL, p[1], NULL, 4096, 0);
	} else if (is(how, "write")) {
		fill();
		one = 1;
		(void)!write(out, is(kind, "eventfd") ? (void *)&one : block, size);
	} else if (is(how, "fills")) {
		while (write(out, memset(block, 1, 8), size) > 0)
			continue;
	} else if (is(how, "fillsbig")) {
		while (write(out, block, sizeof block) > 0)
			continue;
	} else if (is(how, "bigfirst")) {
		static char big[1 << 23];
		(void)!write(out, big, sizeof big);
	} else if (is(how, "writev")) {
		v.iov_len = sizeof block;
		while (writev(out, &v, 1) > 0)
			continue;
	} else if (is(how, "pwritev2")) {
		v.iov_len = sizeof block;
		while (pwritev2(out, &v, 1, -1, 0) > 0)
			continue;
	} else if (is(how, "send")) {
		while (send(out, block, size, 0) > 0)
			continue;
	} else if (is(how, "sendbig")) {
		while (send(out, block, sizeof block, 0) > 0)
			continue;
	} else if (is(how, "sendto")) {
		while (sendto(out, block, 100, 0, NULL, 0) > 0)
			continue;
	} else if (is(how, "sendmsg")) {
		while (sendmsg(out, &message, 0) > 0)
			continue;
	} else if (is(how, "sendmmsg")) {
		while (sendmmsg(out, &many, 1, 0) > 0)
			continue;
	} else if (is(how, "fwrite")) {
		FILE *f = fdopen(out, "w");
		while (fwrite(block, 1, 4096, f) > 0 && fflush(f) == 0)
			continue;
	} else if (is(how, "dprintf")) {
		while (dprintf(out, "%1000d\n", 5) > 0)
			continue;
	} else if (is(how, "sendfile")) {
		int f = open("/proc/self/exe", O_RDONLY);
		off_t o = 0;
		while (sendfile(out, f, &o, 4096) > 0)
			o = 0;
	} else if (is(how, "vmsplice")) {
		v.iov_len = sizeof block;
		while (vmsplice(out, &v, 1, 0) > 0)
			continue;
	} else if (is(how, "spliceout")) {
		int p[2];
		(void)!pipe(p);
		for (int i = 0; i < 1 << 16; i++) {
			(void)!write(p[1], block, 4096);
			splice(p[0], NULL, out, NULL, 4096, 0);
		}
	} else if (is(how, "accept")) {
		accept(listener, NULL, NULL);
	} else if (is(how, "accept4")) {
		accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	} else if (is(how, "connect")) {
		for (int i = 0; i < 20; i++)
			connect(socket(address.ss_family, SOCK_STREAM, 0),
			        (struct sockaddr *)&address, address_length);
	} else {
		exit(5);
	}
}

static void *first(void *unused)
{
	pthread_mutex_lock(&m);
	wait_here();
	pthread_mutex_unlock(&m);
	return unused;
}

static void *second(void *unused)
{
	pthread_mutex_lock(&m);
	if (out >= 0 && strncmp(how, "out-", 4) != 0 && getenv("WRITES"))
		(void)!write(out, "12345678", 8);
	pthread_mutex_unlock(&m);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t a, b;
	const char *where = argv[3];

	(void)argc;
	kind = argv[1], how = argv[2];
	make();
	if (is(where, "alone")) {
		wait_here();
		puts("end");
		return 0;
	}
	pthread_create(&a, NULL, first, NULL);
	if (is(where, "held"))
		pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	if (is(where, "held"))
		pthread_join(b, NULL);
	puts("end");
	return 0;
}
