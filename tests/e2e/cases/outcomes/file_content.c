#include "sets.h"
static int fd;
TH(h)
{
	if (pwrite(fd, "a", 1, 0) != 1)
		abort();
	return p;
}
TH(t)
{
	char ch;
	r = pread(fd, &ch, 1, 0) == 1;
	return p;
}
int main(void)
{
	fd = memfd_create("f", 0);
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete no
//~ said a file that another thread writes
//~ outcomes ^(0|1)( (0|1))*$
