#include "sets.h"
TH(h)
{
	umask(077);
	return p;
}
TH(t)
{
	r = umask(022) == 077;
	return p;
}
int main(void)
{
	umask(022);
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete no
//~ said umask
//~ outcomes ^(0|1)( (0|1))*$
