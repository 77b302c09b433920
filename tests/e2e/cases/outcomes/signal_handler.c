#include "sets.h"
static void on(int n)
{
	(void)n;
	y = 1 + x;
}
TH(h)
{
	x = 1;
	return p;
}
int main(void)
{
	signal(SIGUSR1, on);
	go(h);
	pthread_kill(T[0], SIGUSR1);
	join();
	return y;
}

//: explore
//= complete yes
//= outcomes 0 1 2
