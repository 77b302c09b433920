/* What crosses the borders of a process, and what ends oddly: robust and process-shared
 * mutexes, vfork, posix_spawn, exec, a library opened late, sigwait, timed locks, keys, C11
 * threads. Prints what must come out.  Argument 1: the library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t robust, timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_key_t key;
static int destroyed, counter;

static void *dies_with_it(void *p)
{
	pthread_mutex_lock(&robust);
	return p;
}

static void robust_mutex(void)
{
	pthread_mutexattr_t a;
	pthread_t t;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	pthread_create(&t, NULL, dies_with_it, NULL);
	pthread_join(t, NULL);
	int status = pthread_mutex_lock(&robust);
	printf("robust %d", status == EOWNERDEAD);
	printf(" %d", pthread_mutex_consistent(&robust));
	printf(" %d\n", pthread_mutex_unlock(&robust));
}

struct shared {
	pthread_mutex_t m;
	int value;
};

/* The child is not recorded, and both use the lock all the same; it has it for a while when the
 * parent comes. */
static void shared_mutex(void)
{
	int ready[2];
	char byte = 0;
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
	                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t a;
	int status = 0;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->m, &a);
	if (pipe(ready) != 0)
		return;
	pid_t pid = fork();
	if (pid != 0 && read(ready[0], &byte, 1) != 1)
		return;
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&s->m);
		if (pid == 0 && i == 0 && write(ready[1], &byte, 1) == 1)
			usleep(100000);
		s->value++;
		pthread_mutex_unlock(&s->m);
	}
	if (pid == 0)
		_exit(7);
	waitpid(pid, &status, 0);
	printf("shared %d child %d\n", s->value, WEXITSTATUS(status));
}

static void processes(void)
{
	int status = 0;
	pid_t pid = vfork();
	if (pid == 0)
		_exit(5);
	waitpid(pid, &status, 0);
	printf("vfork %d", WEXITSTATUS(status));
	char *argv[] = { "sh", "-c", "exit 6", NULL };
	posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	waitpid(pid, &status, 0);
	printf(" spawn %d", WEXITSTATUS(status));
	posix_spawnp(&pid, "sh", NULL, NULL, argv, environ);
	waitpid(pid, &status, 0);
	printf(" spawnp %d\n", WEXITSTATUS(status));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execl("/bin/echo", "echo", "exec in a child", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("failed exec %d\n", execv("/no/such/program", argv));
}

static void *holds(void *p)
{
	pthread_mutex_lock(&timed);
	pthread_rwlock_wrlock(&rw);
	sleep(3600);
	pthread_rwlock_unlock(&rw);
	pthread_mutex_unlock(&timed);
	return p;
}

static void timed_locks(void)
{
	pthread_t t;
	struct timespec at;
	pthread_create(&t, NULL, holds, NULL);
	usleep(1000);
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += 2;
	printf("timed %d", pthread_mutex_timedlock(&timed, &at) == ETIMEDOUT);
	printf(" %d", pthread_rwlock_timedrdlock(&rw, &at) == ETIMEDOUT);
	printf(" %d", pthread_rwlock_timedwrlock(&rw, &at) == ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += 2;
	printf(" %d\n", pthread_mutex_clocklock(&timed, CLOCK_MONOTONIC, &at) == ETIMEDOUT);
	pthread_join(t, NULL);
}

static void destroy(void *p)
{
	destroyed += *(int *)p;
}
static void *with_key(void *p)
{
	pthread_setspecific(key, p);
	pthread_exit(p);
}

static int c11(void *p)
{
	mtx_lock(p);
	counter++;
	mtx_unlock(p);
	return 42;
}
static void c11_threads(void)
{
	mtx_t m;
	thrd_t t[2];
	int result = 0, sum = 0;
	mtx_init(&m, mtx_timed);
	for (int i = 0; i < 2; i++)
		thrd_create(&t[i], c11, &m);
	for (int i = 0; i < 2; i++) {
		thrd_join(t[i], &result);
		sum += result;
	}
	mtx_destroy(&m);
	printf("c11 %d %d\n", counter, sum);
}

static void *signaller(void *p)
{
	pthread_kill(*(pthread_t *)p, SIGUSR2);
	return p;
}

int main(int argc, char **argv)
{
	pthread_t self = pthread_self(), t;
	int one = 1, got = 0;
	sigset_t set;
	robust_mutex();
	shared_mutex();
	processes();
	timed_locks();
	pthread_key_create(&key, destroy);
	pthread_create(&t, NULL, with_key, &one);
	pthread_join(t, NULL);
	printf("key %d\n", destroyed);
	c11_threads();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&t, NULL, signaller, &self);
	sigwait(&set, &got);
	pthread_join(t, NULL);
	printf("sigwait %d\n", got == SIGUSR2);
	void *library = dlopen(argv[1], RTLD_NOW);
	void (*touch)(int) = library ? (void (*)(int))dlsym(library, "late_touch") : NULL;
	if (touch)
		touch(3);
	printf("late %d\n", touch != NULL);
	fflush(stdout);
	execl("/bin/echo", "echo", "exec at the end", (char *)NULL);
	return 1;
}
