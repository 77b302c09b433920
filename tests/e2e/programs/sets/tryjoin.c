// outcomes: 0 1
// open: a join that does not wait
#include "sets.h"
TH(h)
{
	return p;
}
int main(void)
{
	go(h);
	r = pthread_tryjoin_np(T[0], 0) == 0;
	if (!r)
		join();
	return r;
}
