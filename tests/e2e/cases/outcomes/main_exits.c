#include "sets.h"
TH(h)
{
	exit(x);
	return p;
}
TH(o)
{
	x = 1;
	return p;
}
int main(void)
{
	go(h);
	go(o);
	pthread_exit(0);
}

//: explore
//= complete yes
//= outcomes 0 1
