/* What a forked child brings comes after the fork: a post, bytes of a pipe, its end, memory under a
 * lock, an atomic, a signal of a condition.  What its parent does after the fork does not. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static struct {
	sem_t posted;
	pthread_mutex_t lock;
	pthread_cond_t condition;
	_Atomic int flag;
	int plain;
} *shared;
static volatile int before, after;
static int ends[2], way;
static _Atomic pid_t child;
static int is_plain(void)
{
	pthread_mutex_lock(&shared->lock);
	int is = shared->plain;
	pthread_mutex_unlock(&shared->lock);
	return is;
}
static void *waits(void *p)
{
	char byte;
	switch (way) {
	case 0:
		sem_wait(&shared->posted);
		break;
	case 1:
		if (read(ends[0], &byte, 1) != 1)
			abort();
		break;
	case 2:
		while (!child)
			usleep(1000);
		waitpid(child, NULL, 0);
		break;
	case 3:
		while (!is_plain())
			usleep(1000);
		break;
	case 4:
		while (!shared->flag)
			usleep(1000);
		break;
	default:
		pthread_mutex_lock(&shared->lock);
		while (!shared->plain)
			pthread_cond_wait(&shared->condition, &shared->lock);
		pthread_mutex_unlock(&shared->lock);
	}
	before++;
	after++;
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_mutexattr_t m;
	pthread_condattr_t c;
	way = argc > 1 ? atoi(argv[1]) : 0;
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&shared->posted, 1, 0);
	pthread_mutexattr_init(&m);
	pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->lock, &m);
	pthread_condattr_init(&c);
	pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->condition, &c);
	if (pipe(ends) != 0)
		abort();
	pthread_create(&t, 0, waits, 0);
	before = 1;
	pid_t made = fork();
	if (made == 0) {
		sem_post(&shared->posted);
		if (write(ends[1], "x", 1) != 1)
			abort();
		shared->flag = 1;
		pthread_mutex_lock(&shared->lock);
		shared->plain = 1;
		pthread_cond_broadcast(&shared->condition);
		pthread_mutex_unlock(&shared->lock);
		_exit(0);
	}
	after = 1;
	if (way == 2)
		child = made;
	pthread_join(t, 0);
	if (way != 2)
		waitpid(made, NULL, 0);
	return before - 2;
}

//: record -q -o t0.hdl @ 0
//= exit 0
//: record -q -o t1.hdl @ 1
//= exit 0
//: record -q -o t2.hdl @ 2
//= exit 0
//: record -q -o t3.hdl @ 3
//= exit 0
//: record -q -o t4.hdl @ 4
//= exit 0
//: record -q -o t5.hdl @ 5
//= exit 0
//: races {t0,t1,t3,t4,t5}.hdl
//~ racy ^(child_brings.c:59\+child_brings.c:92|child_brings.c:92\+child_brings.c:59)$
//: races t2.hdl
//= racy 
//: replay --trace t0.hdl @ 0
//= exit 0
