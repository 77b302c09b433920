/* Whether t's acquire comes before s's release makes no difference to any value, so one run shows all of the program's;
 * but only where it does t's write races with s's. */
#include <pthread.h>
void AnnotateHappensBefore(const char *file, int line, const volatile void *p);
void AnnotateHappensAfter(const char *file, int line, const volatile void *p);
static volatile int x;
static int tag;
static void *s(void *p)
{
	x = 1;
	AnnotateHappensBefore(__FILE__, __LINE__, &tag);
	return p;
}
static void *t(void *p)
{
	AnnotateHappensAfter(__FILE__, __LINE__, &tag);
	x = 2;
	return p;
}
int main(void)
{
	pthread_t threads[2];
	pthread_create(&threads[0], 0, s, 0);
	pthread_create(&threads[1], 0, t, 0);
	pthread_join(threads[0], 0);
	pthread_join(threads[1], 0);
	return 0;
}

//: explore --seed {0,1,2} --format json
//= complete yes
//= racy annotated_race.c:10+annotated_race.c:17
//- said may be missed
