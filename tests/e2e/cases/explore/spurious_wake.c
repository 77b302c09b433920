/* A wait that stands in `if`: only a spurious wake-up shows it (in a loop: spurious_loop.c). */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, data;
static void *produce(void *p) { pthread_mutex_lock(&m); data = 42; ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }
static void *consume(void *p)
{
	pthread_mutex_lock(&m);
	if (!ready)
		pthread_cond_wait(&c, &m);
	int d = data;
	pthread_mutex_unlock(&m);
	assert(d == 42);
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, produce, 0);
	pthread_create(&b, 0, consume, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}

//: explore
//= exit 0
//= complete yes
//~ said spurious wake-ups, which POSIX allows, are not explored .--spurious 1: one in a run.
//: explore --spurious 1
//= exit 1
//= complete yes
//= errors signal@spurious_wake.c:15
//= $d->{spurious} 1
//: explore --spurious 1 --bound preemptions=1
//= exit 1
//= errors signal@spurious_wake.c:15
//: explore --spurious 101
//= exit 2
//: explore --spurious x
//= exit 2
//: explore --spurious 1 --memory tso
//= exit 2
//: explore --spurious 1 {--symmetry,--spec $root/specs/set.spec}
//= exit 1
//= complete yes
//= errors signal@spurious_wake.c:15
//: check
//= exit 1
//~ $d->{findings}[0]{"spurious-wakeup"} ^T2's.wait.for.c.*ends.without.a.signal$
//= $d->{exploration}{"spurious-wakeup"}?1:0 1
