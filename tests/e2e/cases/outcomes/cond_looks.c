#include "sets.h"
TH(w)
{
	L(m);
	while (!y) {
		r++;
		pthread_cond_wait(&c, &m);
	}
	U(m);
	return p;
}
TH(s1)
{
	L(m);
	pthread_cond_signal(&c);
	U(m);
	return p;
}
TH(s2)
{
	L(m);
	y = 1;
	pthread_cond_signal(&c);
	U(m);
	return p;
}
int main(void)
{
	go(w);
	go(s1);
	go(s2);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1 2
