#include "sets.h"
TH(h)
{
	L(m);
	x = 1;
	U(m);
	return p;
}
TH(t)
{
	if (pthread_mutex_trylock(&m) == 0) {
		r = x;
		U(m);
	} else
		r = 9;
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
//= outcomes 0 1 9
