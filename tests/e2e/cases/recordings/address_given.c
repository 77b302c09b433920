/* bind, connect, setsockopt and epoll_ctl read what they are given: a race with a thread that changes it. */
#include <netinet/in.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
static struct sockaddr_in own, other;
static int option, fd, set;
static struct epoll_event member;
static void *worker(void *p)
{
	bind(fd, (struct sockaddr *)&own, sizeof own);
	connect(fd, (struct sockaddr *)&other, sizeof other);
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &option, sizeof option);
	epoll_ctl(set, EPOLL_CTL_ADD, fd, &member);
	bind(fd, NULL, 1 << 30);
	return p;
}
int main(void)
{
	pthread_t t;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	set = epoll_create1(0);
	own.sin_family = other.sin_family = AF_INET;
	own.sin_addr.s_addr = other.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	pthread_create(&t, NULL, worker, NULL);
	own.sin_port = 0;
	other.sin_port = htons(9);
	option = 1;
	member.events = EPOLLIN;
	pthread_join(t, NULL);
	close(fd);
	close(set);
	return 0;
}
//: record -q --seed 1 -o t.hdl
//: races t.hdl --format json
//= kinds data-race race, data-race race, data-race race, data-race race
