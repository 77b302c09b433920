/*
 * memcached-load.c PORT CONNECTIONS ROUNDS - a client that keeps a memcached busy: on each of
 * its connections a set, an increment and a get at a time, in one packet.  Prints the requests
 * and the seconds that they took.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, REQUESTS = 3 };

static int connect_to(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((unsigned short)port),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		perror("connect");
		exit(1);
	}
	return fd;
}

static void ask(int fd, int connection, int round)
{
	char text[512], value[101];
	memset(value, 'a' + round % 26, 100);
	value[100] = 0;
	int n = snprintf(text, sizeof(text),
	                 "set key%d.%d 0 0 100\r\n%s\r\nincr shared 1\r\nget key%d.%d\r\n",
	                 connection, round % 7, value, connection, round % 7);
	if (write(fd, text, (size_t)n) != n) {
		perror("write");
		exit(1);
	}
}

/* The answers end with that of the get. */
static void answered(int fd)
{
	char text[4096];
	size_t n = 0;
	while (n < 5 || memcmp(text + n - 5, "END\r\n", 5) != 0) {
		ssize_t more = read(fd, text + n, sizeof(text) - n);
		if (more <= 0) {
			fputs("the connection ended\n", stderr);
			exit(1);
		}
		n += (size_t)more;
	}
}

int main(int argc, char **argv)
{
	int fds[MOST], port = argc > 1 ? atoi(argv[1]) : 0,
	               count = argc > 2 ? atoi(argv[2]) : 4;
	long rounds = argc > 3 ? atol(argv[3]) : 1000;
	struct timespec begin, end;
	count = count < 1 ? 1 : count > MOST ? MOST : count;
	for (int i = 0; i < count; i++)
		fds[i] = connect_to(port);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < count; i++)
			ask(fds[i], i, (int)round);
		for (int i = 0; i < count; i++)
			answered(fds[i]);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%ld %.3f\n", rounds * count * REQUESTS,
	       (double)(end.tv_sec - begin.tv_sec) +
	               (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
	return 0;
}
