#include "sets.h"
TH(h)
{
	if (chdir("/"))
		abort();
	return p;
}
TH(t)
{
	char d[400];
	if (!getcwd(d, sizeof d))
		abort();
	r = d[1] == 0;
	return p;
}
int main(void)
{
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete no
//~ said chdir
//~ outcomes ^(0|1)( (0|1))*$
