#include "sets.h"
TH(h)
{
	char n[64];
	snprintf(n, sizeof n, "excl");
	int f = open(n, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (f >= 0)
		r = ID;
	return p;
}
int main(void)
{
	char n[64];
	snprintf(n, sizeof n, "excl");
	unlink(n);
	go(h);
	go(h);
	join();
	unlink(n);
	return r;
}

//: explore
//= complete no
//~ said must not be there yet
//~ outcomes ^(1|2)( (1|2))*$
