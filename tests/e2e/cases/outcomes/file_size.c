#include "sets.h"
static int fd;
TH(h)
{
	if (ftruncate(fd, 9))
		abort();
	return p;
}
TH(t)
{
	struct stat q;
	fstat(fd, &q);
	r = q.st_size == 9;
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
//~ said ftruncate
//~ outcomes ^(0|1)( (0|1))*$
