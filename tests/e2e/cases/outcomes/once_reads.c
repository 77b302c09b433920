#include "sets.h"
static pthread_once_t o = PTHREAD_ONCE_INIT;
static __thread int me;
static void init(void)
{
	r = me * 10 + x;
}
TH(t)
{
	me = ID;
	pthread_once(&o, init);
	return p;
}
TH(wr)
{
	x = 1;
	return p;
}
int main(void)
{
	go(t);
	go(t);
	go(wr);
	join();
	return r;
}

//: explore
//= complete yes
//= outcomes 10 11 20 21
