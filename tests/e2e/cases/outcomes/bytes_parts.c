#include "sets.h"
static union {
	volatile unsigned short w;
	volatile unsigned char b[2];
} u;
TH(h)
{
	u.b[0] = 1;
	return p;
}
TH(k)
{
	u.b[1] = 2;
	return p;
}
TH(t)
{
	unsigned short v = u.w;
	r = (v & 255) | v >> 8;
	return p;
}
int main(void)
{
	go(h);
	go(k);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1 2 3
