/* A look at an atomic that orders nothing keeps the search over states from knowing all races; what it takes from the
 * run is then said where another order would change it.  Who runs a once-function is an outcome: another run's. */
#include <pthread.h>
#include <stdatomic.h>
void AnnotateHappensBefore(const char *file, int line, const volatile void *p);
void AnnotateHappensAfter(const char *file, int line, const volatile void *p);
static volatile int x;
static atomic_int look;
static int tag;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void nothing(void)
{
}
static void *s(void *p)
{
	atomic_store_explicit(&look, 0, memory_order_relaxed);
	x = 1;
	if (p)
		AnnotateHappensBefore(__FILE__, __LINE__, &tag);
	else
		pthread_once(&once, nothing);
	return p;
}
static void *t(void *p)
{
	atomic_load_explicit(&look, memory_order_relaxed);
	if (p)
		AnnotateHappensAfter(__FILE__, __LINE__, &tag);
	else
		pthread_once(&once, nothing);
	x = 2;
	return p;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	pthread_create(&threads[0], 0, s, argc > 1 ? argv : 0);
	pthread_create(&threads[1], 0, t, argc > 1 ? argv : 0);
	pthread_join(threads[0], 0);
	pthread_join(threads[1], 0);
	return 0;
}

//: explore --seed {0,1} --format json
//= complete yes
//= racy varied_messages.c:17+varied_messages.c:31
//- said may be missed
//: explore --seed {0,1} --format json @ annotation
//= complete yes
//= racy varied_messages.c:17+varied_messages.c:31
//~ said message ends a wait .* may be missed
