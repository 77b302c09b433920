/* Every way to install a handler, and what a handler does to every call that waits: one line
 * for each, the same in a plain run. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void (*handler)(int);
handler bsd_signal(int, handler), __sysv_signal(int, handler);
static volatile int hits, waiting;
static void count(int s) { hits++; }
static sem_t never, posted;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

struct kernel_action {
	handler function;
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};
static void installed(const char *name, handler was)
{
	hits = 0;
	raise(SIGUSR1);
	struct sigaction now;
	sigaction(SIGUSR1, 0, &now);
	printf("%s: %d, was %s, now %s, restarts %d\n", name, hits,
	       was == SIG_DFL ? "default" : was == SIG_IGN ? "ignored" : was == count ? "ours" : "?",
	       now.sa_handler == SIG_DFL ? "default" : now.sa_handler == count ? "ours" : "?",
	       !!(now.sa_flags & SA_RESTART));
	now.sa_handler = SIG_DFL;
	sigaction(SIGUSR1, &now, 0);
}
static void install(void)
{
	struct sigaction a = { .sa_handler = count }, was;
	installed("signal", signal(SIGUSR1, count));
	installed("bsd_signal", bsd_signal(SIGUSR1, count));
	installed("ssignal", ssignal(SIGUSR1, count));
	installed("sysv_signal", sysv_signal(SIGUSR1, count));
	installed("__sysv_signal", __sysv_signal(SIGUSR1, count));
	installed("sigset", sigset(SIGUSR1, count));
	sigaction(SIGUSR1, &a, &was);
	installed("sigaction", was.sa_handler);
	signal(SIGUSR1, count);
	siginterrupt(SIGUSR1, 1);
	installed("siginterrupt", count);
	siginterrupt(SIGUSR1, 0);
	printf("bad number: %d %d\n", signal(99, count) == SIG_ERR, errno);
}

/* Signals main when it waits; several times, for it may not be there yet. */
static void *interrupt(void *p)
{
	while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE)) {
		usleep(20000);
		if (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
			pthread_kill(*(pthread_t *)p, SIGUSR1);
	}
	return 0;
}
static pthread_t self, other;
static void begin(void)
{
	hits = 0;
	errno = 0;
	__atomic_store_n(&waiting, 1, __ATOMIC_RELEASE);
	pthread_create(&other, 0, interrupt, &self);
	errno = 0;
}
static void end(const char *name, int result, int restart)
{
	int error = errno;
	__atomic_store_n(&waiting, 0, __ATOMIC_RELEASE);
	pthread_join(other, 0);
	printf("%s%s: %d %s, handled %d\n", name, restart ? " (SA_RESTART)" : "", result,
	       result ? strerror(error) : "", hits > 0);
}
static void waits(int flags)
{
	struct sigaction a = { .sa_handler = count, .sa_flags = flags };
	struct timespec hour = { 3600, 0 }, left = { 0, 0 }, at;
	int ends[2], pair[2], set = epoll_create1(0);
	char byte;
	struct epoll_event event = { .events = EPOLLIN };
	if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return;
	struct pollfd one = { ends[0], POLLIN, 0 };
	epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
	sigaction(SIGUSR1, &a, 0);
	begin();
	end("sleep", sleep(3600) > 3000, flags);
	begin();
	end("usleep", usleep(900000000), flags);
	begin();
	end("nanosleep", nanosleep(&hour, &left), flags);
	printf("left: %d\n", left.tv_sec > 3000);
	begin();
	end("clock_nanosleep", errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, 0), flags);
	begin();
	end("poll", poll(&one, 1, -1), flags);
	begin();
	end("ppoll", ppoll(&one, 1, &hour, 0), flags);
	fd_set r;
	FD_ZERO(&r);
	FD_SET(ends[0], &r);
	begin();
	end("select", select(ends[0] + 1, &r, 0, 0, 0), flags);
	begin();
	end("epoll_wait", epoll_wait(set, &event, 1, -1), flags);
	begin();
	end("pause", pause(), flags);
	if (!flags) {
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_sec += 3600;
		begin();
		end("read", (int)read(ends[0], &byte, 1), flags);
		begin();
		end("recv", (int)recv(pair[0], &byte, 1, 0), flags);
		begin();
		end("sem_wait", sem_wait(&never), flags);
		begin();
		end("sem_timedwait", sem_timedwait(&never, &at), flags);
	}
	close(ends[0]);
	close(ends[1]);
	close(pair[0]);
	close(pair[1]);
	close(set);
}

/* Calls that a handler does not end, but runs in. */
static void posts(int s) { hits++; sem_post(&posted); }
static void *at_barrier(void *p) { pthread_barrier_wait(&both); return p; }
static void *locks(void *p) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return p; }
static void runs_in(const char *name, void *(*function)(void *), int release)
{
	pthread_t t;
	hits = 0;
	pthread_mutex_lock(&m);
	pthread_create(&t, 0, function, 0);
	usleep(20000);
	pthread_kill(t, SIGUSR1);
	while (sem_wait(&posted))
		;
	if (release)
		pthread_barrier_wait(&both);
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	printf("%s: %d\n", name, hits);
}

int main(void)
{
	self = pthread_self();
	sem_init(&never, 0, 0);
	sem_init(&posted, 0, 0);
	pthread_barrier_init(&both, 0, 2);
	install();
	waits(0);
	waits(SA_RESTART);
	signal(SIGUSR1, posts);
	runs_in("pthread_mutex_lock", locks, 0);
	runs_in("pthread_barrier_wait", at_barrier, 1);
	return 0;
}
