#include "sets.h"
static _Atomic unsigned short f;
TH(h)
{
	atomic_fetch_or(&f, 1);
	return p;
}
TH(t)
{
	r = atomic_fetch_and(&f, 0xfffe);
	return p;
}
int main(void)
{
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 0 1
