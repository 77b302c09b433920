#include "sets.h"
static sem_t e;
TH(po)
{
	sem_post(&e);
	sem_post(&e);
	return p;
}
TH(t)
{
	a = sem_trywait(&e) == 0;
	b = sem_trywait(&e) == 0;
	return p;
}
int main(void)
{
	sem_init(&e, 0, 0);
	go(po);
	go(t);
	join();
	return a * 10 + b;
}

//: explore
//= complete yes
//= outcomes 0 1 10 11
