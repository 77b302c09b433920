/* A child process locks a mutex that another thread held at the fork: it waits for ever. Not so one that the thread
 * itself held, and those that nobody held. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER,
                       other = PTHREAD_MUTEX_INITIALIZER, *shared;
static pthread_barrier_t b;
static void *run(void *p)
{
	pthread_mutex_lock(&m);
	pthread_barrier_wait(&b);
	pthread_barrier_wait(&b);
	pthread_mutex_unlock(&m);
	return p;
}
/* Until the child sleeps in a futex, or has ended. */
static void watch(pid_t child)
{
	char name[64], text[64];
	snprintf(name, sizeof name, "/proc/%d/syscall", (int)child);
	for (;;) {
		int f = open(name, O_RDONLY);
		ssize_t n = f < 0 ? 0 : read(f, text, sizeof text - 1);
		close(f);
		text[n > 0 ? n : 0] = 0;
		if (n <= 0 || strncmp(text, "202 ", 4) == 0 || text[0] == '-')
			return;
		usleep(1000);
	}
}
int main(void)
{
	pthread_mutexattr_t a;
	pthread_t t;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutex_init(shared, &a);
	pthread_barrier_init(&b, 0, 2);
	pthread_create(&t, 0, run, 0);
	pthread_barrier_wait(&b);
	pthread_mutex_lock(&own);
	pid_t child = fork();
	if (child == 0) {
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&own);
		pthread_mutex_lock(&own);
		pthread_mutex_lock(shared);
		pthread_mutex_lock(&m);
		_exit(0);
	}
	watch(child);
	kill(child, SIGKILL);
	waitpid(child, 0, 0);
	pthread_mutex_unlock(&own);
	pthread_barrier_wait(&b);
	pthread_join(t, 0);
	return 0;
}
//: record -o t.hdl
//: races t.hdl
//= kinds lock-misuse happened
//= lines made a child process that locks, and waits for ever: another thread held it then, and is not in the child:17:56
