/* A signal that a thread sends itself: its handler's accesses are steps of that thread. */
#include "sets.h"
static void on(int n)
{
	(void)n;
	x++;
}
TH(add)
{
	x++;
	return p;
}
int main(int argc, char **argv)
{
	(void)argv;
	signal(SIGUSR1, on);
	go(add);
	if (argc == 1)
		raise(SIGUSR1);
	else
		pthread_kill(pthread_self(), SIGUSR1);
	join();
	return x;
}

//: explore --format json @ {,kill}
//= complete yes
//= outcomes 1 2
//= racy signal_raised.c:10+signal_raised.c:6
