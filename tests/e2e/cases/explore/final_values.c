/* Values at the end of a run, which no thread reads. */
#include "two_threads.h"

static volatile int x, y;
static void one(void)
{
	x = 1;
	y = 1;
}
static void two(void)
{
	x = 2;
	y = 2;
}
static int result(void) { return 0; }

//: explore
//= states 1
//: explore --final x
//= states 2
//: explore --final x,y
//= states 4
//: explore --check 'x == y || (x == 2 && y == 1)'
//~ errors ^check@[^ ]*$
//= $d->{errors}[0]{story} x == y || (x == 2 && y == 1) does not hold: x = 1, y = 2
//: explore --check 'x * 2 >= y - 10 && !(x == 3)'
//= errors
//: explore --check 'x = 1'
//= exit 2
//: explore --check 'nobody == 1'
//= complete no
