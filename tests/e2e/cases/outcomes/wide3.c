#include "sets.h"
static union {
	volatile unsigned short w;
	volatile unsigned char b[2];
} u;
TH(h)
{
	u.b[0] = 1;
	u.b[0] = 2;
	u.b[0] = 3;
	return p;
}
TH(k)
{
	u.b[1] = 1;
	u.b[1] = 2;
	return p;
}
TH(t)
{
	unsigned short v = u.w;
	r = (v & 255) + (v >> 8) * 4;
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
//= outcomes 0 1 10 11 2 3 4 5 6 7 8 9
