/* Either thread may be a barrier's serial one. */
#include "two_threads.h"

static pthread_barrier_t b = { .__size = { [8] = 2 } };
static void one(void)
{
	if (pthread_barrier_wait(&b))
		got = 1;
}
static void two(void)
{
	if (pthread_barrier_wait(&b))
		got = 2;
}
static int result(void) { return got; }

//: explore
//= exit 1
//= errors exit-status=1 exit-status=2
//= states 2
//= complete yes
