/* Locks of the program's own making that say what they do, and regions that are not to be
 * looked at: a contended one ends, its sections exclude each other, and its misuse is found. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void __tsan_mutex_create(void *, unsigned), __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned), __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
void __tsan_mutex_pre_divert(void *, unsigned), __tsan_mutex_post_divert(void *, unsigned);
void AnnotateRWLockCreate(const char *, int, volatile void *);
void AnnotateRWLockCreateStatic(const char *, int, volatile void *);
void AnnotateRWLockDestroy(const char *, int, volatile void *);
void AnnotateRWLockAcquired(const char *, int, volatile void *, long);
void AnnotateRWLockReleased(const char *, int, volatile void *, long);
void AnnotateIgnoreReadsBegin(const char *, int), AnnotateIgnoreReadsEnd(const char *, int);
void AnnotateIgnoreWritesBegin(const char *, int), AnnotateIgnoreWritesEnd(const char *, int);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int word, asleep;
static int shared, hidden, steps;
static volatile int last;

static void spin(void)
{
	while (__atomic_exchange_n(&word, 1, __ATOMIC_RELAXED))
		;
}
static void spin_unlock(void) { __atomic_store_n(&word, 0, __ATOMIC_RELAXED); }
static void acquired(long writes) { AnnotateRWLockAcquired("", 0, &word, writes); }
static void released(long writes) { AnnotateRWLockReleased("", 0, &word, writes); }

static void *described(void *p)
{
	for (int i = 0; i < 5; i++) {
		__tsan_mutex_pre_lock((void *)&word, 0);
		spin();
		__tsan_mutex_post_lock((void *)&word, 0, 0);
		shared++;
		__tsan_mutex_pre_unlock((void *)&word, 0);
		spin_unlock();
		__tsan_mutex_post_unlock((void *)&word, 0);
	}
	return p;
}
static void *last_of(void *p)
{
	described(p);
	last = 1 + (p != NULL);
	return p;
}
static void *annotated(void *p)
{
	for (int i = 0; i < 3; i++) {
		spin();
		acquired(1);
		shared++;
		released(1);
		spin_unlock();
	}
	return p;
}
/* What orders threads is recorded there, what is accessed is not; regions may be nested. */
static void *ignored(void *p)
{
	AnnotateIgnoreReadsBegin("", 0);
	AnnotateIgnoreWritesBegin("", 0);
	pthread_mutex_lock(&m);
	AnnotateIgnoreReadsEnd("", 0);
	hidden++;
	AnnotateIgnoreWritesEnd("", 0);
	shared++;
	pthread_mutex_unlock(&m);
	AnnotateIgnoreWritesBegin("", 0);
	hidden++;
	AnnotateIgnoreWritesEnd("", 0);
	return p;
}
static void *ignored_spin(void *p)
{
	AnnotateIgnoreReadsBegin("", 0);
	while (__atomic_exchange_n(&word, 1, __ATOMIC_RELAXED))
		;
	AnnotateIgnoreReadsEnd("", 0);
	acquired(1);
	shared++;
	released(1);
	AnnotateIgnoreReadsBegin("", 0);
	spin_unlock();
	AnnotateIgnoreReadsEnd("", 0);
	return p;
}
/* Sleeps in the kernel, outside of the lock's code, and is woken from inside of it. */
static void sleeping_lock(void)
{
	__tsan_mutex_pre_lock((void *)&word, 0);
	int value = 0;
	while (!__atomic_compare_exchange_n(&word, &value, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		__atomic_store_n(&asleep, 1, __ATOMIC_SEQ_CST);
		__tsan_mutex_pre_divert((void *)&word, 0);
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL);
		__tsan_mutex_post_divert((void *)&word, 0);
		value = 0;
	}
	__tsan_mutex_post_lock((void *)&word, 0, 0);
}
static void sleeping_unlock(void)
{
	__tsan_mutex_pre_unlock((void *)&word, 0);
	__atomic_store_n(&word, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&asleep, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
	__tsan_mutex_post_unlock((void *)&word, 0);
}
static void *sleeps(void *p)
{
	for (int i = 0; i < 2; i++) {
		sleeping_lock();
		shared++;
		__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED); /* the other one's turn, perhaps */
		sleeping_unlock();
	}
	return p;
}
static void *takes(void *p)
{
	acquired(1);
	return p;
}
static void *gives(void *p)
{
	released(1);
	return p;
}
static void both(void *(*run)(void *), void *(*other)(void *))
{
	pthread_t t;
	pthread_create(&t, NULL, run, &t);
	if (other)
		other(NULL);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
#define WAY(name) if (strcmp(way, name) == 0)
	WAY("described") both(described, described);
	WAY("sleeps") both(sleeps, sleeps);
	WAY("last") both(last_of, last_of);
	WAY("annotated") both(annotated, annotated);
	WAY("ignored") both(ignored, ignored);
	WAY("ignored-spin") both(ignored_spin, ignored_spin);
	WAY("legal") {
		AnnotateRWLockCreate("", 0, &word);
		acquired(0), acquired(0), released(0), released(0);
		acquired(1), released(1);
		AnnotateRWLockDestroy("", 0, &word);
		acquired(1);
		AnnotateRWLockCreateStatic("", 0, &word); /* in use already */
		released(1);
		acquired(1);
		AnnotateRWLockDestroy("", 0, &word); /* never is */
		released(1);
		enum { REENTRANT = 2 };
		__tsan_mutex_create(&shared, REENTRANT);
		for (int i = 0; i < 2; i++)
			__tsan_mutex_pre_lock(&shared, 0), __tsan_mutex_post_lock(&shared, 0, 0);
		for (int i = 0; i < 2; i++)
			__tsan_mutex_pre_unlock(&shared, 0), __tsan_mutex_post_unlock(&shared, 0);
	}
	WAY("not-held") released(1);
	WAY("twice") acquired(1), acquired(0);
	WAY("read-unlock") acquired(1), released(0);
	WAY("held") acquired(1), both(takes, NULL);
	WAY("other") acquired(1), both(gives, NULL);
	WAY("destroyed") acquired(1), AnnotateRWLockDestroy("", 0, &word);
	printf("%d\n", shared);
	return 0;
}

//: record -q --seed {1,2,3,4,5,6} -o t.hdl @ described
//= exit 0
//~ out ^10$
//: record -q --strategy {pct,noise,first} -o t.hdl @ described
//= exit 0
//: races t.hdl
//= findings 0
//= complete yes
//: record -q --seed {1,2,3,4} -o t.hdl @ last
//: sh set -- $($HEDDLE races t.hdl | awk '/^ +[0-9]/ { print $1 }'); $HEDDLE witness t.hdl $1 $2 -o t.wit > said; $HEDDLE replay -w t.wit --trace t.hdl -- ./own_locks last > replayed
//: explore --format json @ described
//= errors 
//= complete yes
//: record -q --seed {1,2,3,4} -o t.hdl @ sleeps
//= exit 0
//~ out ^4$
//: explore --seed {0,4,5,7} --format json @ sleeps
//= errors 
//= executions 6
//: record -q --mode free -o t.hdl @ described
//~ out ^10$
//: record -q --seed {1,2,3} -o t.hdl @ annotated
//~ out ^6$
//: races t.hdl
//= findings 0
//= complete yes
//: record -q -o t.hdl @ ignored
//~ out ^2$
//: races t.hdl
//= findings 0
//= complete yes
//: record -q --seed {1,2,3} -o t.hdl @ ignored-spin
//~ out ^2$
//: races t.hdl
//= findings 0
//: record -q -o t.hdl @ legal
//= exit 0
//: races t.hdl
//= findings 0
//= complete yes
//: record -q -o t.hdl @ not-held
//: races t.hdl
//= lines unlocks what nobody has locked:36:36
//: record -q -o t.hdl @ twice
//: races t.hdl
//= lines locks what it has locked already:35:35
//: record -q -o t.hdl @ read-unlock
//: races t.hdl
//= lines unlocks for reading what is locked for writing:35:36
//: record -q -o t.hdl @ held
//: races t.hdl
//= lines locks what another thread has locked:35:35
//: record -q -o t.hdl @ other
//: races t.hdl
//= lines unlocks what another thread has locked:35:36
//: record -q -o t.hdl @ destroyed
//: races t.hdl
//= lines destroys what is locked:35:182
