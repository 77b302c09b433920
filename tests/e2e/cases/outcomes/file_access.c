#include "sets.h"
static char n[64];
TH(h)
{
	close(open(n, O_CREAT | O_WRONLY, 0600));
	return p;
}
TH(t)
{
	r = access(n, F_OK) == 0;
	return p;
}
int main(void)
{
	snprintf(n, sizeof n, "acc");
	unlink(n);
	go(h);
	go(t);
	join();
	unlink(n);
	return r;
}

//: explore
//= complete no
//~ said making a file that another thread looks for
//~ outcomes ^(0|1)( (0|1))*$
