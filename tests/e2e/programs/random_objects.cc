/*
 * random_objects.cc LOG PROGRAM...: runs programs that are given as text, one a thread (the first is main's),
 * and logs what each operation returned (random_log.h). random_objects.pl makes them, and has the operations'
 * meaning: two characters each, the second a number or '.'.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include <atomic>
#include <latch>
#include <mutex>

#include "random_log.h"

static pthread_mutex_t mutexes[2]; /* recursive, one that checks errors */
static pthread_mutex_t robust;     /* checks errors, too */
static pthread_barrier_t barrier;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static pthread_key_t key;
static std::once_flag flag;
static pthread_once_t control = PTHREAD_ONCE_INIT;
static thread_local bool ran;
static std::latch latch(2);
static std::atomic<int> x, y;
static const struct timespec far = { 4000000000, 0 };

static int told(int status)
{
	return status == 0           ? '0'
	       : status == EBUSY     ? 'B'
	       : status == EDEADLK   ? 'D'
	       : status == EPERM     ? 'P'
	       : status == ETIMEDOUT ? '1'
	       : status == EOWNERDEAD      ? 'O'
	       : status == ENOTRECOVERABLE ? 'N'
	       : status == EINVAL          ? 'I'
	                             : '?';
}

struct own {
	int number;
	const char *text;
	bool rw, spins; /* it holds them */
};

static int wait_for_condition(bool timed)
{
	pthread_mutex_lock(&guard);
	int status = timed ? pthread_cond_timedwait(&condition, &guard, &far)
	                   : pthread_cond_wait(&condition, &guard);
	pthread_mutex_unlock(&guard);
	return told(status);
}

static int take(bool *held, int status)
{
	*held |= status == 0;
	return told(status);
}

static int leave(bool *held, int (*unlock)(void *), void *object)
{
	if (!*held)
		return 'x';
	*held = false;
	return told(unlock(object));
}

static int unlock_rw(void *p)
{
	return pthread_rwlock_unlock((pthread_rwlock_t *)p);
}
static int unlock_spin(void *p)
{
	return pthread_spin_unlock((pthread_spinlock_t *)p);
}

/* What the operation returns. */
static int run_one(struct own *t, char what, int n)
{
	int status;
	bool here = false;
	switch (what) {
	case 'l':
		return told(pthread_mutex_lock(&mutexes[n]));
	case 't':
		return told(pthread_mutex_trylock(&mutexes[n]));
	case 'u':
		return told(pthread_mutex_unlock(&mutexes[n]));
	case 'T':
		return told(pthread_mutex_timedlock(&mutexes[n], &far));
	case 'm':
		return told(pthread_mutex_lock(&robust));
	case 'n':
		return told(pthread_mutex_trylock(&robust));
	case 'v':
		return told(pthread_mutex_unlock(&robust));
	case 'i':
		return told(pthread_mutex_consistent(&robust));
	case 'b':
		status = pthread_barrier_wait(&barrier);
		return status == PTHREAD_BARRIER_SERIAL_THREAD ? '1' : told(status);
	case 'c':
	case 'C':
		return wait_for_condition(what == 'C');
	case 's':
		return told(pthread_cond_signal(&condition));
	case 'B':
		return told(pthread_cond_broadcast(&condition));
	case 'r':
		return take(&t->rw, pthread_rwlock_rdlock(&rwlock));
	case 'R':
		return take(&t->rw, pthread_rwlock_tryrdlock(&rwlock));
	case 'w':
		return take(&t->rw, pthread_rwlock_wrlock(&rwlock));
	case 'W':
		return take(&t->rw, pthread_rwlock_trywrlock(&rwlock));
	case 'h':
		return take(&t->rw, pthread_rwlock_timedrdlock(&rwlock, &far));
	case 'H':
		return take(&t->rw, pthread_rwlock_timedwrlock(&rwlock, &far));
	case 'e':
		return leave(&t->rw, unlock_rw, &rwlock);
	case 'S':
		return take(&t->spins, pthread_spin_lock(&spin));
	case 'd':
		return take(&t->spins, pthread_spin_trylock(&spin));
	case 'Z':
		return leave(&t->spins, unlock_spin, (void *)&spin);
	case 'p':
		return told(sem_post(&semaphore));
	case 'P':
		return told(sem_wait(&semaphore));
	case 'y':
		return sem_trywait(&semaphore) == 0 ? '0' : 'A';
	case 'Y':
		return sem_timedwait(&semaphore, &far) == 0 ? '0' : '1';
	case 'x':
		x = n;
		return '0';
	case 'X':
		return '0' + x;
	case 'a':
		return '0' + y++;
	case 'k':
		latch.count_down();
		return '0';
	case 'K':
		latch.wait();
		return '0';
	case 'L':
		return '0' + latch.try_wait();
	case 'o':
		std::call_once(flag, [&] { here = true; });
		return '0' + here;
	case 'q':
		ran = false;
		pthread_once(&control, [] { ran = true; });
		return '0' + ran;
	case 'A':
		return '0' + *(volatile int *)&control;
	default: /* 'g' */
		return told(pthread_setspecific(key, t));
	}
}

static void *run(void *p)
{
	struct own *t = (struct own *)p;
	for (const char *at = t->text; at[0] != '\0' && at[0] != '-'; at += 2)
		log_line(t->number, run_one(t, at[0], at[1] - '0'));
	return p;
}

static void at_end(void *p)
{
	log_line(((struct own *)p)->number, '0' + x);
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t kind;
	pthread_t threads[8];
	static struct own owns[8];
	int count = argc - 2;
	log_open(argv[1]);
	log_line(0, '#');
	for (int i = 0; i < 2; i++) {
		pthread_mutexattr_init(&kind);
		pthread_mutexattr_settype(&kind, i == 0 ? PTHREAD_MUTEX_RECURSIVE
		                                        : PTHREAD_MUTEX_ERRORCHECK);
		pthread_mutex_init(&mutexes[i], &kind);
	}
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &kind);
	pthread_barrier_init(&barrier, 0, 3);
	pthread_spin_init(&spin, 0);
	sem_init(&semaphore, 0, 2);
	pthread_key_create(&key, at_end);
	for (int i = 0; i < count; i++)
		owns[i] = { i, argv[i + 2], false, false };
	for (int i = 1; i < count; i++)
		pthread_create(&threads[i], 0, run, &owns[i]);
	run(&owns[0]);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], 0);
	return 0;
}
