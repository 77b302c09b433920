#include "sets.h"
static sem_t e;
TH(po)
{
	x = 1;
	sem_post(&e);
	return p;
}
TH(t)
{
	struct timespec at = in(1);
	r = sem_timedwait(&e, &at) == 0 ? 2 : x;
	return p;
}
int main(void)
{
	sem_init(&e, 0, 0);
	go(po);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1 2
