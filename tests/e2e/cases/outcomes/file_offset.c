#include "sets.h"
static int fd;
TH(h)
{
	char ch;
	if (read(fd, &ch, 1) == 1 && ID == 1)
		r = ch;
	return p;
}
int main(void)
{
	fd = memfd_create("f", 0);
	if (pwrite(fd, "\0\1", 2, 0) != 2)
		abort();
	go(h);
	go(h);
	join();
	return r;
}

//: explore
//= complete no
//~ said where another thread stopped
//~ outcomes ^(0|1)( (0|1))*$
