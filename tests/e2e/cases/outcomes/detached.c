#include "sets.h"
static sem_t e;
TH(h)
{
	pthread_detach(pthread_self());
	x = 1;
	sem_post(&e);
	return p;
}
int main(void)
{
	sem_init(&e, 0, 0);
	go(h);
	r = x;
	sem_wait(&e);
	return r * 10 + x;
}

//: explore
//= complete yes
//= outcomes 1 11
