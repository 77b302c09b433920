#include "sets.h"
static void leave(void)
{
	pthread_exit((void *)(long)x);
}
TH(h)
{
	x = 1;
	leave();
	return p;
}
TH(t)
{
	x = 2;
	return p;
}
int main(void)
{
	void *v;
	go(h);
	go(t);
	pthread_join(T[1], 0);
	pthread_join(T[0], &v);
	return (int)(long)v;
}

//: explore
//= complete yes
//= outcomes 1 2
