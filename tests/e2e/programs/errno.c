/* What each call that Heddle wraps leaves in errno, with other threads coming and going:
 * one line for each, the same as in a plain run. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t s;
static int done, shared;

static void nothing(void) { }
static void *empty(void *a) { return a; }
static void *lives(void *a)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&m);
		shared++;
		pthread_mutex_unlock(&m);
	}
	return a;
}
/* Threads that begin and end all the time, and take the locks. */
static void *comes_and_goes(void *a)
{
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		pthread_t t;
		pthread_create(&t, 0, lives, 0);
		pthread_rwlock_rdlock(&rw);
		pthread_rwlock_unlock(&rw);
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
		sem_wait(&s);
		usleep(200);
		sem_post(&s);
		pthread_join(t, 0);
	}
	return a;
}
/* So that a wait has something to wait for. */
static void *posts(void *a)
{
	usleep(2000);
	sem_post(a);
	return a;
}

static const char *label(int e) { return e == 77 ? "as before" : strerror(e); }
#define TRY(call) \
	do { \
		errno = 77; \
		call; \
		int left = errno; \
		if (left != 77 || getenv("ALL")) \
			printf("%s: %s\n", #call, label(left)); \
	} while (0)

static void locks(void)
{
	struct timespec soon;
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec = 0;
	TRY(pthread_mutex_lock(&m));
	TRY(pthread_mutex_trylock(&m));
	TRY(pthread_mutex_timedlock(&m, &soon));
	TRY(pthread_cond_timedwait(&c, &m, &soon));
	TRY(pthread_mutex_unlock(&m));
	TRY(pthread_rwlock_rdlock(&rw));
	TRY(pthread_rwlock_trywrlock(&rw));
	TRY(pthread_rwlock_timedwrlock(&rw, &soon));
	TRY(pthread_rwlock_unlock(&rw));
	TRY(pthread_rwlock_wrlock(&rw));
	TRY(pthread_rwlock_unlock(&rw));
	TRY(pthread_spin_lock(&spin));
	TRY(pthread_spin_trylock(&spin));
	TRY(pthread_spin_unlock(&spin));
	TRY(pthread_cond_signal(&c));
	TRY(pthread_cond_broadcast(&c));
	TRY(pthread_once(&once, nothing));
	TRY(pthread_barrier_wait(&barrier));
	mtx_t own;
	TRY(mtx_init(&own, mtx_timed));
	TRY(mtx_lock(&own));
	TRY(mtx_trylock(&own));
	TRY(mtx_unlock(&own));
	TRY(mtx_destroy(&own));
}

static void semaphores(void)
{
	struct timespec soon;
	sem_t own;
	int value;
	pthread_t t;
	clock_gettime(CLOCK_REALTIME, &soon);
	TRY(sem_init(&own, 0, 1));
	TRY(sem_wait(&own));
	TRY(sem_trywait(&own));
	TRY(sem_timedwait(&own, &soon));
	TRY(sem_post(&own));
	TRY(sem_getvalue(&own, &value));
	TRY(sem_wait(&own));
	pthread_create(&t, 0, posts, &own);
	TRY(sem_wait(&own)); /* that waits */
	pthread_join(t, 0);
	pthread_create(&t, 0, posts, &own);
	soon.tv_sec += 100;
	TRY(sem_timedwait(&own, &soon)); /* that waits */
	pthread_join(t, 0);
	TRY(sem_destroy(&own));
}

static void threads(void)
{
	pthread_t t;
	thrd_t c11;
	void *r;
	TRY(pthread_create(&t, 0, empty, 0));
	TRY(pthread_join(t, &r));
	pthread_create(&t, 0, lives, 0);
	TRY(pthread_tryjoin_np(pthread_self(), &r));
	TRY(pthread_join(t, &r));
	pthread_create(&t, 0, empty, 0);
	TRY(pthread_detach(t));
	TRY(thrd_create(&c11, (thrd_start_t)(void *)empty, 0));
	TRY(thrd_join(c11, 0));
	TRY(thrd_yield());
	TRY(sched_yield());
	TRY(pthread_self());
	TRY(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0));
	TRY(pthread_testcancel());
}

static void waiting(void)
{
	struct timespec moment = { 0, 1000 }, now, bad = { 0, -1 };
	struct timeval tv;
	time_t at;
	TRY(usleep(10));
	TRY(sleep(0));
	TRY(nanosleep(&moment, 0));
	TRY(nanosleep(&bad, 0));
	TRY(clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, 0));
	TRY(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, 0));
	TRY(thrd_sleep(&moment, 0));
	TRY(clock_gettime(CLOCK_MONOTONIC, &now));
	TRY(gettimeofday(&tv, 0));
	TRY(time(&at));
	TRY(clock());
	TRY(timespec_get(&now, TIME_UTC));
	TRY(localtime(&at));
	TRY(wait(0));
	TRY(waitpid(-1, 0, WNOHANG));
	TRY(kill(getpid(), 0));
	TRY(pthread_kill(pthread_self(), 0));
	TRY(signal(SIGUSR1, SIG_IGN));
	TRY(signal(999, SIG_IGN));
	TRY(sigaction(SIGUSR1, 0, 0));
	TRY(raise(SIGUSR1));
}

static void memory(void)
{
	char text[100], *p = malloc(10), *q;
	FILE *f;
	TRY(free(malloc(100000)));
	TRY(p = realloc(p, 300000));
	TRY(free(p));
	TRY(free(calloc(3, 500000)));
	TRY(q = malloc((size_t)-1 / 4));
	free(q);
	TRY(p = mmap(0, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	TRY(mprotect(p, 4096, PROT_NONE));
	TRY(munmap(p, 8192));
	TRY(munmap((void *)1, 1));
	TRY(strlen("abc"));
	TRY(memcpy(text, "abc", 4));
	TRY(snprintf(text, sizeof(text), "%d %s", 5, "abc"));
	TRY(sscanf("5", "%d", &shared));
	TRY(strtol("99999999999999999999", 0, 10));
	TRY(strdup("abc"));
	TRY(qsort(text, 3, 1, (int (*)(const void *, const void *))(void *)strcmp));
	TRY(f = fopen("/nonexistent", "r"));
	TRY(f = tmpfile());
	TRY(fputs("abc\n", f));
	TRY(fflush(f));
	TRY(rewind(f));
	TRY(fgets(text, sizeof(text), f));
	TRY(fgets(text, sizeof(text), f));
	TRY(fclose(f));
	TRY(getenv("HOME"));
	TRY(rand());
	TRY(strerror(3));
}

static void descriptors(void)
{
	int ends[2], pair[2], e, set, fd;
	char byte = 1;
	struct stat status;
	struct epoll_event event = { .events = EPOLLIN };
	TRY(pipe(ends));
	TRY(write(ends[1], &byte, 1));
	struct pollfd one = { ends[0], POLLIN, 0 };
	TRY(poll(&one, 1, 0));
	TRY(read(ends[0], &byte, 1));
	TRY(poll(&one, 1, 1));
	fd_set sets;
	struct timeval tv = { 0, 1000 };
	FD_ZERO(&sets);
	FD_SET(ends[0], &sets);
	TRY(select(ends[0] + 1, &sets, 0, 0, &tv));
	TRY(fcntl(ends[0], F_SETFL, O_NONBLOCK));
	TRY(read(ends[0], &byte, 1));
	TRY(set = epoll_create1(0));
	TRY(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
	TRY(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
	TRY(epoll_wait(set, &event, 1, 1));
	TRY(close(set));
	TRY(close(ends[0]));
	TRY(close(ends[0]));
	TRY(dup2(ends[1], ends[0]));
	TRY(dup(ends[1]));
	TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	TRY(send(pair[0], &byte, 1, 0));
	TRY(recv(pair[1], &byte, 1, 0));
	TRY(recv(pair[1], &byte, 1, MSG_DONTWAIT));
	TRY(shutdown(pair[0], SHUT_RDWR));
	TRY(close(pair[0]));
	TRY(fd = socket(AF_INET, SOCK_STREAM, 0));
	TRY(listen(fd, 1));
	TRY(connect(fd, (struct sockaddr *)&pair, 3));
	TRY(accept(-1, 0, 0));
	TRY(close(fd));
	TRY(e = eventfd(1, 0));
	uint64_t n;
	TRY(read(e, &n, 8));
	TRY(write(e, &n, 8));
	TRY(close(e));
	TRY(fd = open("/dev/null", O_RDWR));
	TRY(fstat(fd, &status));
	TRY(isatty(fd));
	TRY(close(fd));
	TRY(fd = open("/nonexistent", O_RDONLY));
	TRY(stat("/nonexistent", &status));
	TRY(stat("/dev/null", &status));
	TRY(getpid());
	TRY(syscall(SYS_gettid));
	TRY(syscall(SYS_futex, &e, 1 /* FUTEX_WAKE */, 1, 0, 0, 0));
	TRY(syscall(SYS_close, -1));
}

static void processes(void)
{
	pid_t p;
	TRY(p = fork());
	if (p == 0)
		_exit(errno == 77 ? 7 : 8);
	int status = 0;
	TRY(waitpid(p, &status, 0));
	printf("fork's child: %d\n", WEXITSTATUS(status));
	TRY(p = vfork());
	if (p == 0)
		_exit(9);
	TRY(waitpid(p, &status, 0));
	TRY(system("exit 3"));
	TRY(execl("/nonexistent", "x", (char *)0));
}

int main(void)
{
	pthread_t busy[2];
	setvbuf(stdout, 0, _IOFBF, 1 << 16);
	sem_init(&s, 0, 1);
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, 0, 1);
	for (int i = 0; i < 2; i++)
		pthread_create(&busy[i], 0, comes_and_goes, 0);
	for (int i = 0; i < 5; i++) {
		locks();
		semaphores();
		threads();
		waiting();
		memory();
		descriptors();
		processes();
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(busy[i], 0);
	return 0;
}
