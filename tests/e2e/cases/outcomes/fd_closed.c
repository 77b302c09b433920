#include "sets.h"
static int fd;
TH(h)
{
	close(fd);
	return p;
}
TH(t)
{
	r = fcntl(fd, F_GETFD) >= 0;
	return p;
}
int main(void)
{
	fd = open("/dev/null", O_RDONLY);
	go(h);
	go(t);
	join();
	return r;
}

//: explore
//= complete no
//~ said a descriptor that is closed
//~ outcomes ^(0|1)( (0|1))*$
