/* A semaphore's try: both outcomes. */
#include "two_threads.h"

static sem_t s;
static void one(void)
{
	if (sem_trywait(&s) == 0)
		got = 1;
}
static void two(void) { sem_post(&s); }
static int result(void) { return got != 1; }

//: explore
//= exit 1
//= errors exit-status=1
//= states 2
//= complete yes
