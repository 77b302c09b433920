/* Threads that wait for a condition which other processes may share, and a child that waits
 * for it; a thread that sleeps for long meanwhile. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAITERS = 3 };
static struct shared {
	pthread_mutex_t m;
	pthread_cond_t c;
	int waiting, go, left;
} *s;

static void *wait_for_it(void *u)
{
	pthread_mutex_lock(&s->m);
	s->waiting++;
	while (!s->go) pthread_cond_wait(&s->c, &s->m);
	s->left++;
	pthread_mutex_unlock(&s->m);
	return u;
}
static void *give_up(void *u)
{
	sleep(600);
	puts("given up");
	exit(1);
	return u;
}
static void poll(const int *value, int until)
{
	for (int now = 0; now < until; sched_yield()) {
		pthread_mutex_lock(&s->m);
		now = *value;
		pthread_mutex_unlock(&s->m);
	}
}

int main(void)
{
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_t t[WAITERS], limit;
	pid_t child[2];
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&ma), pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&ca), pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->m, &ma), pthread_cond_init(&s->c, &ca);
	pthread_create(&limit, NULL, give_up, NULL);
	for (int round = 0; round < 4; round++) {
		int others = round % 2 ? 2 : 0;
		s->waiting = s->go = s->left = 0;
		for (int i = 0; i < others; i++)
			if ((child[i] = fork()) == 0) {
				usleep(50000);
				wait_for_it(NULL);
				_exit(0);
			}
		for (int i = 0; i < WAITERS; i++) pthread_create(&t[i], NULL, wait_for_it, NULL);
		poll(&s->waiting, WAITERS + others);
		pthread_mutex_lock(&s->m);
		s->go = 1;
		pthread_cond_broadcast(&s->c);
		pthread_mutex_unlock(&s->m);
		poll(&s->left, WAITERS + others);
		for (int i = 0; i < WAITERS; i++) pthread_join(t[i], NULL);
		for (int i = 0; i < others; i++) waitpid(child[i], NULL, 0);
	}
	puts("DONE");
	return 0;
}
