/* Odd but legal: recursive and error-checking mutexes, time-outs, cancellation in each kind of
 * wait, a handler that posts, children, an end by pthread_exit.  Prints what must come out. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>
#include <signal.h>
#include <errno.h>
#include <semaphore.h>
#include <time.h>
static sem_t s;
static volatile int got;
static void h(int n)
{
	got = n;
	sem_post(&s);
}
static void *sleeper(void *p)
{
	for (;;)
		pause();
	return p;
}
static void *inf(void *p)
{
	pthread_mutex_t *m = p;
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
	for (;;)
		sleep(100);
}
static void clean(void *p)
{
	puts("cleanup");
}
static void *waiter(void *p)
{
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cleanup_push(clean, 0);
	pthread_mutex_lock(&m);
	pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(0);
	return 0;
}
int main(void)
{
	pthread_t a, b, c;
	void *r;
	pthread_mutex_t rec, ec;
	pthread_mutexattr_t at;
	sem_init(&s, 0, 0);
	signal(SIGUSR1, h);
	pthread_mutexattr_init(&at);
	pthread_mutexattr_settype(&at, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&rec, &at);
	pthread_mutexattr_settype(&at, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&ec, &at);
	pthread_mutex_lock(&rec);
	pthread_mutex_lock(&rec);
	pthread_mutex_unlock(&rec);
	pthread_mutex_unlock(&rec);
	pthread_mutex_lock(&ec);
	printf("ec %d\n", pthread_mutex_lock(&ec) == EDEADLK);
	pthread_mutex_unlock(&ec);
	printf("ec2 %d\n", pthread_mutex_unlock(&ec) == EPERM);
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec++;
	printf("sem %d\n", sem_timedwait(&s, &ts) == -1 && errno == ETIMEDOUT);
	pthread_create(&a, 0, sleeper, 0);
	pthread_create(&b, 0, inf, &rec);
	pthread_create(&c, 0, waiter, 0);
	usleep(1000);
	raise(SIGUSR1);
	sem_wait(&s);
	printf("got %d\n", got == SIGUSR1);
	pthread_cancel(a);
	pthread_join(a, &r);
	printf("a %d\n", r == PTHREAD_CANCELED);
	pthread_cancel(b);
	pthread_join(b, &r);
	printf("b %d\n", r == PTHREAD_CANCELED);
	pthread_cancel(c);
	pthread_join(c, &r);
	printf("c %d\n", r == PTHREAD_CANCELED);
	FILE *f = popen("echo child", "r");
	char line[32] = "";
	fgets(line, 32, f);
	pclose(f);
	printf("%s", line);
	printf("sys %d\n", system("exit 3") >> 8);
	fflush(stdout);
	pid_t p = fork();
	if (!p) {
		pthread_mutex_lock(&rec);
		pthread_mutex_unlock(&rec);
		_exit(4);
	}
	printf("nproc %d\n", sysconf(_SC_NPROCESSORS_ONLN) > 1);
	pthread_exit(0);
}
