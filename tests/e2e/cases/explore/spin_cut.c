/* A thread that waits by looking at memory that is not volatile is cut off: no error of the program, but the report is
 * not complete. */
#include "two_threads.h"

static int plain;
static void one(void)
{
	while (!plain)
		__asm__ volatile("" ::: "memory");
}
static void two(void) { plain = 1; }
static int result(void) { return 0; }

//: explore --steps 30
//~ states ^[0-9]+$
//= errors
//~ ends \bcut\b
//~ said a run was cut: it took too many steps
//= complete no
