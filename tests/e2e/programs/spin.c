/* Eight threads and a lock of the program's own, made of an atomic that they spin on. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static int taken, readers, writers, sum;

static void lock(void)
{
	while (__sync_val_compare_and_swap(&taken, 0, 1) == 1)
		;
}
static void unlock(void)
{
	__sync_fetch_and_sub(&taken, 1);
}

/* Gives way while it holds the inner lock, so that the others spin for it. */
static void enter(int *mine, const int *others)
{
	for (;;) {
		lock();
		if (*others == 0)
			break;
		sched_yield();
		unlock();
	}
	++*mine;
	unlock();
}
static void leave(int *mine)
{
	lock();
	--*mine;
	unlock();
}

static void *run(void *arg)
{
	for (int i = 0; i < 100; i++) {
		enter(&readers, &writers);
		leave(&readers);
		lock();
		sum++;
		unlock();
	}
	for (int i = 0; i < 100; i++) {
		enter(&writers, &readers);
		leave(&writers);
	}
	return arg;
}

int main(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	printf("sum %d\n", sum);
	return 0;
}
