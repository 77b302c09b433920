#include "sets.h"
static char n[64];
TH(h)
{
	int f = open(n, O_RDWR);
	flock(f, LOCK_EX);
	close(f);
	return p;
}
TH(t)
{
	int f = open(n, O_RDWR);
	r = flock(f, LOCK_EX | LOCK_NB) == 0;
	close(f);
	return p;
}
int main(void)
{
	snprintf(n, sizeof n, "lock");
	close(open(n, O_CREAT | O_WRONLY, 0600));
	go(h);
	go(t);
	join();
	unlink(n);
	return r;
}

//: explore
//= complete no
//~ said flock
//~ outcomes ^(0|1)( (0|1))*$
