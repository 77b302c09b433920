/* A loop at an epoll instance with an eventfd; wrong: it clears the eventfd after it has looked for work. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
static int set, fd, wrong;
static atomic_int work;
static void *loop(void *none)
{
	for (int done = 0; done < 2;) {
		struct epoll_event e;
		eventfd_t n;
		epoll_wait(set, &e, 1, -1);
		if (wrong)
			done += atomic_exchange(&work, 0);
		eventfd_read(fd, &n);
		if (!wrong)
			done += atomic_exchange(&work, 0);
	}
	return none;
}
static void *post(void *none)
{
	work++;
	eventfd_write(fd, 1);
	return none;
}
int main(int argc, char **argv)
{
	pthread_t t[3];
	struct epoll_event e = { .events = EPOLLIN };
	wrong = argc > 1;
	set = epoll_create1(0);
	fd = eventfd(0, EFD_NONBLOCK);
	epoll_ctl(set, EPOLL_CTL_ADD, fd, &e);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, i ? post : loop, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}

//: explore
//= exit 0
//= complete yes
//: explore @ wrong
//= exit 1
//= errors blocked@channel_epoll.c:13
//= complete yes
//: explore @ wrong
//~ out T1 finds 2 in the eventfd fd[0-9]+, not
