#include "sets.h"
static pthread_barrier_t l;
TH(t)
{
	pthread_barrier_wait(&l);
	return p;
}
int main(void)
{
	pthread_barrier_init(&l, 0, 2);
	go(t);
	go(t);
	go(t);
	join();
	return 0;
}

//: explore
//= complete yes
//= outcomes blocked
