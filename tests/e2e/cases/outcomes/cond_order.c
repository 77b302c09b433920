#include "sets.h"
TH(w)
{
	L(m);
	while (!y)
		pthread_cond_wait(&c, &m);
	if (!r)
		r = ID;
	U(m);
	return p;
}
int main(void)
{
	go(w);
	go(w);
	L(m);
	y = 1;
	pthread_cond_broadcast(&c);
	U(m);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 1 2
