#include "sets.h"
TH(t1)
{
	L(m);
	a = pthread_mutex_trylock(&m2) == 0;
	if (a)
		U(m2);
	U(m);
	return p;
}
TH(t2)
{
	L(m2);
	b = pthread_mutex_trylock(&m) == 0;
	if (b)
		U(m);
	U(m2);
	return p;
}
int main(void)
{
	go(t1);
	go(t2);
	join();
	return a * 10 + b;
}

//: explore
//= complete yes
//= outcomes 0 1 10 11
