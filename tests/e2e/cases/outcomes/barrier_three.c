#include "sets.h"
static pthread_barrier_t l;
TH(t)
{
	if (pthread_barrier_wait(&l))
		r = ID;
	return p;
}
int main(void)
{
	pthread_barrier_init(&l, 0, 3);
	go(t);
	go(t);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 1 2 3
