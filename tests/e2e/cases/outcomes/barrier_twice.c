#include "sets.h"
static pthread_barrier_t l;
TH(t)
{
	if (pthread_barrier_wait(&l))
		a = ID;
	if (pthread_barrier_wait(&l))
		b = ID;
	return p;
}
int main(void)
{
	pthread_barrier_init(&l, 0, 2);
	go(t);
	go(t);
	join();
	return a * 10 + b;
}

//: explore
//= complete yes
//= outcomes 11 12 21 22
