#include "sets.h"
TH(t)
{
	L(m);
	struct timespec at = in(1);
	int e = pthread_cond_timedwait(&c, &m, &at) == 0;
	if (ID == 1)
		a = e;
	else
		b = e;
	U(m);
	return p;
}
TH(sg)
{
	L(m);
	pthread_cond_signal(&c);
	U(m);
	return p;
}
int main(void)
{
	go(t);
	go(t);
	go(sg);
	join();
	return a * 10 + b;
}

//: explore
//= complete yes
//= outcomes 0 1 10
