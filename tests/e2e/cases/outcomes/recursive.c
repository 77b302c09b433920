#include "sets.h"
static pthread_mutex_t l = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
TH(h)
{
	L(l);
	L(l);
	x = 1;
	U(l);
	x = 2;
	U(l);
	return p;
}
TH(t)
{
	if (pthread_mutex_trylock(&l) == 0) {
		r = x;
		U(l);
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
//= outcomes 0 2 9
