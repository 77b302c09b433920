#include "sets.h"
static pthread_once_t o = PTHREAD_ONCE_INIT, q = PTHREAD_ONCE_INIT;
static __thread int me;
static void i1(void)
{
	a = me;
}
static void i2(void)
{
	b = me;
}
TH(t)
{
	me = ID;
	pthread_once(&o, i1);
	pthread_once(&q, i2);
	return p;
}
int main(void)
{
	go(t);
	go(t);
	join();
	return a * 10 + b;
}

//: explore
//= complete yes
//= outcomes 11 12 21 22
