// outcomes: 0 1
// open: rand
#include "sets.h"
TH(h)
{
	int v = rand();
	if (ID == 1)
		a = v;
	else
		b = v;
	return p;
}
int main(void)
{
	go(h);
	go(h);
	join();
	return a < b;
}
