#include "sets.h"
static atomic_int f;
TH(w)
{
	L(m);
	if (!f)
		pthread_cond_wait(&c, &m);
	U(m);
	return p;
}
TH(s2)
{
	f = 1;
	pthread_cond_signal(&c);
	return p;
}
int main(void)
{
	go(w);
	go(s2);
	join();
	return 0;
}

//: explore
//= complete yes
//= outcomes 0 blocked
