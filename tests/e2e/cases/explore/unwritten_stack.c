/* A local variable is read, by its own thread and by another, that nothing was written to. (After
 * GenMC's stack-uninit.) */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(int *) place;
static atomic_int done;
static int above;

static void *owner(void *none)
{
	int local;
	place = &local;
	while (!done)
		;
	return none;
}

static void *reader(void *none)
{
	while (place == NULL)
		;
	int *p = place;
	above += *p > 3;
	done = 1;
	return none;
}

int main(void)
{
	pthread_t t1, t2;
	pthread_create(&t1, NULL, owner, NULL);
	pthread_create(&t2, NULL, reader, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}

//: explore {--memory rc11,--memory sc}
//= exit 1
//= errors uninitialised-read@unwritten_stack.c:24
//= complete yes
//~ $d->{errors}[0]{story} to.which.nothing.was.written,.on.a.thread's.stack$
