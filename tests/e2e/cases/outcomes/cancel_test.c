#include "sets.h"
TH(h)
{
	x = 1;
	pthread_testcancel();
	x = 2;
	return p;
}
int main(void)
{
	go(h);
	pthread_cancel(T[0]);
	join();
	return x;
}

//: explore
//= complete no
//~ said pthread_cancel
//~ outcomes ^(1|2)( (1|2))*$
