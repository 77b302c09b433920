#include "sets.h"
/* The last step before the program ends is a read inside a section that is never left. */
TH(writer)
{
	L(m);
	x++;
	U(m);
	return p;
}
TH(judge)
{
	L(m);
	if (x >= 2)
		exit(3);
	U(m);
	return p;
}
int main(void)
{
	go(writer);
	go(writer);
	go(judge);
	join();
	return 0;
}

//: explore
//= complete yes
//= outcomes 0 3
