/* Every way to make a process, with another thread at work: the child runs instrumented code, and
 * ends by itself. */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static int stop, handlers;
static char stack[1 << 16] __attribute__((aligned(64)));
extern char **environ;

static void prepare(void) { handlers++; }
static void *work(void *p)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
		usleep(100);
	}
	return p;
}
static int child(void *p)
{
	for (int i = 0; i < 1000; i++)
		__atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	_exit((int)(long)p);
}
static void ended(const char *name, int pid)
{
	int status = -1;
	waitpid(pid, &status, __WALL);
	printf("%s: %d, prepared %d\n", name, WIFEXITED(status) ? WEXITSTATUS(status) : -1, handlers);
	handlers = 0;
}

int main(void)
{
	pthread_t t;
	pid_t pid;
	pthread_atfork(prepare, 0, 0);
	pthread_create(&t, 0, work, 0);
	if ((pid = fork()) == 0)
		child((void *)1);
	ended("fork", pid);
	if ((pid = vfork()) == 0)
		_exit(2);
	ended("vfork", pid);
	if ((pid = _Fork()) == 0)
		child((void *)3);
	ended("_Fork", pid);
	ended("clone", clone(child, stack + sizeof(stack), SIGCHLD, (void *)4));
	ended("clone, sharing", clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)5));
	if ((pid = (pid_t)syscall(SYS_fork)) == 0)
		child((void *)6);
	ended("SYS_fork", pid);
	if ((pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) == 0)
		child((void *)7);
	ended("SYS_clone", pid);
	struct clone_args args = { .exit_signal = SIGCHLD };
	if ((pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args))) == 0)
		child((void *)8);
	ended("SYS_clone3", pid);
	char *sh[] = { "sh", "-c", "exit 9", 0 };
	posix_spawnp(&pid, "sh", 0, 0, sh, environ);
	ended("posix_spawnp", pid);
	printf("system: %d\n", WEXITSTATUS(system("exit 10")));
	FILE *f = popen("exit 11", "r");
	printf("popen: %d\n", WEXITSTATUS(pclose(f)));
	fflush(stdout);
	if ((pid = fork()) == 0) { /* the C library's own fork */
		if (daemon(1, 1) == 0)
			_exit(12);
	}
	ended("daemon", pid);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(t, 0);
	return 0;
}
