#include "sets.h"
TH(h)
{
	L(m);
	U(m);
	return p;
}
TH(t)
{
	struct timespec at = in(1);
	r = pthread_mutex_clocklock(&m, CLOCK_REALTIME, &at) == 0;
	if (r)
		U(m);
	return p;
}
int main(void)
{
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1
