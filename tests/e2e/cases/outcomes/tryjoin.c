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

//: explore
//= complete no
//~ said a join that does not wait
//~ outcomes ^(0|1)( (0|1))*$
