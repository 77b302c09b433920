#include "sets.h"
TH(k1)
{
	kill(getpid(), SIGUSR1);
	return p;
}
TH(t)
{
	sigset_t q;
	sigpending(&q);
	r = sigismember(&q, SIGUSR1);
	return p;
}
int main(void)
{
	sigset_t q;
	sigemptyset(&q);
	sigaddset(&q, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &q, 0);
	go(k1);
	go(t);
	join();
	return r;
}

//: explore
//= complete no
//~ said signal
//~ outcomes ^(0|1)( (0|1))*$
