#include "sets.h"
static pthread_barrier_t l;
static atomic_int mask;
TH(t)
{
	if (pthread_barrier_wait(&l))
		mask |= 1 << (ID - 1);
	return p;
}
int main(void)
{
	pthread_barrier_init(&l, 0, 2);
	go(t);
	go(t);
	go(t);
	go(t);
	join();
	return mask;
}

//: explore
//= complete yes
//= outcomes 10 12 3 5 6 9
