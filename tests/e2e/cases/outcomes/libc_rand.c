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

//: explore
//= complete no
//~ said rand
//~ outcomes ^(0|1)( (0|1))*$
