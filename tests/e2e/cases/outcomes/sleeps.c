#include "sets.h"
TH(h)
{
	usleep(1000);
	x = 1;
	return p;
}
int main(void)
{
	go(h);
	usleep(2000);
	r = x;
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1
