/* An annotation's acquire waits for nothing: t's may come before s's release, and then t sees 0, and its access of x
 * races with s's.  With an argument t waits for s by a look at an atomic, as programs that annotate do. */
#include <pthread.h>
#include <stdatomic.h>
void AnnotateHappensBefore(const char *file, int line, const volatile void *p);
void AnnotateHappensAfter(const char *file, int line, const volatile void *p);
static volatile int x, seen;
static atomic_int ready;
static int waits;
static void *s(void *p)
{
	x = 1;
	AnnotateHappensBefore(__FILE__, __LINE__, &ready);
	atomic_store_explicit(&ready, 1, memory_order_relaxed);
	return p;
}
static void *t(void *p)
{
	while (waits && !atomic_load_explicit(&ready, memory_order_relaxed))
		;
	AnnotateHappensAfter(__FILE__, __LINE__, &ready);
	seen = x;
	return p;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	waits = argc > 1;
	pthread_create(&threads[0], 0, s, 0);
	pthread_create(&threads[1], 0, t, 0);
	pthread_join(threads[0], 0);
	pthread_join(threads[1], 0);
	return seen;
}

//: explore --seed {0,1,2} --format json
//= complete yes
//= outcomes 0 1
//= racy annotated.c:12+annotated.c:22
//: explore --seed {0,1,2} --format json @ waits
//= complete yes
//= outcomes 1
//= racy
