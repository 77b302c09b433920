#include "sets.h"
static atomic_int f;
TH(h)
{
	int o = atomic_exchange(&f, ID);
	if (ID == 1)
		a = o;
	else
		b = o;
	return p;
}
int main(void)
{
	go(h);
	go(h);
	join();
	return a * 10 + b ? (a ? 21 : 12) : 0;
}

//: explore
//= complete yes
//= outcomes 12 21
