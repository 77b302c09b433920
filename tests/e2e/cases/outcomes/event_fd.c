#include "sets.h"
static int fd;
TH(h)
{
	eventfd_write(fd, ID);
	return p;
}
int main(void)
{
	fd = eventfd(0, 0);
	go(h);
	go(h);
	eventfd_t v;
	eventfd_read(fd, &v);
	join();
	return (int)v;
}

//: explore
//= complete yes
//= outcomes 1 2 3
