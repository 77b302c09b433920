/* one_thread.c - programs of few threads, one for each number of CASE: what a run may do whose threads
 * are contexts of one kernel thread, and what it may not (explore_one_thread.t). */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>
static int x, y;
static atomic_int a;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static __thread int own;
static pthread_key_t key;
static void gone(void *p) { pthread_mutex_lock(&m); x += *(int *)p; pthread_mutex_unlock(&m); free(p); }
static void *count(void *p)
{
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	own++;
	assert(own == 1 || CASE == 30);
	return p;
}
static void *of_case(void *p)
{
	(void)p;
	switch (CASE) {
	case 1: /* heap */ {
		char *q[20];
		for (int i = 0; i < 20; i++)
			memset(q[i] = malloc(100 + 100 * i), i, 100);
		count(0);
		for (int i = 0; i < 20; i++)
			free(q[i]);
		void *big = malloc(1 << 20);
		memset(big, 1, 1 << 20);
		free(big);
		break;
	}
	case 2: /* a key with a destructor */ {
		int *q = malloc(sizeof(*q));
		*q = 1;
		pthread_setspecific(key, q);
		break;
	}
	case 3: /* pthread_exit, through a frame */
		count(0);
		pthread_exit((void *)5);
	case 4: /* printing */
		printf("thread %d\n", ++x);
		fflush(stdout);
		break;
	case 5: /* a file */ {
		FILE *f = fopen("one_thread.out", "w");
		fprintf(f, "%d\n", 1);
		fclose(f);
		count(0);
		break;
	}
	case 6: /* aborts in some schedules */
		if (a++ == 0 && x == 0)
			x = 1;
		else if (y++ == 0 && x == 0)
			abort();
		break;
	case 7: /* crashes in some */
		if (x++ == 0 && y == 0)
			y = 1;
		else if (a == 0)
			*(volatile int *)8 = 1;
		a = 1;
		break;
	case 8: /* deadlocks in some */ {
		static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
		int first = a++;
		pthread_mutex_lock(first ? &m : &other);
		pthread_mutex_lock(first ? &other : &m);
		pthread_mutex_unlock(&m);
		pthread_mutex_unlock(&other);
		break;
	}
	case 9: /* its kernel thread, in some schedules only */
		if (a++ == 1 && x == 0)
			y = syscall(SYS_gettid) > 0;
		x = 1;
		break;
	case 10: /* always */
		y = gettid() != getpid();
		assert(y);
		count(0);
		break;
	case 11: /* waits for real */
		usleep(10);
		count(0);
		break;
	case 12: /* a condition */
		pthread_mutex_lock(&m);
		while (x == 0)
			pthread_cond_wait(&c, &m);
		x--;
		pthread_mutex_unlock(&m);
		break;
	case 13: /* exit by a thread */
		count(0);
		if (x == 2)
			exit(3);
		break;
	case 14: /* a process of its own */
		if (a++ == 0) {
			pid_t pid = fork();
			if (pid == 0)
				_exit(0);
			waitpid(pid, 0, 0);
		}
		break;
	case 15: /* memory that is not there for long */ {
		char *q = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		q[0] = 1;
		count(0);
		munmap(q, 8192);
		break;
	}
	case 16: /* deep on its stack */ {
		volatile char room[300000];
		for (unsigned i = 0; i < sizeof(room); i += 4096)
			room[i] = (char)i;
		count(0);
		break;
	}
	case 17: /* recursive, by the thread's number */ {
		static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
		pthread_mutex_lock(&r);
		pthread_mutex_lock(&r);
		x++;
		pthread_mutex_unlock(&r);
		pthread_mutex_unlock(&r);
		break;
	}
	case 18: /* a signal to itself */
		raise(SIGUSR1);
		count(0);
		break;
	case 19: /* memory that may not be written to */ {
		static char page[8192] __attribute__((aligned(4096)));
		if (a++ == 1 && x == 0) {
			mprotect(page, 4096, PROT_READ);
			page[0] = 1;
		}
		x = 1;
		break;
	}
	case 31: /* a file's lock, its first bytes, the empty device */ {
		char bytes[4] = "";
		int fd = open("one_thread.c", O_RDONLY), null = open("/dev/null", O_RDWR);
		assert(flock(fd, LOCK_SH) == 0 && read(fd, bytes, 2) == 2 && bytes[1] == '*');
		assert(isatty(fd) == 0 && isatty(null) == 0 && read(null, bytes, 2) == 0);
		count(0);
		assert(flock(fd, LOCK_UN) == 0);
		close(fd);
		close(null);
		break;
	}
	case 32: /* waits for a file's lock that another thread has */ {
		static sem_t locked, over;
		int fd = open("one_thread.c", O_RDONLY);
		if (p == NULL) {
			assert(flock(fd, LOCK_EX) == 0);
			sem_post(&locked);
			sem_wait(&over);
		} else {
			sem_wait(&locked);
			assert(flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK);
			sem_post(&over);
			assert(flock(fd, LOCK_EX) == 0);
		}
		close(fd);
		break;
	}
	case 30:
		count(0);
		count(0);
		break;
	default:
		count(0);
	}
	return 0;
}
#if CASE == 28
__attribute__((constructor)) static void early(void) { signal(SIGUSR1, SIG_IGN), signal(SIGUSR2, exit); }
#endif
static volatile int rows[2][16];
static void *many(void *p)
{
	volatile int *row = p;
	for (int i = 0; i < 150000; i++)
		row[i & 15] = i;
	return count(0);
}
static int in_c11(void *p) { return count(p) != 0; }
static void handle(int number) { (void)number; a++; }
static void *more(void *p) { pthread_t t; pthread_create(&t, 0, count, 0); pthread_join(t, 0); return p; }
static void *cancelled(void *p) { for (;;) pause(); return p; }
static void *leaves_locked(void *p) { pthread_mutex_lock(p); return p; }
int main(void)
{
	enum { MANY = 40 };
	pthread_t t[MANY];
	pthread_attr_t attr;
	pthread_key_create(&key, gone);
	pthread_attr_init(&attr);
	if (CASE == 18)
		signal(SIGUSR1, handle);
	if (CASE == 16) { /* and on the first thread's, which grows */
		volatile char room[3 << 20];
		for (unsigned i = sizeof(room); i >= 4096; i -= 4096)
			room[i - 1] = (char)i;
	}
	if (CASE == 29) { /* a log of several pieces */
		pthread_create(&t[0], 0, many, (void *)rows[0]);
		pthread_create(&t[1], 0, many, (void *)rows[1]);
		pthread_join(t[0], 0);
		pthread_join(t[1], 0);
		return x != 2;
	}
	if (CASE == 20) { /* more threads than are in waiting */
		for (int i = 0; i < MANY; i++) {
			pthread_create(&t[i], 0, count, 0);
			pthread_join(t[i], 0);
		}
		return x != MANY;
	}
	if (CASE == 21) { /* detached */
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		pthread_create(&t[0], &attr, count, 0);
		pthread_create(&t[1], 0, count, 0);
		pthread_detach(t[1]);
		for (int seen = 0; seen != 2;) {
			pthread_mutex_lock(&m);
			seen = x;
			pthread_mutex_unlock(&m);
			sched_yield();
		}
		return 0;
	}
	if (CASE == 22) { /* a stack of another size */
		pthread_attr_setstacksize(&attr, 1 << 20);
		pthread_create(&t[0], &attr, count, 0);
		pthread_join(t[0], 0);
		return 0;
	}
	if (CASE == 23) { /* the first thread ends first */
		pthread_create(&t[0], 0, count, 0);
		pthread_create(&t[1], 0, count, 0);
		pthread_exit(0);
	}
	if (CASE == 24) {
		thrd_t u;
		int result;
		thrd_create(&u, in_c11, &x);
		count(0);
		thrd_join(u, &result);
		return result != 1;
	}
	if (CASE == 25) { /* threads of threads */
		pthread_create(&t[0], 0, more, 0);
		pthread_create(&t[1], 0, more, 0);
		pthread_join(t[0], 0);
		pthread_join(t[1], 0);
		return x != 2;
	}
	if (CASE == 26) {
		void *result;
		pthread_create(&t[0], 0, cancelled, 0);
		pthread_cancel(t[0]);
		pthread_join(t[0], &result);
		return result != PTHREAD_CANCELED;
	}
	if (CASE == 27) { /* a robust mutex whose owner dies */
		pthread_mutex_t robust;
		pthread_mutexattr_t ra;
		pthread_mutexattr_init(&ra);
		pthread_mutexattr_setrobust(&ra, PTHREAD_MUTEX_ROBUST);
		pthread_mutex_init(&robust, &ra);
		pthread_create(&t[0], 0, leaves_locked, &robust);
		pthread_join(t[0], 0);
		return pthread_mutex_lock(&robust) != EOWNERDEAD;
	}
	if (CASE == 30) { /* which process it is */
		FILE *f = fopen("one_thread.out", "a");
		fprintf(f, "%d\n", getpid());
		fclose(f);
	}
	if (CASE == 31) /* by its name in /proc */
		assert(freopen(NULL, "r", stdin) && getchar() == EOF);
	pthread_create(&t[0], 0, of_case, 0);
	pthread_create(&t[1], 0, of_case, CASE == 32 ? &x : 0);
	if (CASE == 12)
		for (int i = 0; i < 2; i++) {
			pthread_mutex_lock(&m);
			x++;
			pthread_cond_signal(&c);
			pthread_mutex_unlock(&m);
		}
	void *result[2];
	pthread_join(t[0], &result[0]);
	pthread_join(t[1], &result[1]);
	if (CASE == 3)
		assert(result[0] == (void *)5 && result[1] == (void *)5);
	return 0;
}
