#include "sets.h"
static pthread_mutex_t l = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
TH(h)
{
	L(l);
	if (pthread_mutex_trylock(&l) != EBUSY)
		abort();
	U(l);
	return p;
}
TH(t)
{
	r = pthread_mutex_trylock(&l) == 0;
	if (r)
		U(l);
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
