// outcomes: 1 2
// open: pthread_cancel
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
