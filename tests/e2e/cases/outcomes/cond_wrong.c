#include "sets.h"
TH(w1)
{
	L(m);
	while (!a)
		pthread_cond_wait(&c, &m);
	U(m);
	return p;
}
TH(w2)
{
	L(m);
	while (!b)
		pthread_cond_wait(&c, &m);
	U(m);
	return p;
}
TH(s2)
{
	L(m);
	b = 1;
	pthread_cond_signal(&c);
	U(m);
	L(m);
	a = 1;
	pthread_cond_signal(&c);
	U(m);
	return p;
}
int main(void)
{
	go(w1);
	go(w2);
	go(s2);
	join();
	return 0;
}

//: explore
//= complete yes
//= outcomes 0 blocked
