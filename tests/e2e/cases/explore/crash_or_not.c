/* The run that crashes cuts the other thread off; both ends are found from each first run. */
#include "two_threads.h"

static void one(void)
{
	if (got == 0)
		abort();
}
static void two(void) { got = 1; }
static int result(void) { return 0; }

//: explore --seed {0,1,2,3}
//= exit 1
//= ends exit signal
//= complete yes
//: explore --until-error
//= executions 2
