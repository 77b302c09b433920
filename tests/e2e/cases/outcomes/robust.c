#include "sets.h"
static pthread_mutex_t l;
TH(h)
{
	L(l);
	return p;
}
TH(t)
{
	r = L(l) == EOWNERDEAD;
	if (r)
		pthread_mutex_consistent(&l);
	U(l);
	return p;
}
int main(void)
{
	pthread_mutexattr_t at;
	pthread_mutexattr_init(&at);
	pthread_mutexattr_setrobust(&at, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&l, &at);
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete no
//~ said a robust mutex
//~ outcomes ^(0|1)( (0|1))*$
