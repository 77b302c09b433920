#include "sets.h"
static sem_t e;
TH(po)
{
	sem_post(&e);
	return p;
}
TH(t)
{
	int v;
	sem_getvalue(&e, &v);
	r = v;
	return p;
}
int main(void)
{
	sem_init(&e, 0, 0);
	go(po);
	go(po);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1 2
