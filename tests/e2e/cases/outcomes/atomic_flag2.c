#include "sets.h"
static atomic_flag f = ATOMIC_FLAG_INIT;
TH(h)
{
	if (!atomic_flag_test_and_set(&f))
		r = ID;
	return p;
}
int main(void)
{
	go(h);
	go(h);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 1 2
