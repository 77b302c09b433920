#include "sets.h"
static pthread_key_t k;
static void d(void *q)
{
	x = (int)(long)q;
}
TH(h)
{
	pthread_setspecific(k, (void *)1);
	return p;
}
TH(o)
{
	r = x;
	return p;
}
int main(void)
{
	pthread_key_create(&k, d);
	go(h);
	go(o);
	join();
	return r * 10 + x;
}

//: explore
//= complete yes
//= outcomes 1 11
