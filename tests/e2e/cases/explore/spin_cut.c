/* A thread that waits by looking is cut off, and the report is not complete. */
#include "two_threads.h"

static void one(void)
{
	while (!got)
		;
}
static void two(void) { got = 1; }
static int result(void) { return 0; }

//: explore --steps 30
//~ states ^[0-9]+$
//~ errors ^cut@[^ ]*$
//= complete no
