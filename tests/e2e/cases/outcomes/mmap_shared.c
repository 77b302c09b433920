#include "sets.h"
static volatile int *q;
TH(h)
{
	*q = 1;
	return p;
}
TH(t)
{
	r = *q;
	return p;
}
int main(void)
{
	q = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1
