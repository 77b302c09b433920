/*
 * order_kinds.c KIND: two threads whose order decides what an operation does, a KIND each; the
 * assertion fails in one order.  order_kinds.t knows which kinds exploration tries in every
 * order, and which it names.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const struct timespec far = { 4000000000, 0 };
static pthread_t a, b;
static volatile int x;
static int end[2], one;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static mtx_t plain;
static sigset_t set;
static FILE *file;

static void start(void *(*f)(void *), void *first, void *second)
{
	pthread_create(&a, NULL, f, first);
	if (second)
		pthread_create(&b, NULL, f, second);
}
static void join(void)
{
	pthread_join(a, NULL);
	if (b)
		pthread_join(b, NULL);
}
static void *nothing(void *p)
{
	return NULL;
}

/* -- tried in every order -- */
static void *post(void *p)
{
	sem_post(&semaphore);
	return NULL;
}
static void sem_clock(void)
{
	start(post, NULL, NULL);
	assert(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &far) == 0);
}
static void *lock(void *p)
{
	pthread_mutex_lock(&mutex);
	x = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return NULL;
}
static void mutex_clock(void)
{
	start(lock, NULL, NULL);
	assert(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &far) == 0);
}
static void condition_clock(void)
{
	int late = 0;
	start(lock, NULL, NULL);
	pthread_mutex_lock(&mutex);
	if (!x)
		late = pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &far);
	assert(!late);
	pthread_mutex_unlock(&mutex);
}
static void *write_lock(void *p)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}
static void rwlock_clock(void)
{
	start(write_lock, NULL, NULL);
	assert(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &far) == 0);
}
static int plain_lock(void *p)
{
	mtx_lock(&plain);
	mtx_unlock(&plain);
	return 0;
}
static void c11(void)
{
	thrd_t t;
	mtx_init(&plain, mtx_plain);
	thrd_create(&t, plain_lock, NULL);
	assert(mtx_trylock(&plain) == thrd_success);
}
static void *set_one(void *p)
{
	x = 1;
	return NULL;
}
static void sleeps(void)
{
	start(set_one, NULL, NULL);
	nanosleep(&(struct timespec){ 0, 1000 }, NULL);
	assert(x == 1);
}

/* -- named -- */
static void *may_end(void *p)
{
	pthread_testcancel();
	return NULL;
}
static void cancel(void)
{
	void *result;
	start(may_end, NULL, NULL);
	pthread_cancel(a);
	pthread_join(a, &result);
	assert(result == NULL);
}
static void try_join(void)
{
	start(nothing, NULL, NULL);
	assert(pthread_tryjoin_np(a, NULL) == EBUSY);
}
static void timed_join(void)
{
	start(nothing, NULL, NULL);
	assert(pthread_timedjoin_np(a, NULL, &far) == 0);
}
static void clock_join(void)
{
	start(nothing, NULL, NULL);
	assert(pthread_clockjoin_np(a, NULL, CLOCK_MONOTONIC, &far) == 0);
}
static void *write_one(void *p)
{
	if (write(end[1], p, 1) != 1)
		abort();
	return NULL;
}
static void read_first(void)
{
	char c[2];
	start(write_one, "a", "b");
	join();
	assert(read(end[0], c, 2) == 2 && c[0] == 'a');
}
static void a_pipe(void)
{
	if (pipe(end))
		abort();
	read_first();
}
static void a_socket(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, end))
		abort();
	read_first();
}
static void polls(void)
{
	struct pollfd fd = { .events = POLLIN };
	if (pipe(end))
		abort();
	fd.fd = end[0];
	start(write_one, "a", NULL);
	assert(poll(&fd, 1, 0) == 0);
}
static void *count(void *p)
{
	eventfd_write(one, 1);
	return NULL;
}
static void an_eventfd(void)
{
	eventfd_t value;
	one = eventfd(1, 0);
	start(count, NULL, NULL);
	assert(eventfd_read(one, &value) == 0 && value == 1);
}
struct message {
	long type;
	char c;
};
static void *send_one(void *p)
{
	struct message m = { 1, *(char *)p };
	msgsnd(one, &m, 1, 0);
	return NULL;
}
static void system_queue(void)
{
	struct message m;
	one = msgget(IPC_PRIVATE, 0600);
	start(send_one, "a", "b");
	join();
	ssize_t n = msgrcv(one, &m, 1, 0, 0);
	msgctl(one, IPC_RMID, NULL);
	assert(n == 1 && m.c == 'a');
}
static void *give(void *p)
{
	semop(one, &(struct sembuf){ 0, 1, 0 }, 1);
	return NULL;
}
static void system_semaphore(void)
{
	one = semget(IPC_PRIVATE, 1, 0600);
	start(give, NULL, NULL);
	int got = semop(one, &(struct sembuf){ 0, -1, IPC_NOWAIT }, 1);
	pthread_join(a, NULL);
	semctl(one, 0, IPC_RMID);
	assert(got < 0);
}
static void handler(int number)
{
	x = 1;
}
static void a_signal(void)
{
	signal(SIGUSR1, handler);
	start(set_one, NULL, NULL);
	kill(getpid(), SIGUSR1);
}
static void *await_signal(void *p)
{
	int number = 0;
	sigwait(&set, &number);
	x = number;
	return NULL;
}
static void waits_for_signal(void)
{
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	start(await_signal, NULL, NULL);
	pthread_kill(a, SIGUSR1);
}
static void *any_number(void *p)
{
	*(int *)p = rand();
	return NULL;
}
static void random_numbers(void)
{
	static int u, v;
	start(any_number, &u, &v);
	join();
	assert(u == 1804289383);
}
static void *set_variable(void *p)
{
	setenv("ORDER_KINDS", p, 1);
	return NULL;
}
static void environment(void)
{
	start(set_variable, "a", "b");
	join();
	assert(strcmp(getenv("ORDER_KINDS"), "b") == 0);
}
static void *put(void *p)
{
	fputs(p, file);
	return NULL;
}
static void a_stream(void)
{
	file = tmpfile();
	start(put, "a", "b");
	join();
	rewind(file);
	assert(getc(file) == 'a');
}
static void a_file(void)
{
	char c, name[] = "order_kinds.XXXXXX";
	end[1] = mkstemp(name);
	unlink(name);
	start(write_one, "a", "b");
	join();
	assert(pread(end[1], &c, 1, 0) == 1 && c == 'a');
}
static void *make(void *p)
{
	int fd = open("order_kinds.lock", O_CREAT | O_EXCL | O_WRONLY, 0600);
	*(int *)p = fd >= 0;
	return NULL;
}
static void exclusive(void)
{
	static int u, v;
	start(make, &u, &v);
	join();
	unlink("order_kinds.lock");
	assert(u);
}
static void *lock_file(void *p)
{
	flock(end[0], LOCK_EX | LOCK_NB);
	return NULL;
}
static void locked_file(void)
{
	end[0] = open("order_kinds.file", O_RDWR | O_CREAT, 0600);
	end[1] = open("order_kinds.file", O_RDWR);
	start(lock_file, NULL, NULL);
	assert(flock(end[1], LOCK_EX | LOCK_NB) == 0);
}
static void *next_word(void *p)
{
	*(char **)p = strtok(NULL, ",");
	return NULL;
}
static void words(void)
{
	static char text[] = "a,b,c,d", *u, *v;
	strtok(text, ",");
	start(next_word, &u, &v);
	join();
	assert(*u == 'b');
}
static void a_timer(void)
{
	signal(SIGALRM, handler);
	start(set_one, NULL, NULL);
	alarm(1000);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
		{ "sem_clock", sem_clock },
		{ "mutex_clock", mutex_clock },
		{ "condition_clock", condition_clock },
		{ "rwlock_clock", rwlock_clock },
		{ "c11", c11 },
		{ "sleeps", sleeps },
		{ "cancel", cancel },
		{ "try_join", try_join },
		{ "timed_join", timed_join },
		{ "clock_join", clock_join },
		{ "a_pipe", a_pipe },
		{ "a_socket", a_socket },
		{ "polls", polls },
		{ "an_eventfd", an_eventfd },
		{ "system_queue", system_queue },
		{ "system_semaphore", system_semaphore },
		{ "a_signal", a_signal },
		{ "waits_for_signal", waits_for_signal },
		{ "random_numbers", random_numbers },
		{ "environment", environment },
		{ "a_stream", a_stream },
		{ "a_file", a_file },
		{ "exclusive", exclusive },
		{ "locked_file", locked_file },
		{ "words", words },
		{ "a_timer", a_timer },
	};
	for (unsigned i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			kinds[i].run();
	pthread_exit(NULL);
}
