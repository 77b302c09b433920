#include "sets.h"
TH(h)
{
	sigset_t q;
	int n;
	sigemptyset(&q);
	sigaddset(&q, SIGUSR1);
	sigaddset(&q, SIGUSR2);
	sigwait(&q, &n);
	r = n;
	return p;
}
TH(k1)
{
	kill(getpid(), SIGUSR1);
	return p;
}
TH(k2)
{
	kill(getpid(), SIGUSR2);
	return p;
}
int main(void)
{
	sigset_t q;
	sigemptyset(&q);
	sigaddset(&q, SIGUSR1);
	sigaddset(&q, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &q, 0);
	go(h);
	go(k1);
	go(k2);
	join();
	return r;
}

//: explore
//= complete no
//~ said signal
//~ outcomes ^(10|12)( (10|12))*$
